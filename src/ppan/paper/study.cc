#include "ppan/paper/study.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "ppan/paper/settings.h"
#include "ppan/report/claims.h"
#include "ppan/report/trade_off.h"
#include "ppan/trade_off/training_record.h"

namespace ppan {
namespace {

// Fine enough that a chord is nowhere seen.
constexpr int kOptimumResolution = 201;

ExperimentOptions options_of(const StudyOptions& study, Index train_records, int seed) {
  ExperimentOptions options = study.experiment;
  if (train_records > 0) options.change.train_records = train_records;
  options.seed += static_cast<std::uint64_t>(seed);
  return options;
}

std::vector<Index> sizes_of(const StudyOptions& study) {
  return study.train_sizes.empty() ? std::vector<Index>{0} : study.train_sizes;
}

struct MeanSpread {
  double mean = 0;
  double spread = 0;  ///< Standard deviation; 0 with one value.
};

MeanSpread mean_spread(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  MeanSpread m;
  for (const double v : values) m.mean += v / n;
  double square = 0;
  for (const double v : values) square += (v - m.mean) * (v - m.mean);
  if (values.size() > 1) m.spread = std::sqrt(square / (n - 1));
  return m;
}

// The same point of every seed that finished it.
std::vector<const ExperimentPoint*> same_point(const StudyPart& part, Index plan) {
  std::vector<const ExperimentPoint*> points;
  for (const ExperimentResult& result : part.by_seed) {
    const auto found = std::ranges::find_if(result.points, [&](const auto& p) { return p.plan == plan; });
    if (found != result.points.end()) points.push_back(&*found);
  }
  return points;
}

std::string series_name(const Study& study, const StudyPart& part, const std::string& series) {
  if (study.parts.size() < 2) return series;
  const std::size_t slash = series.find('/');
  return fmt::format("{}@{}{}", series.substr(0, slash), part.train_records, series.substr(slash));
}

void set_spread(const std::vector<const ExperimentPoint*>& points, CurveRow& row) {
  const auto over = [&](auto get) {
    std::vector<double> values;
    for (const ExperimentPoint* p : points) values.push_back(get(*p));
    return mean_spread(values);
  };
  const MeanSpread leakage = over([](const ExperimentPoint& p) { return p.leakage.nats; });
  const MeanSpread distortion = over([](const ExperimentPoint& p) { return p.distortion; });
  const MeanSpread excess = over([](const ExperimentPoint& p) { return p.excess(); });
  row.distortion = distortion.mean;
  Estimate mean = points.front()->leakage;
  mean.nats = leakage.mean;
  mean.bound = Bound::kEstimate;
  mean.method = fmt::format("mean of {} seeds, each {}", points.size(), mean.method);
  mean.interval95 = Interval{leakage.mean - leakage.spread, leakage.mean + leakage.spread};
  row.set_leakage(mean);
  row.optimum.reset();
  row.excess.reset();
  if (std::isfinite(excess.mean)) {
    row.optimum = leakage.mean - excess.mean;
    row.excess = excess.mean;
    row.set("excess_sd", excess.spread);
  }
  row.set("seeds", static_cast<double>(points.size()));
  row.set("leakage_sd", leakage.spread);
  row.set("distortion_sd", distortion.spread);
}

CurveRow row_of(const ExperimentPoint& point, int number) {
  CurveRow row;
  row.series = point.series;
  if (point.has_budget()) row.budget = point.budget;
  if (point.weight > 0) row.weight = point.weight;
  row.distortion = point.distortion;
  if (!std::isnan(point.optimum)) row.optimum = point.optimum;
  if (std::isfinite(point.optimum)) row.excess = point.excess();
  row.set(curve_column::kPoint, number);
  row.set_leakage(point.leakage);
  if (point.ksg) {
    row.set(curve_column::kKsg, point.ksg->nats);
    row.set(curve_column::kKsgLow, point.ksg->interval95->low);
    row.set(curve_column::kKsgHigh, point.ksg->interval95->high);
  }
  if (point.training_distortion) row.set(curve_column::kTrainingDistortion, *point.training_distortion);
  if (point.training_belief) row.set(curve_column::kTrainingBelief, *point.training_belief);
  row.set(curve_column::kStop, "solved");
  if (point.training) record_training(*point.training, row);
  return row;
}

PointSummary make_point_summary(const ExperimentPoint& point, int number) {
  PointSummary s;
  s.series = point.series;
  s.number = number;
  if (point.has_budget()) s.budget = point.budget;
  if (point.weight > 0) s.weight = point.weight;
  s.distortion = point.distortion;
  s.stop = "solved";
  if (point.training) record_training(*point.training, s);
  s.message = point.message;
  s.seconds = point.seconds;
  s.leakage = point.leakage;
  if (point.ksg) s.estimates.push_back({"nearest neighbours (KSG)", *point.ksg});
  s.training_belief = point.training_belief;
  s.warnings = point_warnings(point);
  return s;
}

// Numbers of the points within their series, from 1.
std::vector<int> numbers_of(const std::vector<PlannedPoint>& plan) {
  std::map<std::string, int> last;
  std::vector<int> numbers;
  for (const PlannedPoint& p : plan) numbers.push_back(++last[p.series]);
  return numbers;
}

std::string layers_text(const std::vector<Index>& hidden) {
  return hidden.empty() ? "none" : fmt::format("{}", fmt::join(hidden, "-"));
}

template <typename Value>
std::optional<std::string> as_text(const std::optional<Value>& value) {
  if (!value) return std::nullopt;
  return fmt::format("{}", *value);
}

std::vector<RunSetting> settings_list(const Study& study) {
  const ExperimentOptions& options = study.given.experiment;
  const ExperimentSettings used = settings_of(study.parts.front().by_seed.front().given);
  const std::string preset(to_string(options.preset));
  std::vector<RunSetting> list{
      {"preset", preset, preset},
      {"seed", fmt::format("{}", options.seed), fmt::format("{}", options.seed)},
      {"seeds", fmt::format("{}", study.given.seeds), fmt::format("{}", study.given.seeds)},
      {"points", as_text(options.points),
       fmt::format("{}", used.scatter               ? 1
                         : !options.budgets.empty() ? static_cast<int>(options.budgets.size())
                         : !options.lambda.empty()  ? static_cast<int>(options.lambda.size())
                                                    : options.points.value_or(20))},
      {"training records", as_text(options.change.train_records), fmt::format("{}", used.train_records)},
      {"test records",
       {},
       used.test_records > 0 ? fmt::format("{}", used.test_records) : "none: scored exactly"},
  };
  if (options.alpha != 1)
    list.push_back({"alpha", fmt::format("{}", options.alpha), fmt::format("{}", options.alpha)});
  for (const SeriesSettings& series : used.series) {
    const TrainOptions& t = series.train;
    const auto add = [&](const std::string& name, std::optional<std::string> asked, std::string value) {
      list.push_back({fmt::format("{}: {}", series.observation, name), std::move(asked), std::move(value)});
    };
    const auto kind = options.mechanism ? options.mechanism : options.change.mechanism;
    add("mechanism", kind ? std::optional(std::string(to_string(*kind))) : std::nullopt,
        std::string(to_string(t.game.mechanism.kind)));
    add("hidden layers", {}, layers_text(t.game.mechanism.hidden));
    add("adversary hidden layers", {}, layers_text(t.game.adversary.hidden));
    add("budget form",
        options.budget_form ? std::optional(std::string(to_string(*options.budget_form))) : std::nullopt,
        std::string(to_string(t.game.budget.form)));
    if (options.lambda.empty()) add("budget weight", {}, fmt::format("{}", t.game.budget.weight));
    add("epochs", as_text(options.epochs), fmt::format("{}", t.epochs));
    add("batch", as_text(options.change.batch), fmt::format("{}", t.batch));
    add("adversary steps", as_text(options.change.adversary_steps), fmt::format("{}", t.adversary_steps));
    add("learning rate", as_text(options.change.rate), fmt::format("{}", t.mechanism_rate.rate));
  }
  return list;
}

}  // namespace

Problems StudyOptions::check() const {
  ProblemList list;
  for (const Problem& p : experiment.check()) list.require(false, p.field, p.what);
  list.require_between("seeds", seeds, 1, 1000);
  for (const Index size : train_sizes) list.require_at_least("train", static_cast<double>(size), 2);
  return list.take();
}

std::size_t Study::finished() const {
  std::size_t count = 0;
  for (const StudyPart& part : parts) {
    for (const ExperimentResult& result : part.by_seed) count += result.points.size();
  }
  return count;
}

bool Study::diverged() const {
  for (const StudyPart& part : parts) {
    for (const ExperimentResult& result : part.by_seed) {
      for (const ExperimentPoint& point : result.points)
        if (point.training && point.training->stop == Stop::kDiverged) return true;
    }
  }
  return false;
}

Index study_points(const StudyOptions& options) {
  return static_cast<Index>(planned_points(options.experiment).size()) * options.seeds *
         static_cast<Index>(sizes_of(options).size());
}

Study run_study(const StudyOptions& options, const ExperimentHooks& hooks) {
  require_none(options.check(), "the experiment cannot be run:");
  const auto start = std::chrono::steady_clock::now();
  Study study{.given = options, .parts = {}};
  Index before = 0;  // points of the runs already done
  for (const Index size : sizes_of(options)) {
    StudyPart part;
    for (int seed = 0; seed < options.seeds && !study.interrupted; ++seed) {
      const ExperimentOptions experiment = options_of(options, size, seed);
      part.train_records = settings_of(experiment).train_records;
      ExperimentHooks numbered = hooks;
      if (hooks.epoch) {
        numbered.epoch = [&, before](Index i, const EpochReport& report, double leakage) {
          hooks.epoch(before + i, report, leakage);
        };
      }
      if (hooks.finished) {
        numbered.finished = [&, before](Index i, const ExperimentPoint& point) {
          hooks.finished(before + i, point);
        };
      }
      part.by_seed.push_back(run_experiment(experiment, numbered));
      before += part.by_seed.back().planned;
      study.interrupted = part.by_seed.back().interrupted;
    }
    if (!part.by_seed.empty()) study.parts.push_back(std::move(part));
    if (study.interrupted) break;
  }
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

CurveTable study_curve(const Study& study) {
  CurveTable table;
  for (const StudyPart& part : study.parts) {
    const std::vector<PlannedPoint>& plan = part.by_seed.front().plan;
    const std::vector<int> numbers = numbers_of(plan);
    for (std::size_t i = 0; i < plan.size(); ++i) {
      const std::vector<const ExperimentPoint*> points = same_point(part, static_cast<Index>(i));
      if (points.empty()) continue;
      CurveRow row = row_of(*points.front(), numbers[i]);
      if (study.given.seeds > 1) set_spread(points, row);
      if (study.parts.size() > 1) row.set("training_records", static_cast<double>(part.train_records));
      row.series = series_name(study, part, row.series);
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

CurveTable study_optimum(const Study& study) {
  CurveTable table;
  const ExperimentOptions& options = study.given.experiment;
  const ExperimentSettings settings = settings_of(options);
  for (const OptimumCurve& curve : optimum_curves(options, kOptimumResolution)) {
    const auto series = std::ranges::find_if(
        settings.series, [&](const SeriesSettings& s) { return curve.series == "optimum/" + s.observation; });
    for (std::size_t i = 0; i < curve.distortion.size(); ++i) {
      CurveRow row;
      row.series = curve.series;
      row.distortion = curve.distortion[i];
      row.optimum = curve.leakage[i];
      row.set_leakage(
          {.nats = curve.leakage[i],
           .bound = Bound::kExact,
           .method = series->world.solved ? "convex optimum of the known distribution" : "closed form"});
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

namespace {

// What was done, by the points themselves: options decide whether a baseline is solved and how leakage is
// read.
claims::WorldClaims claims_of(const Study& study, bool one_sample) {
  claims::WorldClaims claims{.one_sample = one_sample, .seeds = study.given.seeds};
  for (const StudyPart& part : study.parts) {
    for (const ExperimentPoint& point : part.by_seed.front().points) {
      if (!point.training) {
        claims.conventional = true;
      } else if (point.leakage.bound != Bound::kExact) {
        claims.score = point.leakage.method.starts_with("gaussian") ? claims::WorldScore::kGaussian
                                                                    : claims::WorldScore::kNeighbours;
      }
    }
  }
  return claims;
}

}  // namespace

RunSummary study_summary(const Study& study) {
  const ExperimentOptions& options = study.given.experiment;
  const ExperimentEntry& entry = experiment_entry(options.name);
  const WorldWords words = world_words(options.world_used(), options.observations_used());
  RunSummary summary;
  summary.name = entry.name;
  summary.description = entry.description;
  summary.hidden = words.hidden;
  summary.observed = words.observed;
  summary.useful = words.useful;
  summary.distortion_name = words.distortion_name;
  summary.distortion_unit = words.distortion_unit;
  summary.settings = settings_list(study);
  summary.seed = options.seed;
  summary.seconds = study.seconds;
  summary.status = study.interrupted ? RunStatus::kInterrupted : RunStatus::kComplete;
  const ExperimentSettings settings = settings_of(options);
  // Data processing: no release of W leaks more than I(X;W).
  for (const SeriesSettings& series : settings.series) {
    if (std::isfinite(series.world.ceiling))
      summary.leakage_ceiling = std::max(summary.leakage_ceiling.value_or(0), series.world.ceiling);
  }
  for (const StudyPart& part : study.parts) {
    const ExperimentResult& first = part.by_seed.front();
    const std::vector<int> numbers = numbers_of(first.plan);
    for (std::size_t i = 0; i < first.plan.size(); ++i) {
      const auto points = same_point(part, static_cast<Index>(i));
      const std::string series = series_name(study, part, first.plan[i].series);
      if (points.empty()) {
        summary.missing.push_back({series, numbers[i], first.plan[i].budget, "interrupted"});
        continue;
      }
      PointSummary point = make_point_summary(*points.front(), numbers[i]);
      point.series = series;
      summary.points.push_back(std::move(point));
    }
  }
  summary.claimed = claims::of_world(claims_of(study, settings.conventional));
  summary.not_claimed = claims::not_of_world();
  return summary;
}

std::string study_metrics(const Study& study) {
  std::string text;
  for (const StudyPart& part : study.parts) {
    const ExperimentResult& first = part.by_seed.front();
    const std::vector<int> numbers = numbers_of(first.plan);
    for (const ExperimentPoint& point : first.points) {
      if (!point.training) continue;
      for (const EpochReport& epoch : point.training->epochs) {
        // Of another order the adversary's loss is not the information of this column.
        const std::optional<double> leakage =
            first.given.alpha == 1 ? std::optional(point.sensitive_entropy + epoch.adversary) : std::nullopt;
        MetricsLine line = make_metrics_line(series_name(study, part, point.series),
                                             numbers[static_cast<std::size_t>(point.plan)], epoch, leakage);
        if (point.training->given.game.budget.form == BudgetForm::kDual) line.multiplier = epoch.multiplier;
        text += to_json_line(line);
      }
    }
  }
  return text;
}

std::string study_channels(const Study& study) {
  std::string text;
  const ExperimentSettings settings = settings_of(study.given.experiment);
  const auto world_of = [&](const std::string& series) -> const World& {
    const auto found =
        std::ranges::find(settings.series, series.substr(series.find('/') + 1), &SeriesSettings::observation);
    return (found == settings.series.end() ? settings.series.front() : *found).world;
  };
  for (const StudyPart& part : study.parts) {
    const ExperimentResult& first = part.by_seed.front();
    const std::vector<int> numbers = numbers_of(first.plan);
    for (const ExperimentPoint& point : first.points) {
      const World& world = world_of(point.series);
      for (Index w = 0; w < point.channel.rows(); ++w) {
        for (Index z = 0; z < point.channel.cols(); ++z) {
          text +=
              fmt::format("{},{},{},{},{}\n", series_name(study, part, point.series),
                          numbers[static_cast<std::size_t>(point.plan)],
                          world.observed_names[static_cast<std::size_t>(w)],
                          world.released_names[static_cast<std::size_t>(z)], shortest(point.channel(w, z)));
        }
      }
    }
  }
  return text.empty() ? text : "series,point,w,z,probability\n" + text;
}

namespace {

// An approach looks as it does in the figure of the curve.
SeriesRole size_role(const std::string& approach, int number) {
  const bool first = number % 2 == 0;
  if (approach == "ppan") return first ? SeriesRole::kLearned : SeriesRole::kLearned2;
  if (approach == "conventional") return first ? SeriesRole::kConventional : SeriesRole::kConventional2;
  return first ? SeriesRole::kReference2 : SeriesRole::kReference3;
}

}  // namespace

std::optional<Figure> size_figure(const Study& study) {
  if (study.parts.size() < 2) return std::nullopt;
  std::map<std::string, std::map<Index, std::vector<double>>> excess;  // by series, size; a value per seed
  for (const StudyPart& part : study.parts) {
    for (const ExperimentResult& result : part.by_seed) {
      std::map<std::string, std::vector<double>> of_seed;
      for (const ExperimentPoint& p : result.points) {
        if (std::isfinite(p.excess())) of_seed[p.series].push_back(p.excess());
      }
      for (const auto& [series, values] : of_seed)
        excess[series][part.train_records].push_back(mean_spread(values).mean);
    }
  }
  if (excess.empty()) return std::nullopt;
  Figure figure{.title = "Mean excess over the optimum against training records",
                .x = {.label = "training records", .logarithmic = true},
                .y = {.label = "mean excess [nats]"},
                .series = {},
                .note = "Mean over the points of a curve; bars: one standard deviation over the seeds."};
  std::map<std::string, int> met;  // observations of each approach so far
  for (const auto& [series, by_size] : excess) {
    const std::string approach = series.substr(0, series.find('/'));
    FigureSeries line{
        .name = series_title(series), .role = size_role(approach, met[approach]++), .points = {}};
    for (const auto& [size, values] : by_size) {
      const MeanSpread m = mean_spread(values);
      FigurePoint point{.x = static_cast<double>(size), .y = m.mean};
      if (values.size() > 1) point.interval = Interval{m.mean - m.spread, m.mean + m.spread};
      line.points.push_back(point);
    }
    figure.series.push_back(std::move(line));
  }
  return figure;
}

std::vector<std::string> study_warnings(const Study& study) {
  std::vector<std::string> list;
  for (const StudyPart& part : study.parts) {
    for (const ExperimentResult& result : part.by_seed) {
      const std::vector<int> numbers = numbers_of(result.plan);
      for (const ExperimentPoint& point : result.points) {
        for (const std::string& text : point_warnings(point)) {
          list.push_back(fmt::format("{} point {}{}: {}", series_name(study, part, point.series),
                                     numbers[static_cast<std::size_t>(point.plan)],
                                     study.given.seeds > 1 ? fmt::format(", seed {}", result.given.seed) : "",
                                     text));
        }
      }
    }
  }
  return list;
}

}  // namespace ppan
