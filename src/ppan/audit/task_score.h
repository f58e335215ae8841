#pragma once

// What a recipient of a release loses: whoever learns a task from released records is tested on original
// ones (does what was learned hold in the world?) and on released ones (what would a recipient report?).

#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/attack_numbers.h"

namespace ppan {

enum class TaskMetric {
  kAuc,       ///< Two levels: area under the ROC curve.
  kAccuracy,  ///< More levels: share of the records that are right.
  kR2,        ///< Numbers, as encoded: 1 - squared error / variance.
};
std::string_view to_string(TaskMetric metric);

struct TaskScore {
  std::string task{};
  TaskMetric metric = TaskMetric::kAuc;
  Rate original{};  ///< Trained on released records, tested on original ones.
  Rate released{};  ///< Trained and tested on released records.
};

/// By which a task of so many levels is scored, and the score of these answers (log Q for each level).
TaskMetric task_metric(std::int32_t levels);
Rate task_rate(const Matrix<float>& log_probability, const Symbols& truth, std::int32_t levels);

/// "income: AUC 0.912 (0.905 to 0.919), on released rows 0.884". `records`: what rows are called.
std::string task_text(const std::vector<TaskScore>& scores, std::string_view records = "rows");
/// The greatest loss against the unchanged records over the tasks, on original records; 0 without tasks.
double task_loss(const std::vector<TaskScore>& unchanged, const std::vector<TaskScore>& scores);
/// Tasks that a release predicts better on its own records than the unchanged ones do, beyond both intervals.
std::vector<std::string> inflated_tasks(const std::vector<TaskScore>& unchanged,
                                        const std::vector<TaskScore>& scores);
/// What to say of such a task.
std::string inflated_text(const std::string& task, std::string_view records = "rows");

}  // namespace ppan
