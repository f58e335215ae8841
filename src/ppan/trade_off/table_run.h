#pragma once

// The files of a run on a table: models as their points are finished, and what the report is made from.
// docs/run_directory.md says what each holds.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/game/alpha_prior.h"
#include "ppan/job/job.h"
#include "ppan/model/release_model.h"
#include "ppan/read/table.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/run_summary.h"
#include "ppan/table/table_curve.h"
#include "ppan/trade_off/curve_task.h"
#include "ppan/trade_off/model_names.h"

namespace ppan {

/// Adds privacy.surrogate_slack to every upper bound (audit/surrogate_slack.h).
void add_surrogate_slack(MeasuredRelease& measured, double slack);
void add_surrogate_slack(TableCurveResult& result, double slack);

/// Applies what the job says about a finished curve: slack of a surrogate, warnings about columns.
TableCurveResult finish_table(TableCurveResult result, const JobFile& job);

ReleaseModel point_model(const TablePoint& point, const CurveRun& run);
ReleaseModel end_model(const TableModel& model, const MeasuredRelease& measured, const CurveRun& run);

/// What is known of the hidden columns without a release, as the training adversary counts it: joint entropy
/// of the categories, and that of a standard normal for each number.
AlphaPrior hidden_prior(const Table& table, const Schema& schema, double alpha);
MetricsLine metrics_of(int point, const EpochReport& epoch, const AlphaPrior& prior);

/// metrics.jsonl of finished points, point by point.
std::string metrics_of(const TableCurveResult& result, const AlphaPrior& prior);

CurveTable curve_of(const TableCurveResult& result);
RunSummary make_run_summary(const TableCurveResult& result, const CurveRun& run);
/// Columns with so many grouped levels that less is released, and less is hidden, than the name suggests; a
/// sentence each.
std::vector<std::string> grouped_columns(const TableCurveResult& result);
/// The points as they are compared with a limit.
std::vector<LimitPoint> limit_points(const TableCurveResult& result);

/// What happened to each released column at each point, on the test rows.
RunDetails details_of(const TableCurveResult& result, const Table& table, const CurveRun& run);

/// Writes models, metrics.jsonl, columns.json, summary.json, curve.csv and the report into a directory;
/// returns the path of the report.
std::filesystem::path write_table_run(const std::filesystem::path& directory, const TableCurveResult& result,
                                      const Table& table, const CurveRun& run);

std::unique_ptr<CurveTask> make_table_task(CurveRun run, CurveEvents events);

}  // namespace ppan
