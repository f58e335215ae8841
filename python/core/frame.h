#pragma once

// A whole frame as ppan learns from it: numbers as doubles, everything else as codes of levels.

#include <memory>
#include <string>
#include <vector>

#include "arrow_column.h"
#include "ppan/audit/audit_table.h"
#include "ppan/read/job.h"
#include "ppan/read/profile.h"
#include "ppan/trade_off/dataset.h"

namespace ppan {

struct FrameColumn {
  std::string name{};
  ArrowKind kind = ArrowKind::kText;
  std::vector<double> number{};      ///< Numeric: NaN where missing.
  Symbols code{};                    ///< Others: kMissingCode where missing.
  std::vector<std::string> level{};  ///< Others, in order of first appearance.
  std::int64_t missing = 0;
  [[nodiscard]] bool numeric() const { return !number.empty() || (code.empty() && kind != ArrowKind::kText); }
};

struct Frame {
  std::vector<FrameColumn> columns{};
  std::int64_t rows = 0;
  [[nodiscard]] std::vector<std::string> names() const;
};

/// Reads the stream to its end and releases it. Throws Error(kBadInput) for columns of one name, of a type that cannot
/// be used, for infinite numbers.
Frame read_frame(ArrowArrayStream& stream);

/// What a column of the frame seems to be, by the rules for tables of text where its type leaves a choice.
TableProfile profile_of(const Frame& frame);

/// Completes the job: types of columns that it does not name, and, where it names nothing useful, the useful columns:
/// all without another role that are neither identifiers nor the same everywhere.
void complete_job(const Frame& frame, JobFile& job);

/// The frame as open_dataset() would give it.
Dataset dataset_of(const Frame& frame, const JobFile& job);

/// The frame as attackers see it.
AuditTable audit_table_of(const Frame& frame);

}  // namespace ppan
