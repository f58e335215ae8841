#pragma once

// The recipient's loss as columns of curve.csv, for tables and images alike.

#include <array>
#include <string_view>
#include <vector>

#include "ppan/audit/task_score.h"
#include "ppan/report/curve_file.h"

namespace ppan {

/// In the order of the file.
inline constexpr std::array<std::string_view, 7> kTaskColumns{
    curve_column::kTaskMetric,   curve_column::kTaskScore, curve_column::kTaskLow, curve_column::kTaskHigh,
    curve_column::kTaskReleased, curve_column::kTaskLoss,  curve_column::kTasks};

/// The first task in separate columns, all of them as text. `records`: the word for rows.
void set_task(const std::vector<TaskScore>& scores, CurveRow& row, std::string_view records = "rows");
/// The loss against what the unchanged records give, if both were measured.
void set_task_loss(const std::vector<TaskScore>& unchanged, const std::vector<TaskScore>& scores,
                   CurveRow& row);

}  // namespace ppan
