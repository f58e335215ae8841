#pragma once

// What a release of a table costs and what it gives away, measured on rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/core/estimate.h"
#include "ppan/core/problem.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/model_origin.h"
#include "ppan/read/schema.h"
#include "ppan/read/table.h"

namespace ppan {

/// Distortion of a release: the weighted mean over the released columns of their distortions, so 0 is
/// untouched and about 1 is a table of unrelated values.
struct TableChange {
  double distortion = 0;
  double changed = 0;  ///< Share of all released cells that are not what they were, unweighted.
  std::vector<ColumnChange> columns{};
};

/// Compares a release with the rows it was made from. Numbers are compared as they would be written: decoded,
/// on their grid. A number that appears or disappears costs 1, as much as a number replaced by the mean. What
/// rounding to the grid costs is part of the distortion; a cell that says the original rounded is not
/// changed.
TableChange measure_change(const EncodedRows& original, const EncodedRows& released,
                           const Encoding& encoding);

/// How an audit inside a curve differs from one by itself.
struct LeakageOptions {
  bool quick = false;              ///< Fewer attackers, fewer rows and passes.
  int training_releases = 3;       ///< Releases of each row the attackers learn from. 1 to 100.
  std::int64_t most_rows = 40000;  ///< Rows used, at most. At least 20.
  std::int64_t most_trained_rows =
      30000;                   ///< Rows that trained the mechanism, used to learn from. At least 0.
  bool measure_power = false;  ///< Plant leaks and see what is found of them.
  std::vector<AttackPower> known_power{};  ///< Measured before on the same rows (AuditOptions::known_power).
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

enum class LeakageDetail {
  kNumber,  ///< How much leaks, without the most expensive attackers.
  kWhole,   ///< By all of them, with learning curve, groups, side information and further estimates.
};

/// Rows that trained the mechanism, with releases of them.
struct TrainedRows {
  const EncodedRows& rows;
  std::function<EncodedRows(std::int64_t)> release{};
  std::vector<AuditColumn> kept{};
};

/// What is attacked: `release` releases `rows` once, independently for each number. `rows` holds every
/// modelled column.
struct LeakageInput {
  const EncodedRows& rows;
  const Schema& schema;
  const Encoding& encoding;
  std::function<EncodedRows(std::int64_t)> release{};
  /// Columns that are copied into the release as they are, one value for each row.
  std::vector<AuditColumn> kept{};
  /// Rows of one unit (there is one for each row, or none) stay on one side of the split.
  Units unit{};
  /// Upper bounds for an attribute of some of the rows, where the density of the mechanism is known.
  std::function<std::vector<Estimate>(const EncodedRows&, const AttackTarget&)> upper_bounds{};
  /// Attackers learn from these as well.
  const TrainedRows* trained = nullptr;
};

/// Leakage about the hidden columns of the schema: the audit (audit.h) of a release, cell by cell as its file
/// would have it (Encoder::append_cell). The order of the rows is not attacked. However few rows there are
/// (at least 20), intervals and power say how little they show.
AuditReport measure_leakage(const LeakageInput& input, const LeakageOptions& options,
                            LeakageDetail detail = LeakageDetail::kNumber);

/// Rows `which` of a column that was read as text, as an attacker reads it.
AuditColumn audit_column(const TableColumn& column, std::span<const std::int32_t> which);

/// Rows `which` of `rows`.
EncodedRows take_rows(const EncodedRows& rows, std::span<const std::int32_t> which);

}  // namespace ppan
