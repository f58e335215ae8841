#pragma once

// What a table's curve is made of, each from the rows and from what was made before it:
//
//     power      what attackers find of planted leaks in these rows
//     start      a mechanism that hides nothing, from which every point is trained
//     training   a model for one budget; where budgets are spread, the last point tells how far
//     audit      what the model of a point costs and gives away
//     redrawn    some columns redrawn from the others, which stay as they are
//     references the table unchanged, one row for everybody, rows drawn independently, columns dropped, noise
//     at a point's distortion

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ppan/table/curve_measure.h"
#include "ppan/table/curve_rows.h"
#include "ppan/table/redrawn_columns.h"

namespace ppan {

/// Who looks on while something is trained.
struct CurveWatch {
  std::vector<Observer> observers{};
  std::function<bool()> stopped{};  ///< Whether the user asked to stop; once true, always.
};

struct CurveStart {
  TableStart game{};         ///< Empty for a codebook and for heads.
  CodebookStart codebook{};  ///< Empty for anything else.
  HeadsLearned heads{};      ///< Of heads.
  double seconds = 0;
};
CurveStart make_start(const CurveRows& rows, const CurveWatch& watch);

/// A point that was trained and not yet attacked.
struct TrainedPoint {
  int number = 1;
  double budget = 0;
  double training_distortion = 0;
  double training_belief = 0;
  TrainSummary training{};
  std::optional<double> held_out_distortion{};  ///< Of the last point, up to which budgets are spread.
  bool went_on = false;  ///< The last point: beyond where training ended, as attackers found something there.
  double seconds = 0;
  std::optional<TableModel> model{};  ///< Always there.
};

/// Whether the budgets of the other points depend on the last one.
bool spread_budgets(const TableCurveOptions& options);

/// `last` is the last point, for the others where budgets are spread; otherwise null. Nothing is returned
/// when the user asked to stop.
std::optional<TrainedPoint> train_curve_point(const CurveRows& rows, const CurveStart& start, int number,
                                              const TrainedPoint* last, const CurveMeasure& measure,
                                              const CurveWatch& watch);

/// What a finished point adds to a trained one.
struct AuditedPoint {
  MeasuredRelease measured{};
  Estimate training_leakage{};
  std::vector<std::string> warnings{};
  double seconds = 0;
};
AuditedPoint audit_curve_point(const TrainedPoint& point, const CurveRows& rows, const CurveMeasure& measure);
TablePoint table_point(const TrainedPoint& trained, const AuditedPoint& audited);

MeasuredRelease measure_constant(const CurveRows& rows, const CurveMeasure& measure);

/// Rows like those of the table, drawn without looking at anybody: heads that forget the row. Heads only.
TableModel independent_model(const CurveRows& rows, const CurveStart& start);
MeasuredRelease measure_independent(const TableModel& model, const CurveMeasure& measure);

/// How many releases with redrawn columns there may be; none where nothing is told.
int redrawn_releases(const CurveRows& rows);
RedrawnColumns find_redrawn(const CurveRows& rows);
/// Nothing if there are not so many; `number` is from 1.
std::optional<TableModel> redrawn_model(const CurveRows& rows, const RedrawnColumns& redrawn, int number);
MeasuredRelease measure_redrawn(const TableModel& model, const CurveMeasure& measure);
/// Which columns it redraws.
std::vector<std::int32_t> redrawn_columns_of(const TableModel& model);

/// Only where the mechanism observes all that it releases, like the following.
MeasuredRelease measure_unchanged(const CurveRows& rows, const CurveMeasure& measure);

/// Series of the noise references in their order: every column by the noise that fits it; in a table of both
/// kinds, each kind of noise by itself as well.
std::vector<std::string> noise_series(const CurveRows& rows);
/// Noise of each kind at this distortion; kinds that cannot cost as much are left out.
std::vector<MeasuredRelease> noise_references(const CurveRows& rows, const CurveMeasure& measure,
                                              double distortion);

/// How many of the columns are dropped, one after the other.
int dropped_references(const CurveRows& rows);
MeasuredRelease dropped_reference(const CurveRows& rows, const CurveMeasure& measure,
                                  std::span<const std::int32_t> gone);

}  // namespace ppan
