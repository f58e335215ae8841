#pragma once

// The main figure: distortion against leakage, one line for each series of the curve, intervals where they
// are known, the optimum and the references.

#include <optional>
#include <string>

#include "ppan/report/curve_file.h"
#include "ppan/report/figure.h"
#include "ppan/report/run_summary.h"

namespace ppan {

/// Series name for people: "ppan/useful-only" becomes "learned, useful data only". Unknown names are kept.
std::string series_title(const std::string& series);
/// What a series is, from its name; `table` decides which learned series is the first and which the second.
SeriesRole series_role(const std::string& series, const CurveTable& table);
/// "lower bound" and the like for the leakages of the whole curve, when all agree; otherwise empty.
std::string common_kind(const CurveTable& table);

/// Moves the rows of the series optimum/OBSERVATION, the known optimum on a fine grid, out of the table.
CurveTable take_optimum(CurveTable& table);

/// The summary gives title and axis labels; an empty one gives plain ones. The key of a point is the number
/// of its row in the table, from 0. The optimum is drawn as a line through the rows of `optimum`, its own
/// fine grid; without them as marks at the distortions measured, because a chord between them would lie above
/// the optimum.
Figure trade_off_figure(const CurveTable& table, const RunSummary& summary, const CurveTable& optimum = {});

/// The task figure: leakage against the score of the first task, learned from released records and tested on
/// original ones, with the intervals of the score. Keys as in trade_off_figure(). Absent where no task was
/// measured.
std::optional<Figure> task_figure(const CurveTable& table, const RunSummary& summary);
/// Whether the row has a score of its own to show: the completed curve has none.
bool has_task_score(const CurveRow& row);

}  // namespace ppan
