#include "ppan/table/curve_pieces.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "ppan/core/random.h"
#include "ppan/model/codebook.h"
#include "ppan/table/table_references.h"

namespace ppan {
namespace {

constexpr double kSpread = 3;        // exponent of the spacing of budgets: denser where little is given up
constexpr double kBeforeEnd = 0.25;  // steps before the end, where a budget still decides what is changed
constexpr double kMostShare = 0.95;  // last budget, as a share of what the constant release costs
constexpr double kLeastEnd = 0.05;   // of the same: budgets are spread at least up to here
// Numbers that would move by less stay as they are: half a year of a column of ages, and no hiding place.
constexpr double kKeepWithin = 0.05;
constexpr double kOverspent = 0.02;  // of a budget, that is not worth giving back
// Of the distortion a reference was meant to have: calibration on other draws misses it by a few per cent.
constexpr double kReachedShare = 0.85;
constexpr int kEndSteps = 4;          // in which the last point goes on to independent rows, where it must
constexpr double kEndDeviations = 1;  // of what attackers find, that are taken for chance
constexpr double kNormal95 = 1.96;
constexpr std::size_t kMostDropped = 6;
constexpr std::int64_t kCalibrationRows = 5000;
constexpr double kLeakageSpread = 2;  // exponent of the spacing of a codebook's leakages: denser near 0

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Budgets of the points before the last, between what rounding to the grids costs and `end`, where training
// found nothing left to hide. Where the last point went on beyond `end`, that is where the point before it
// ends; otherwise it would be a second one there.
std::vector<double> budgets_up_to(int points, double least, double end, bool went_on) {
  std::vector<double> budgets;
  const double steps = points + (went_on ? kBeforeEnd : 1);
  for (int i = 1; i <= points; ++i) {
    budgets.push_back(least + (end - least) * std::pow(static_cast<double>(i) / steps, kSpread));
  }
  return budgets;
}

// Leakages between `least` and `most`, falling; half a step inside both ends.
std::vector<double> spread_leakages(int points, double least, double most) {
  std::vector<double> leakages;
  for (int i = 0; i < points; ++i) {
    const double share = std::pow((points - i - 0.5) / points, kLeakageSpread);
    leakages.push_back(least + share * std::max(0.0, most - least));
  }
  return leakages;
}

double budget_of(const CurveRows& rows, int number, const TrainedPoint* last) {
  std::vector<double> budgets = rows.options.budgets;
  if (spread_budgets(rows.options)) {
    const int planned = planned_points(rows.options);
    // It may spend almost everything and stops where nothing is left to hide.
    if (number == planned) return kMostShare * rows.most_distortion;
    budgets = budgets_up_to(
        planned - 1, rows.grid_cost,
        std::clamp(last->held_out_distortion.value(), kLeastEnd * rows.most_distortion, last->budget),
        last->went_on);
  }
  std::sort(budgets.begin(), budgets.end());
  return budgets.at(static_cast<std::size_t>(number) - 1);
}

// Of points of falling leakage.
double leakage_of(const CurveRows& rows, int number, const CodebookStart& start) {
  std::vector<double> leakages = rows.options.leakages;
  if (leakages.empty())
    leakages = spread_leakages(planned_points(rows.options), start.kept_leakage, start.leakage);
  std::sort(leakages.rbegin(), leakages.rend());
  return leakages.at(static_cast<std::size_t>(number) - 1);
}

// What one training for a budget gives.
struct TrainedPart {
  TableComponent component{};
  double belief = 0;
  TrainSummary summary{};
};

TrainedPart train_part(const CurveRows& rows, const CurveStart& start, double budget, std::uint64_t seed,
                       const CurveWatch& watch) {
  TrainedPart out;
  if (rows.heads()) {
    TrainedHeads trained = train_heads(start_heads(rows.heads_fit, rows.heads_train, start.heads), budget,
                                       rows.options.heads, seed, watch.observers);
    out.component.kind = ComponentKind::kHeads;
    out.component.heads = std::make_shared<const Heads>(std::move(trained.heads));
    out.belief = trained.belief;
    out.summary = std::move(trained.summary);
    return out;
  }
  TrainedMechanism trained =
      train_point(*rows.game, start.game, budget, rows.options.training, seed, watch.observers);
  out.component.kind = ComponentKind::kTrained;
  out.component.mechanism = trained.mechanism;
  out.component.parameters = std::move(trained.parameters);
  if (trained.mechanism.kind == MechanismKind::kNoiseInput) out.component.keep_within = kKeepWithin;
  out.belief = trained.belief;
  out.summary = std::move(trained.summary);
  return out;
}

double spent_on(const CurvePart& part, const TableModel& model, const CurveRows& rows,
                const CurveMeasure& measure) {
  return measure_change(part.rows, measure.releases(model)(part.rows, 0), rows.encoding).distortion;
}

// Where little may change, training cannot hit the budget: a number either stays on its grid or moves by a
// whole step. What was spent too much on training rows is given back by leaving some rows as they are, by a
// hidden coin, which by convexity leaks no more than the straight line to "unchanged".
void hold_to_budget(TrainedPoint& point, const CurveRows& rows, const CurveMeasure& measure) {
  if (!rows.observes_useful()) return;
  const double spent = spent_on(rows.train_sample(), *point.model, rows, measure);
  if (spent <= point.budget * (1 + kOverspent) || spent <= rows.grid_cost) return;
  const double share = std::clamp((point.budget - rows.grid_cost) / (spent - rows.grid_cost), 0.0, 1.0);
  point.model = mix(*point.model, unchanged_model(rows.schema, rows.encoding), 1 - share);
}

// Leakage of validation rows, and what is spent above the budget at the rate of the straight line to the
// constant.
double loss_of(const TableModel& model, double budget, const CurveRows& rows, const CurveMeasure& measure) {
  const double spent = spent_on(rows.validation, model, rows, measure);
  const AuditReport found = measure.leakage(rows.validation, measure.releases(model));
  return found.leakage().nats + found.entropy() / rows.most_distortion * std::max(0.0, spent - budget);
}

bool train_game(const CurveRows& rows, const CurveStart& start, const CurveMeasure& measure,
                const CurveWatch& watch, TrainedPoint& out) {
  const TableTrainingOptions& training = rows.options.training;
  double best = 0;
  for (int restart = 0; restart < training.restarts; ++restart) {
    const auto stream = static_cast<std::uint64_t>(out.number) * 1000 + static_cast<std::uint64_t>(restart);
    TrainedPart trained = train_part(rows, start, std::max(0.0, out.budget - rows.grid_cost),
                                     rows.seed_of("point", stream), watch);
    if (watch.stopped && watch.stopped()) return false;
    trained.component.label = fmt::format("point {}", out.number);
    TableModel model(rows.schema, rows.encoding, {std::move(trained.component)});
    if (training.restarts > 1) {
      const double loss = loss_of(model, out.budget, rows, measure);
      if (out.model && loss >= best) continue;
      best = loss;
    }
    out.model = std::move(model);
    out.training = std::move(trained.summary);
    out.training_belief = trained.belief;
  }
  hold_to_budget(out, rows, measure);
  return true;
}

// The last point is an end. On few rows the adversary of the game misses what fresh attackers find; as long
// as they find more in the releases of training rows than in a row that is the same for everybody, more of
// the heads, those that told most first, draw without looking at the row. With all of them nothing is left to
// find. What was trained is then no point of the curve; the one before takes its place (budgets_up_to()).
void reach_the_end(TrainedPoint& point, const CurveRows& rows, const CurveMeasure& measure) {
  const TableComponent trained = point.model->components().front();
  if (point.model->components().size() != 1 || trained.kind != ComponentKind::kHeads) return;
  const CurvePart sample = rows.train_sample();
  const auto found = [&](const TableModel& model) {
    return measure.leakage(sample, measure.releases(model)).leakage();
  };
  const double least = found(*rows.constant).nats;
  const auto seen = [&](const Estimate& estimate) {
    const double half = estimate.interval95 ? (estimate.interval95->high - estimate.interval95->low) / 2 : 0;
    return estimate.nats - least > kEndDeviations / kNormal95 * half;
  };
  const Index features = codebook_features(point.model->observed_layout(), trained.heads->observed);
  const std::size_t heads = trained.heads->heads.size();
  for (int step = 1; step <= kEndSteps && seen(found(*point.model)); ++step) {
    const std::size_t count = (heads * static_cast<std::size_t>(step) + kEndSteps - 1) / kEndSteps;
    TableComponent component = trained;
    component.heads = std::make_shared<const Heads>(with_forgotten(*trained.heads, count, features));
    point.model = TableModel(rows.schema, rows.encoding, {std::move(component)});
    point.budget = std::max(point.budget, spent_on(sample, *point.model, rows, measure));
    point.went_on = true;
  }
}

bool train_codebook_point(const CurveRows& rows, const CurveStart& start, const CurveMeasure& measure,
                          const CurveWatch& watch, TrainedPoint& out) {
  TrainedCodebook trained =
      train_codebook(rows.codebook_train, rows.codebook_held_out, start.codebook,
                     leakage_of(rows, out.number, start.codebook), rows.options.codebook,
                     rows.seed_of("point", static_cast<std::uint64_t>(out.number) * 1000), watch.observers);
  if (watch.stopped && watch.stopped()) return false;
  TableComponent component;
  component.kind = ComponentKind::kCodebook;
  component.label = fmt::format("point {}", out.number);
  component.codebook = std::make_shared<const Codebook>(finish_codebook(
      trained, rows.train, rows.codebook_train, rows.codebook_shape, rows.encoding, rows.options.codebook));
  out.model = TableModel(rows.schema, rows.encoding, {std::move(component)});
  out.training = std::move(trained.summary);
  out.training_belief = trained.belief;
  // It was steered by leakage; what it may change is what it changes.
  out.budget = spent_on(rows.train_sample(), *out.model, rows, measure);
  return true;
}

struct NoiseKindOf {
  const char* series;
  NoisyColumns noisy;
};
std::vector<NoiseKindOf> noise_kinds(const CurveRows& rows) {
  const std::vector<std::int32_t> columns = rows.encoding.indices_of(rows.schema.useful);
  const auto numbers = std::count_if(columns.begin(), columns.end(), [&](std::int32_t column) {
    return rows.encoding.columns[static_cast<std::size_t>(column)].numeric();
  });
  std::vector<NoiseKindOf> out{{"reference/noise", NoisyColumns::kEvery}};
  if (numbers > 0 && numbers < static_cast<std::ptrdiff_t>(columns.size())) {
    out.push_back({"reference/randomized-response", NoisyColumns::kCategories});
    out.push_back({"reference/gaussian-noise", NoisyColumns::kNumbers});
  }
  return out;
}

// Nothing if this noise cannot cost as much: then there is nothing to compare at that distortion.
std::optional<MeasuredRelease> noise_reference(const NoiseKindOf& kind, const CurveRows& rows,
                                               const CurveMeasure& measure, double distortion) {
  const std::vector<std::int32_t> columns = rows.encoding.indices_of(rows.schema.useful);
  std::vector<std::int32_t> first(
      static_cast<std::size_t>(std::min(rows.held_out.rows.rows, kCalibrationRows)));
  std::iota(first.begin(), first.end(), 0);
  const EncodedRows some = take_rows(rows.held_out.rows, first);
  const double strength =
      noise_strength(some, columns, rows.encoding, distortion, rows.seed_of("calibration"), kind.noisy);
  const auto release = [&](const EncodedRows& from, std::int64_t number) {
    SeededRandom random = SeededRandom(rows.options.seed).fork("noise", static_cast<std::uint64_t>(number));
    return add_noise(from, columns, rows.encoding, strength, random, kind.noisy);
  };
  const double reached =
      measure_change(rows.held_out.rows, release(rows.held_out.rows, 0), rows.encoding).distortion;
  if (reached < kReachedShare * distortion) return std::nullopt;
  MeasuredRelease out =
      measure.measure(kind.series, fmt::format("noise of strength {:.3g}", strength), release);
  out.budget = distortion;
  out.task = measure.tasks([&](const EncodedRows& from) { return release(from, 0); });
  return out;
}

}  // namespace

CurveStart make_start(const CurveRows& rows, const CurveWatch& watch) {
  const auto begin = Clock::now();
  CurveStart out;
  if (rows.codebook()) {
    out.codebook = train_codebook_start(rows.codebook_train, rows.codebook_held_out, rows.codebook_shape,
                                        rows.options.codebook, rows.seed_of("start"), watch.observers);
  } else if (rows.heads()) {
    out.heads = learn_heads(rows.heads_fit, rows.heads_train, rows.options.heads, rows.seed_of("start"));
  } else {
    out.game = train_start(*rows.game, rows.options.training, rows.seed_of("start"), watch.observers);
  }
  out.seconds = seconds_since(begin);
  return out;
}

bool spread_budgets(const TableCurveOptions& options) {
  return options.training.family != MechanismFamily::kCodebook && options.budgets.empty();
}

std::optional<TrainedPoint> train_curve_point(const CurveRows& rows, const CurveStart& start, int number,
                                              const TrainedPoint* last, const CurveMeasure& measure,
                                              const CurveWatch& watch) {
  const auto begin = Clock::now();
  TrainedPoint out{.number = number};
  if (rows.codebook()) {
    if (!train_codebook_point(rows, start, measure, watch, out)) return std::nullopt;
  } else {
    out.budget = budget_of(rows, number, last);
    if (!train_game(rows, start, measure, watch, out)) return std::nullopt;
    if (spread_budgets(rows.options) && number == planned_points(rows.options)) {
      out.held_out_distortion = spent_on(rows.held_out, *out.model, rows, measure);
      reach_the_end(out, rows, measure);
    }
  }
  if (!out.training.epochs.empty()) out.training_distortion = out.training.epochs.back().mean.distortion;
  out.seconds = seconds_since(begin);
  return out;
}

AuditedPoint audit_curve_point(const TrainedPoint& point, const CurveRows& rows,
                               const CurveMeasure& measure) {
  const auto begin = Clock::now();
  AuditedPoint out;
  out.measured = measure.measure_model("ppan/table", fmt::format("point {}", point.number), *point.model);
  out.measured.budget = point.budget;
  out.training_leakage = measure.leakage(rows.train_sample(), measure.releases(*point.model)).leakage();
  out.warnings = point_warnings(table_point(point, out));
  out.seconds = seconds_since(begin);
  return out;
}

TablePoint table_point(const TrainedPoint& trained, const AuditedPoint& audited) {
  return {.number = trained.number,
          .budget = trained.budget,
          .measured = audited.measured,
          .training_distortion = trained.training_distortion,
          .training_leakage = audited.training_leakage,
          .training_belief = trained.training_belief,
          .dominated = false,
          .training = trained.training,
          .warnings = audited.warnings,
          .seconds = trained.seconds + audited.seconds,
          .model = trained.model};
}

MeasuredRelease measure_constant(const CurveRows& rows, const CurveMeasure& measure) {
  return measure.measure_model("reference/constant", "the same row for everybody", *rows.constant);
}

TableModel independent_model(const CurveRows& rows, const CurveStart& start) {
  const HeadsStart heads = start_heads(rows.heads_fit, rows.heads_train, start.heads);
  TableComponent component;
  component.kind = ComponentKind::kHeads;
  component.label = "independent";
  component.heads = std::make_shared<const Heads>(with_forgotten(
      first_heads(heads, rows.options.heads), heads.fit.heads.size(), heads.rows.features.cols()));
  return {rows.schema, rows.encoding, {std::move(component)}};
}

MeasuredRelease measure_independent(const TableModel& model, const CurveMeasure& measure) {
  MeasuredRelease out =
      measure.measure_model("reference/independent", "rows drawn without looking at anybody", model);
  if (!model.schema().kept_columns().empty()) return out;
  // What attackers seem to find in rows that are independent of everybody is chance.
  const auto nothing = [](Estimate& estimate) {
    estimate.nats = 0;
    estimate.interval95 = Interval{0, 0};
    estimate.method = "rows are drawn without looking at the record";
  };
  for (AttributeAudit& attribute : out.audit.attributes) nothing(attribute.leakage);
  if (out.audit.joint) nothing(out.audit.joint->leakage);
  return out;
}

int redrawn_releases(const CurveRows& rows) {
  if (!rows.heads()) return 0;
  return std::min(rows.options.redrawn, static_cast<int>(rows.redrawn_fit().heads.size()) - 1);
}

RedrawnColumns find_redrawn(const CurveRows& rows) {
  const auto most = static_cast<std::size_t>(rows.options.redrawn);
  HeadsRows single;
  if (rows.single_heads) single = heads_rows(rows.train, rows.schema, rows.encoding, rows.redrawn_fit());
  return find_redrawn(rows.redrawn_fit(), rows.single_heads ? single : rows.heads_train, rows.options.heads,
                      most, rows.seed_of("redrawn"));
}

std::optional<TableModel> redrawn_model(const CurveRows& rows, const RedrawnColumns& redrawn, int number) {
  const auto index = static_cast<std::size_t>(number) - 1;
  if (index >= redrawn.counts.size()) return std::nullopt;
  const Index features = rows.heads_train.features.cols();
  TableComponent component;
  component.kind = ComponentKind::kHeads;
  component.heads =
      std::make_shared<const Heads>(redrawn_heads(rows.redrawn_fit(), redrawn, index, features));
  std::vector<std::string> names;
  for (const std::int32_t column : redrawn_columns_of(*component.heads, rows.encoding,
                                                      rows.encoding.indices_of(rows.schema.useful), features))
    names.push_back(rows.encoding.columns[static_cast<std::size_t>(column)].name);
  component.label = fmt::format("{} redrawn", fmt::join(names, ", "));
  return TableModel(rows.schema, rows.encoding, {std::move(component)});
}

MeasuredRelease measure_redrawn(const TableModel& model, const CurveMeasure& measure) {
  return measure.measure_model("ppan/redrawn", model.components().front().label, model);
}

std::vector<std::int32_t> redrawn_columns_of(const TableModel& model) {
  const Heads& heads = *model.components().front().heads;
  return redrawn_columns_of(heads, model.encoding(), model.released(),
                            codebook_features(model.observed_layout(), heads.observed));
}

MeasuredRelease measure_unchanged(const CurveRows& rows, const CurveMeasure& measure) {
  return measure.measure_model("reference/unchanged", "as it is",
                               unchanged_model(rows.schema, rows.encoding));
}

std::vector<std::string> noise_series(const CurveRows& rows) {
  std::vector<std::string> out;
  for (const NoiseKindOf& kind : noise_kinds(rows)) out.emplace_back(kind.series);
  return out;
}

std::vector<MeasuredRelease> noise_references(const CurveRows& rows, const CurveMeasure& measure,
                                              double distortion) {
  std::vector<MeasuredRelease> out;
  for (const NoiseKindOf& kind : noise_kinds(rows)) {
    if (auto found = noise_reference(kind, rows, measure, distortion)) out.push_back(std::move(*found));
  }
  return out;
}

int dropped_references(const CurveRows& rows) {
  return static_cast<int>(std::min(rows.schema.useful.size() - 1, kMostDropped));
}

MeasuredRelease dropped_reference(const CurveRows& rows, const CurveMeasure& measure,
                                  std::span<const std::int32_t> gone) {
  const std::vector<std::int32_t> columns = rows.encoding.indices_of(rows.schema.useful);
  std::vector<std::string> names;
  for (const std::int32_t column : gone)
    names.push_back(rows.encoding.columns[static_cast<std::size_t>(column)].name);
  const auto release = [&](const EncodedRows& from) {
    return drop_columns(from, columns, gone, rows.encoding);
  };
  MeasuredRelease out =
      measure.measure("reference/dropped", fmt::format("without {}", fmt::join(names, ", ")),
                      [&](const EncodedRows& from, std::int64_t) { return release(from); });
  out.task = measure.tasks(release);
  return out;
}

}  // namespace ppan
