#pragma once

// The records of a job, read and checked.

#include <memory>
#include <string>
#include <vector>

#include "ppan/job/job.h"
#include "ppan/read/table.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// A table, ready to learn from. Copies share the table.
struct Dataset {
  std::shared_ptr<const Table> table{};
  Schema schema{};                     ///< That of the job, in the order of the table's columns.
  std::vector<std::string> names{};    ///< Columns of the table, in its order.
  std::vector<std::string> notices{};  ///< What a user should know before training on it.
  std::string sha256{};                ///< Fingerprint of the bytes it was read from, or of its cells.
};

/// Reads the table that the job names (open/address.h; "-" is standard input) and checks it against the job's
/// roles. Throws Error(kUsage) for a job that does not fit the table or that is about images,
/// Error(kBadInput) listing every problem of a table that cannot be used.
Dataset open_dataset(const JobFile& job);

/// The same for the remaining rows of `source`, whatever table the job names. Reads them once.
Dataset make_dataset(const JobFile& job, RowSource& source);

}  // namespace ppan
