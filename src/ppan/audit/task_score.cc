#include "ppan/audit/task_score.h"

#include <fmt/format.h>

#include <algorithm>

namespace ppan {

std::string_view to_string(TaskMetric metric) {
  switch (metric) {
    case TaskMetric::kAuc:
      return "AUC";
    case TaskMetric::kAccuracy:
      return "accuracy";
    case TaskMetric::kR2:
      return "R2";
  }
  return "unknown";
}

TaskMetric task_metric(std::int32_t levels) {
  return levels == 2 ? TaskMetric::kAuc : TaskMetric::kAccuracy;
}

Rate task_rate(const Matrix<float>& log_probability, const Symbols& truth, std::int32_t levels) {
  return levels == 2 ? area_under_roc(log_probability, truth, levels) : accuracy(log_probability, truth);
}

std::string task_text(const std::vector<TaskScore>& scores, std::string_view records) {
  std::string out;
  for (const TaskScore& score : scores) {
    if (!out.empty()) out += "; ";
    out += fmt::format("{}: {} {:.3f} ({:.3f} to {:.3f}), on released {} {:.3f}", score.task,
                       to_string(score.metric), score.original.value, score.original.interval95.low,
                       score.original.interval95.high, records, score.released.value);
  }
  return out;
}

double task_loss(const std::vector<TaskScore>& unchanged, const std::vector<TaskScore>& scores) {
  double most = 0;
  for (std::size_t i = 0; i < std::min(unchanged.size(), scores.size()); ++i)
    most = std::max(most, unchanged[i].original.value - scores[i].original.value);
  return most;
}

std::vector<std::string> inflated_tasks(const std::vector<TaskScore>& unchanged,
                                        const std::vector<TaskScore>& scores) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < std::min(unchanged.size(), scores.size()); ++i) {
    if (scores[i].released.interval95.low > unchanged[i].original.interval95.high)
      out.push_back(scores[i].task);
  }
  return out;
}

std::string inflated_text(const std::string& task, std::string_view records) {
  return fmt::format(
      "the release predicts '{}' better than the original does; a finding on released {} would be inflated",
      task, records);
}

}  // namespace ppan
