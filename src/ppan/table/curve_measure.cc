#include "ppan/table/curve_measure.h"

#include <utility>

#include "ppan/core/random.h"
#include "ppan/table/table_bound.h"

namespace ppan {
namespace {

constexpr std::int64_t kTrainedDraws = 1'000'000;  // numbers of releases of training rows begin here

LeakageOptions leakage_options(const CurveRows& rows, std::vector<AttackPower> power) {
  LeakageOptions options = rows.options.leakage;
  options.seed = rows.seed_of("attack", rows.options.leakage.seed);
  options.known_power = std::move(power);
  return options;
}

}  // namespace

std::vector<AttackPower> measure_power(const CurveRows& rows) {
  LeakageOptions options = leakage_options(rows, {});
  options.measure_power = true;
  options.quick = true;
  options.training_releases = 1;
  const TrainedRows trained{rows.train, [&](std::int64_t) { return rows.useful(rows.train); },
                            rows.train_kept};
  const AuditReport report =
      measure_leakage({.rows = rows.held_out.rows,
                       .schema = rows.schema,
                       .encoding = rows.encoding,
                       .release = [&](std::int64_t) { return rows.useful(rows.held_out.rows); },
                       .kept = rows.held_out.kept,
                       .unit = rows.held_out.unit,
                       .trained = &trained},
                      options);
  std::vector<AttackPower> power;
  for (const AttributeAudit& attribute : report.attributes) {
    if (attribute.power) power.push_back(*attribute.power);
  }
  return power;
}

CurveMeasure::Releases CurveMeasure::releases(const TableModel& model) const {
  return [this, &model](const EncodedRows& rows, std::int64_t number) {
    SeededRandom random =
        SeededRandom(rows_.options.seed).fork("measured-release", static_cast<std::uint64_t>(number));
    return release_all(model, rows, random);
  };
}

AuditReport CurveMeasure::leakage(const CurvePart& part, const Releases& release, LeakageDetail detail,
                                  const TableModel* model) const {
  const TrainedRows trained{rows_.train,
                            [&](std::int64_t number) { return release(rows_.train, number + kTrainedDraws); },
                            rows_.train_kept};
  LeakageInput input{.rows = part.rows,
                     .schema = rows_.schema,
                     .encoding = rows_.encoding,
                     .release = [&](std::int64_t number) { return release(part.rows, number); },
                     .kept = part.kept,
                     .unit = part.unit};
  if (&part == &rows_.held_out) input.trained = &trained;
  if (model != nullptr) {
    input.upper_bounds = [&](const EncodedRows& rows, const AttackTarget& target) {
      return table_upper_bounds(*model, rows, {target.code, target.levels, !target.continuous},
                                {.seed = rows_.seed_of("upper-bound")});
    };
  }
  return measure_leakage(input, leakage_options(rows_, power_), detail);
}

std::vector<TaskScore> CurveMeasure::tasks(
    const std::function<EncodedRows(const EncodedRows&)>& release) const {
  if (rows_.schema.task.empty()) return {};
  return measure_tasks({rows_.train, release(rows_.train), rows_.held_out.rows, release(rows_.held_out.rows)},
                       rows_.schema, rows_.encoding, {.seed = rows_.seed_of("task")});
}

// The release is gone before attackers draw their own: of a wide table each takes as much as everything else.
void CurveMeasure::look_at(const Releases& release, MeasuredRelease& out) const {
  const EncodedRows released = release(rows_.held_out.rows, 0);
  out.change = measure_change(rows_.held_out.rows, released, rows_.encoding);
  out.recipient = rows_.recipient.measure(released);
}

MeasuredRelease CurveMeasure::measure(std::string series, std::string label, const Releases& release) const {
  MeasuredRelease out{std::move(series), std::move(label)};
  look_at(release, out);
  out.audit = leakage(rows_.held_out, release);
  return out;
}

MeasuredRelease CurveMeasure::measure_model(std::string series, std::string label,
                                            const TableModel& model) const {
  MeasuredRelease out{std::move(series), std::move(label)};
  const Releases release = releases(model);
  look_at(release, out);
  out.audit = leakage(rows_.held_out, release, LeakageDetail::kWhole, &model);
  out.upper = out.audit.upper_bound();
  out.task = tasks([&](const EncodedRows& rows) { return release(rows, 0); });
  return out;
}

}  // namespace ppan
