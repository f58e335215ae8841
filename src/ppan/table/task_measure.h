#pragma once

// What a recipient of the release loses: boosted trees learn the task columns from released rows and are
// tested on original rows (does what was learned hold in the world?) and on released rows (what would a
// recipient report?).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/encode/encoder.h"
#include "ppan/read/schema.h"

namespace ppan {

enum class TaskMetric {
  kAuc,       ///< Two levels: area under the ROC curve.
  kAccuracy,  ///< More levels: share of the rows that are right.
  kR2,        ///< Numbers, as encoded: 1 - squared error / variance.
};
std::string_view to_string(TaskMetric metric);

struct TaskScore {
  std::string task{};
  TaskMetric metric = TaskMetric::kAuc;
  Rate original{};  ///< Trained on released rows, tested on original ones.
  Rate released{};  ///< Trained and tested on released rows.
};

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

/// "income: AUC 0.912 (0.905 to 0.919), on released rows 0.884".
std::string task_text(const std::vector<TaskScore>& scores);
/// The greatest loss against the unchanged table over the tasks, on original rows; 0 without tasks.
double task_loss(const std::vector<TaskScore>& unchanged, const std::vector<TaskScore>& scores);
/// Tasks that a release predicts better on its own rows than the unchanged table does, beyond both intervals.
std::vector<std::string> inflated_tasks(const std::vector<TaskScore>& unchanged,
                                        const std::vector<TaskScore>& scores);

}  // namespace ppan
