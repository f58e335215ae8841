#include "ppan/table/table_curve.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ppan/core/error.h"
#include "ppan/core/thresholds.h"
#include "ppan/engine/engine.h"
#include "ppan/table/table_domain.h"

namespace ppan {
namespace {

// The leakage that attackers found who learned from held-out rows alone.
double found_without_training_rows(const AuditReport& audit) {
  double most = 0;
  bool any = false;
  for (const AttackerScore& score : audit.attributes.front().attackers) {
    if (score.name.find("held-out rows only") == std::string::npos) continue;
    most = std::max(most, score.leakage.interval95->low);
    any = true;
  }
  return any ? most : audit.leakage().interval95->low;
}

}  // namespace

Problems TableCurveOptions::check() const {
  ProblemList list;
  list.require_between("points", points, 1, 200);
  list.require(budgets.size() <= 200, "budgets", "must be at most 200");
  for (const double budget : budgets) list.require_at_least("budgets", budget, 0);
  list.add("training", training.check());
  list.add("codebook", codebook.check());
  list.add("heads", heads.check());
  const bool by_leakage = training.family == MechanismFamily::kCodebook;
  list.require(by_leakage ? budgets.empty() : leakages.empty(), by_leakage ? "budgets" : "leakages",
               "belong to another family of mechanisms");
  list.require(leakages.size() <= 200, "leakages", "must be at most 200");
  for (const double each : leakages) list.require_at_least("leakages", each, 0);
  list.require_between("redrawn", redrawn, 0, 12);
  list.require_between("validation", validation, 0, 0.5);
  list.require_between("test", test, 0.01, 0.8);
  list.require(validation + test < 1, "test", "leaves no rows to train on");
  list.require(training.restarts == 1 || validation > 0, "validation",
               "must be above 0 to choose between restarts");
  list.add("leakage", leakage.check());
  list.require_at_least("threads", threads, 0);
  return list.take();
}

std::vector<HullPoint> TableCurveResult::hull_points() const {
  std::vector<HullPoint> out;
  const auto add = [&](const MeasuredRelease& release) {
    out.push_back({release.change.distortion, release.audit.leakage().nats});
  };
  if (unchanged) add(*unchanged);
  for (const TablePoint& point : points) add(point.measured);
  for (const RedrawnRelease& release : redrawn) add(release.measured);
  if (end()) add(*end());
  return out;
}

TableModel TableCurveResult::model_of(std::size_t index) const {
  if (unchanged) {
    if (index == 0) return unchanged_model(schema, encoding);
    --index;
  }
  if (index < points.size()) return points[index].model.value();
  index -= points.size();
  if (index < redrawn.size()) return redrawn[index].model.value();
  if (index == redrawn.size() && end()) return (independent ? independent_model : constant_model).value();
  throw Error(ErrorCode::kInternal, fmt::format("the curve has no point of index {}", index));
}

TableModel TableCurveResult::model_of(const HullMixture& mixture) const {
  if (mixture.second_weight == 0) return model_of(mixture.first);
  return mix(model_of(mixture.first), model_of(mixture.second), mixture.second_weight);
}

std::vector<std::string> point_warnings(const TablePoint& point) {
  std::vector<std::string> out;
  if (point.training.stop == Stop::kDiverged)
    out.push_back(fmt::format("point {}: {}", point.number, point.training.message));
  // By attackers with as many rows to learn from on both sides, and by more than both intervals leave open.
  const double found = found_without_training_rows(point.measured.audit);
  const double training = point.training_leakage.interval95 ? point.training_leakage.interval95->high
                                                            : point.training_leakage.nats;
  if (found - training > kNoticeableNats) {
    out.push_back(
        fmt::format("point {}: held-out rows leak at least {:.3f} nats, training rows at most {:.3f}: the "
                    "mechanism overfits "
                    "its training rows; use more rows or fewer epochs",
                    point.number, found, training));
  }
  if (point.measured.audit.inconclusive()) {
    out.push_back(
        fmt::format("point {}: attackers were still getting stronger with more rows, so more may leak than "
                    "they found; use "
                    "more rows",
                    point.number));
  }
  const double spent = point.measured.change.distortion;
  if (misses_budget(spent, point.budget)) {
    out.push_back(fmt::format("point {}: the distortion {:.4f} is above its budget {:.4f}", point.number,
                              spent, point.budget));
  }
  return out;
}

int planned_points(const TableCurveOptions& options) {
  const std::vector<double>& given =
      options.training.family == MechanismFamily::kCodebook ? options.leakages : options.budgets;
  return given.empty() ? options.points : static_cast<int>(given.size());
}

TableCurveResult table_curve(const Table& table, const Schema& schema, const EncodingOptions& encoding,
                             const TableCurveOptions& options, const TableCurveHooks& hooks) {
  if (hooks.phase) hooks.phase("encoding");
  TableDomain domain(std::make_shared<const CurveRows>(make_curve_rows(table, schema, encoding, options)),
                     hooks);
  return domain.finish(make_pieces(domain, nullptr, {options.threads, {}, hooks.interrupted}).pieces);
}

}  // namespace ppan
