#include "ppan/trade_off/task_columns.h"

#include <fmt/format.h>

namespace ppan {

void set_task(const std::vector<TaskScore>& scores, CurveRow& row, std::string_view records) {
  if (scores.empty()) return;
  const TaskScore& first = scores.front();
  row.set(curve_column::kTaskMetric, fmt::format("{}: {}", first.task, to_string(first.metric)));
  row.set(curve_column::kTaskScore, first.original.value);
  row.set(curve_column::kTaskLow, first.original.interval95.low);
  row.set(curve_column::kTaskHigh, first.original.interval95.high);
  row.set(curve_column::kTaskReleased, first.released.value);
  row.set(curve_column::kTasks, task_text(scores, records));
}

void set_task_loss(const std::vector<TaskScore>& unchanged, const std::vector<TaskScore>& scores,
                   CurveRow& row) {
  if (!unchanged.empty() && !scores.empty()) row.set(curve_column::kTaskLoss, task_loss(unchanged, scores));
}

}  // namespace ppan
