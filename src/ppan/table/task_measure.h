#pragma once

// What a recipient of a released table loses (audit/task_score.h): boosted trees learn the task columns from
// released rows.

#include <cstdint>
#include <vector>

#include "ppan/audit/task_score.h"
#include "ppan/encode/encoder.h"
#include "ppan/read/schema.h"

namespace ppan {

struct TaskOptions {
  int trees = 300;                 ///< At most. At least 1.
  std::int64_t most_rows = 30000;  ///< To learn from, at most. At least 20.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

/// Rows before and after a release, in the same order. The originals hold every modelled column; the task
/// columns are taken from them, the rest from the useful columns of either.
struct TaskRows {
  const EncodedRows& train;
  const EncodedRows& released_train;
  const EncodedRows& test;
  const EncodedRows& released_test;
};

/// A score for each task column of the schema.
std::vector<TaskScore> measure_tasks(const TaskRows& rows, const Schema& schema, const Encoding& encoding,
                                     const TaskOptions& options = {});

}  // namespace ppan
