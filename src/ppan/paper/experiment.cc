#include "ppan/paper/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>

#include "ppan/core/estimate_archive.h"
#include "ppan/core/linear_algebra.h"
#include "ppan/core/suggest.h"
#include "ppan/engine/engine.h"
#include "ppan/game/mechanism_archive.h"
#include "ppan/paper/score.h"
#include "ppan/paper/settings.h"
#include "ppan/paper/shrunken_sample.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/theory/leakage_measures.h"
#include "ppan/train/train_archive.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, ScatterCloud& value) {
  auto& [rho, y, x, z, slope_x, intercept_x, slope_z, intercept_z] = value;
  archive(rho, y, x, z, slope_x, intercept_x, slope_z, intercept_z);
}

namespace {

// Budgets below this are held as closely as this one (BudgetOptions::unit), which keeps budget 0 possible.
constexpr double kLeastUnit = 0.3;
// Of the training data by the final mechanism. The noise of a squared error is about that of the error
// itself; over 16 x 8,000 draws 0.4 % of it is left.
constexpr int kFinalReleases = 16;
// A budget counts as met within this share of it or this distance.
constexpr double kMissedShare = 0.02;
constexpr double kMissedDistance = 0.01;
// Trainings from other random starts where one misses its budget.
constexpr std::uint64_t kOtherStarts = 3;
// Larger ones are mistakes of typing that would end for want of memory.
constexpr double kMostRecords = 1e7;
constexpr double kMostUnits = 4096;
constexpr std::size_t kMostLayers = 20;
// Of a solver's optimum, whose every point takes a while.
constexpr int kSolvedResolution = 41;

// h(X) of the sensitive attribute, so that the adversary's mean log-likelihood can be read as information.
double sensitive_entropy(const Records<double>& records) {
  const Attribute<double>& x = records.sensitive.front();
  if (x.finite()) {
    std::vector<double> count(static_cast<std::size_t>(x.levels), 0.0);
    for (const std::int32_t code : x.code) count[static_cast<std::size_t>(code)] += 1;
    double entropy = 0;
    for (const double c : count) {
      const double p = c / static_cast<double>(x.code.size());
      if (p > 0) entropy -= p * std::log(p);
    }
    return entropy;
  }
  const Matrix<double> centred = x.value.rowwise() - x.value.colwise().mean();
  const Matrix<double> covariance = centred.transpose() * centred / static_cast<double>(centred.rows());
  const auto dimensions = static_cast<double>(centred.cols());
  return 0.5 * (dimensions * std::log(2 * std::numbers::pi * std::numbers::e) +
                std::log(std::max(determinant(covariance), 1e-300)));
}

// What the adversary's mean utility says about leakage, nats: h(X) + mean log Q, or for an alpha-loss
// Arimoto's information, from mean Q^((alpha-1)/alpha).
double belief_of(double utility, double alpha, double entropy, const Vector<double>& prior) {
  if (alpha == 1) return entropy + utility;
  const double power = std::isinf(alpha) ? 1 : (alpha - 1) / alpha;
  const double gained = std::max(1e-12, 1 + power * utility);
  return std::log(gained / theory::prior_alpha_vulnerability(prior, alpha)) / power;
}

Vector<double> shares_of(const Attribute<double>& x) {
  Vector<double> share = Vector<double>::Zero(std::max(1, x.levels));
  for (const std::int32_t code : x.code) share[code] += 1.0 / static_cast<double>(x.code.size());
  return share;
}

// How fast the optimum falls just above a budget; infinite where no finite leakage meets it.
double price_at(const World& world, double alpha, double budget) {
  constexpr double kStep = 1e-4;
  if (world.solved) return std::numeric_limits<double>::quiet_NaN();
  return (optimum_at(world, alpha, budget) - optimum_at(world, alpha, budget + kStep)) / kStep;
}

enum class Approach { kTrained, kConventional, kConventionalPrior };

std::string who(Approach approach) {
  switch (approach) {
    case Approach::kTrained:
      return "ppan/";
    case Approach::kConventional:
      return "conventional/";
    case Approach::kConventionalPrior:
      return "conventional-prior/";
  }
  return {};
}

struct PointPlan {
  std::string series;
  const SeriesSettings* settings = nullptr;
  TrainOptions train;
  double budget = 0;  // NaN: a fixed weight
  Approach approach = Approach::kTrained;
};

PlannedPoint planned(const PointPlan& p) {
  return {p.series, p.budget, std::isfinite(p.budget) ? 0 : p.train.game.budget.weight};
}

std::vector<double> even_budgets(int points, double least, double most) {
  std::vector<double> budgets;
  for (int i = 0; i < points; ++i) {
    const double share = points == 1 ? 0.5 : static_cast<double>(i) / (points - 1);
    budgets.push_back(least + share * (most - least));
  }
  return budgets;
}

std::vector<double> budgets_of(const ExperimentOptions& options, const SeriesSettings& series, bool scatter) {
  if (scatter) return {series.most_budget};
  if (!options.budgets.empty()) return options.budgets;
  return even_budgets(options.points.value_or(20), series.least_budget, series.most_budget);
}

std::vector<Approach> approaches(const ExperimentOptions& options, const ExperimentSettings& settings) {
  std::vector<Approach> list{Approach::kTrained};
  // The solver minimises mutual information at a budget.
  if (!settings.conventional || options.alpha != 1 || !options.lambda.empty()) return list;
  list.push_back(Approach::kConventional);
  if (settings.shrunken) list.push_back(Approach::kConventionalPrior);
  return list;
}

std::vector<PointPlan> plan_points(const ExperimentOptions& options, const ExperimentSettings& settings) {
  std::vector<PointPlan> plan;
  const SeededRandom root(options.seed);
  for (const SeriesSettings& series : settings.series) {
    const bool weighted = !options.lambda.empty();
    const std::vector<double> targets =
        weighted ? options.lambda : budgets_of(options, series, settings.scatter);
    for (const Approach approach : approaches(options, settings)) {
      const std::string name = who(approach) + series.observation;
      for (std::size_t i = 0; i < targets.size(); ++i) {
        PointPlan point{name, &series, series.train, targets[i], approach};
        BudgetOptions& budget = point.train.game.budget;
        if (weighted) {
          budget.weight = targets[i];
          point.budget = std::numeric_limits<double>::quiet_NaN();
        } else {
          budget.limit = targets[i];
          budget.unit = std::max(targets[i], kLeastUnit);
        }
        point.train.seed = root.fork(name, i).next();
        plan.push_back(std::move(point));
      }
    }
  }
  return plan;
}

// The Gaussian experiments draw fresh data for each point; the finite ones use one sample for all, on which
// the conventional approach is estimated too.
Records<double> training_data(const PointPlan& plan, const ExperimentSettings& settings, std::uint64_t seed) {
  auto stream = settings.conventional ? SeededRandom(seed).fork("data")
                                      : SeededRandom(plan.train.seed).fork("training-data");
  return plan.settings->world.sample(settings.train_records, stream);
}

// Mean distortion of a channel on records, exact, and its standard error as an estimate of the true one.
struct MeanDistortion {
  double mean = 0;
  double standard_error = 0;
};
MeanDistortion distortion_on(const Records<double>& data, const Matrix<double>& channel,
                             const Matrix<double>& d) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < data.observed.code.size(); ++i) {
    const double each = channel.row(data.observed.code[i]).dot(d.row(data.useful.code[i]));
    sum += each;
    squares += each * each;
  }
  const auto n = static_cast<double>(data.observed.code.size());
  const double mean = sum / n;
  return {mean, std::sqrt(std::max(0.0, squares / n - mean * mean) / n)};
}

// What a training is to spend on the records so that the distribution they come from spends the budget: less
// where chance alone could take it beyond what counts as met, by as much as still counts as spent. `standard
// error` is that of the mean distortion of the records.
double aim_of(double budget, double standard_error) {
  constexpr double kOneSided = 1.645;  // 95 %
  const double allowed = std::max(kMissedDistance, kMissedShare * budget);
  return budget - std::clamp(kOneSided * standard_error - allowed, 0.0, 0.9 * allowed);
}

// A prior counts in what is learned, not in what is promised: calls make(limit) with limits that move until
// measure() of the records themselves meets the budget.
void meet_budget(double budget, const std::function<void(double)>& make,
                 const std::function<MeanDistortion()>& measure) {
  constexpr int kRounds = 5;
  constexpr double kClose = 0.002;
  double limit = budget;
  for (int round = 0; round < kRounds; ++round) {
    make(limit);
    const auto [spent, standard_error] = measure();
    const double aim = aim_of(budget, standard_error);
    if (aim <= 0 || spent <= 0 || std::abs(spent - aim) <= kClose * aim) return;
    if (spent < aim && limit >= 1) return;
    // Never much looser than asked: what is slack for the prior need not be spent.
    limit = std::min(limit * aim / spent, 1.5 * budget);
  }
}

// P(w,x) and P(w,y) as the records show them.
theory::FiniteDistribution counted_distribution(const World& world, const Records<double>& data) {
  theory::FiniteDistribution distribution{
      Matrix<double>::Zero(world.distribution->wx.rows(), world.distribution->wx.cols()),
      Matrix<double>::Zero(world.distribution->wy.rows(), world.distribution->wy.cols())};
  const double share = 1.0 / static_cast<double>(data.observed.code.size());
  for (std::size_t i = 0; i < data.observed.code.size(); ++i) {
    distribution.wx(data.observed.code[i], data.sensitive.front().code[i]) += share;
    distribution.wy(data.observed.code[i], data.useful.code[i]) += share;
  }
  return distribution;
}

void solve_conventional(const PointPlan& plan, const Records<double>& data, bool shrunken,
                        ExperimentPoint& point) {
  const World& world = plan.settings->world;
  const theory::FiniteDistribution distribution =
      counted_distribution(world, shrunken ? shrunken_sample(world, data) : data);
  theory::ConvexSolution solution;
  const double least = theory::least_distortion(distribution, world.distortion);
  const auto solve = [&](double limit) {
    solution = theory::solve_convex(distribution, world.distortion, std::max(limit, least));
  };
  if (shrunken) {
    meet_budget(plan.budget, solve,
                [&] { return distortion_on(data, solution.mechanism, world.distortion); });
  } else {
    solve(plan.budget);
  }
  point.weight = solution.multiplier;
  point.message = fmt::format(
      "solved on the {}, certified to {:.1e} nats",
      shrunken ? "empirical distribution with its cells shrunken" : "empirical distribution", solution.gap());
  score_channel(world, 1, solution.mechanism, point);
}

Trained<float> train_once(const PointPlan& plan, const Records<float>& records, TrainOptions options,
                          const std::vector<Observer>& observers) {
  options.final_releases = kFinalReleases;
  const World& world = plan.settings->world;
  TrainStart<float> start;
  const bool error =
      world.distortion.size() == 0 || (world.distortion.rows() == world.distortion.cols() &&
                                       world.distortion == theory::error_distortion(world.distortion.rows()));
  if (!error) start.distortion = make_matrix_distortion<float>(world.distortion);
  return train(records, options, observers, std::move(start));
}

// Of worlds judged by information, where every budget of a finite price can be met: overspent, or left
// unspent where the optimum would spend it.
bool missed(const PointPlan& plan, const Trained<float>& trained) {
  const World& world = plan.settings->world;
  const bool held = plan.train.game.budget.form == BudgetForm::kDual;  // others hover above their budget
  if (!world.information || !held || !std::isfinite(plan.budget)) return false;
  if (!trained.summary.distortion) return false;
  const double over = *trained.summary.distortion - plan.budget;
  const double allowed = std::max(kMissedDistance, kMissedShare * plan.budget);
  const double price = price_at(world, plan.train.game.alpha, plan.budget);
  if (std::isinf(price)) return false;
  return over > allowed || (over < -allowed && price > 0);
}

// What the training of a point is to spend: of Gaussian worlds less than the budget where a sample could be
// off.
double aim_of_point(const PointPlan& plan, Index records) {
  const World& world = plan.settings->world;
  const bool held = plan.train.game.budget.form == BudgetForm::kDual;
  if (world.finite() || world.information || !held || !std::isfinite(plan.budget)) return plan.budget;
  // A release of Y keeps 1 - budget / Var Y of it: the rest of its error is noise, which is drawn anew in
  // every step.
  const ObservationKind seen = world.observation.kind;
  const bool noise = seen == ObservationKind::kUsefulOnly || seen == ObservationKind::kRateDistortion;
  return gaussian_aim(plan.budget, records, world.released,
                      noise ? std::min(1.0, plan.budget / world.most_budget) : 1);
}

void train_point(const PointPlan& plan, const Records<double>& data, const ExperimentSettings& settings,
                 const std::vector<Observer>& observers, ExperimentPoint& point, bool& cut_short) {
  const World& world = plan.settings->world;
  const Records<double> records = settings.shrunken ? shrunken_sample(world, data) : data;
  const Records<float> given = cast<float>(records);
  const bool prior = settings.shrunken && point.has_budget();
  const SeededRandom random(plan.train.seed);
  Trained<float> trained;
  TrainOptions options = plan.train;
  const auto run = [&](double limit) {
    if (cut_short) return;
    if (point.has_budget()) options.game.budget.limit = limit;
    trained = train_once(plan, given, options, observers);
  };
  const auto spent = [&] {
    if (cut_short) return MeanDistortion{plan.budget, 0};
    auto stream = random.fork("calibration");
    return distortion_on(data, channel_of(*trained.mechanism, data.observed.levels, stream),
                         world.distortion);
  };
  if (prior) {
    meet_budget(plan.budget, run, spent);
  } else {
    run(aim_of_point(plan, given.rows()));
    // A release that starts by telling symbols apart by nothing stays there for long, and the multiplier
    // winds up meanwhile; a budget that some release meets and this one does not is a reason to start
    // elsewhere.
    for (std::uint64_t start = 1; start <= kOtherStarts && !cut_short && missed(plan, trained); ++start) {
      options.seed = random.fork("other-start", start).next();
      run(plan.budget);
    }
  }
  if (cut_short) return;
  point.weight = plan.train.game.budget.weight;
  point.training_distortion = prior ? spent().mean : trained.summary.distortion;
  point.training_belief = belief_of(trained.summary.epochs.back().adversary, plan.train.game.alpha,
                                    point.sensitive_entropy, shares_of(records.sensitive.front()));
  point.message = trained.summary.message;
  score_mechanism(world, settings, plan.train.game.alpha, *trained.mechanism, random, point);
  point.mechanism = std::move(trained.mechanism);
  point.training = std::move(trained.summary);
}

// A point as it is kept.
struct WorldPiece {
  ExperimentPoint point{};
  std::vector<ScatterCloud> scatter{};
};
// Without the mechanism, which is put together again from its options and parameters.
template <typename Archive>
void members(Archive& archive, WorldPiece& value) {
  auto& [plan, series, budget, weight, distortion, leakage, optimum, ksg, training_distortion, price, channel,
         mechanism, training_belief, sensitive_entropy, training, message, seconds] = value.point;
  archive(plan, series, budget, weight, distortion, leakage, optimum, ksg, training_distortion, price,
          channel, training_belief, sensitive_entropy, training, message, seconds, value.scatter);
}

// The points of a known world as pieces; none needs another.
class WorldDomain final : public Domain {
 public:
  WorldDomain(const ExperimentOptions& options, const ExperimentSettings& settings,
              const std::vector<PointPlan>& plan, const ExperimentHooks& hooks)
      : options_(options), settings_(settings), plan_(plan), hooks_(hooks) {}

  [[nodiscard]] std::string fingerprint() const override { return options_.name; }
  [[nodiscard]] std::vector<Piece> pieces() const override {
    std::vector<Piece> out;
    for (int number = 1; number <= planned(); ++number) out.push_back({point_pieces(number).front(), {}});
    return out;
  }
  [[nodiscard]] int planned() const override { return static_cast<int>(plan_.size()); }
  [[nodiscard]] std::vector<std::string> start_pieces() const override { return {}; }
  [[nodiscard]] std::vector<std::string> point_pieces(int number) const override {
    return {fmt::format("point-{:05}", number)};
  }
  [[nodiscard]] std::optional<std::string> make(const std::string& name, const Pieces& /*needed*/,
                                                const Checkpoint& /*checkpoint*/) override {
    const auto done = run(std::stoi(name.substr(name.find('-') + 1)) - 1);
    if (!done) return std::nullopt;
    ByteWriter writer;
    writer(*done, done->point.mechanism != nullptr);
    if (done->point.mechanism) writer(done->point.mechanism->options(), done->point.mechanism->parameters());
    return writer.take();
  }
  void finished(const std::string& /*name*/, const std::string& bytes, bool /*made*/) override {
    if (!hooks_.finished) return;
    const WorldPiece done = piece(bytes);
    hooks_.finished(done.point.plan, done.point);
  }

  [[nodiscard]] WorldPiece piece(const std::string& bytes) const {
    WorldPiece out;
    bool trained = false;
    ByteReader reader(bytes);
    reader(out, trained);
    if (trained) {
      MechanismOptions options;
      Vector<float> parameters;
      reader(options, parameters);
      // Only the shape of what is observed matters.
      SeededRandom random(1);
      const World& world = plan_[static_cast<std::size_t>(out.point.plan)].settings->world;
      out.point.mechanism = make_mechanism(options, cast<float>(world.sample(2, random)).observed);
      out.point.mechanism->parameters() = parameters;
    }
    reader.finish();
    if (out.point.training) out.point.training->given = plan_[static_cast<std::size_t>(out.point.plan)].train;
    return out;
  }

 private:
  [[nodiscard]] bool interrupted() const { return hooks_.interrupted && hooks_.interrupted(); }

  std::optional<WorldPiece> run(Index i) const {
    const auto start = std::chrono::steady_clock::now();
    const PointPlan& p = plan_[static_cast<std::size_t>(i)];
    const World& world = p.settings->world;
    WorldPiece out;
    ExperimentPoint& point = out.point;
    point.plan = i;
    point.series = p.series;
    point.budget = p.budget;
    const Records<double> data = training_data(p, settings_, options_.seed);
    point.sensitive_entropy = sensitive_entropy(data);
    const Vector<double> prior = shares_of(data.sensitive.front());
    bool cut_short = false;
    if (p.approach != Approach::kTrained) {
      solve_conventional(p, data, p.approach == Approach::kConventionalPrior, point);
    } else {
      const Observer watch = [&](const EpochReport& report) {
        if (hooks_.epoch)
          hooks_.epoch(i, report,
                       belief_of(report.adversary, options_.alpha, point.sensitive_entropy, prior));
        cut_short = interrupted();
        return Verdict{cut_short, "interrupted"};
      };
      train_point(p, data, settings_, {watch}, point, cut_short);
    }
    if (cut_short) return std::nullopt;
    point.optimum = optimum_at(world, options_.alpha, point.distortion);
    point.price = point.has_budget() ? price_at(world, options_.alpha, p.budget) : 0;
    if (settings_.scatter)
      out.scatter =
          scatter_clouds(world, options_.world_used().rho, *point.mechanism, SeededRandom(p.train.seed));
    point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return out;
  }

  const ExperimentOptions& options_;
  const ExperimentSettings& settings_;
  const std::vector<PointPlan>& plan_;
  const ExperimentHooks& hooks_;
};

}  // namespace

std::string_view to_string(Preset preset) {
  return preset == Preset::kPaper ? "paper" : "best";
}

Preset preset_of(std::string_view name) {
  if (name == "paper") return Preset::kPaper;
  if (name == "best") return Preset::kBest;
  const std::vector<std::string> known{"paper", "best"};
  throw Error(ErrorCode::kUsage, unknown_name("preset", name, known));
}

const WorldOptions& ExperimentOptions::world_used() const {
  return world ? *world : experiment_entry(name).world;
}

std::vector<ObservationOptions> ExperimentOptions::observations_used() const {
  if (!observations.empty()) return observations;
  std::vector<ObservationOptions> list;
  for (const SeriesEntry& series : experiment_entry(name).series) list.push_back(series.observation);
  return list;
}

namespace {

void check_numbers(const ExperimentOptions& o, ProblemList& list) {
  if (o.points)
    list.require(*o.points >= 1 && *o.points <= 10000, "points",
                 fmt::format("{} is not allowed; it must lie between 1 and 10000", *o.points));
  if (o.epochs) list.require_between("epochs", *o.epochs, 1, 1e6);
  list.require_between("threads", o.threads, 0, 1024);
  list.require(o.alpha >= 1, "alpha", fmt::format("{} is not allowed; it must be at least 1", o.alpha));
  for (const double b : o.budgets) list.require_at_least("budget", b, 0);
  for (const double l : o.lambda) list.require_positive("lambda", l);
  list.require(o.budgets.empty() || o.lambda.empty(), "lambda", "goes with no budget; give one of them");
  list.require(!o.points || (o.budgets.empty() && o.lambda.empty()), "points",
               "goes with neither a list of budgets nor one of weights");
  const TrainingChanges& c = o.change;
  const auto between = [&](const char* field, const auto& value, double least, double most) {
    if (value) list.require_between(field, static_cast<double>(*value), least, most);
  };
  between("batch", c.batch, 1, kMostRecords);
  between("adversary-steps", c.adversary_steps, 1, 1e4);
  between("draws", c.draws, 1, 1e4);
  between("noise-inputs", c.noise_inputs, 1, kMostUnits);
  between("components", c.components, 1, kMostUnits);
  between("train", c.train_records, 2, kMostRecords);
  between("test", c.test_records, 100, kMostRecords);
  if (c.rate) list.require_positive("rate", *c.rate);
  if (c.weight) list.require_positive("weight", *c.weight);
  for (const auto* layers : {&c.hidden, &c.adversary_hidden}) {
    if (!*layers) continue;
    list.require((*layers)->size() <= kMostLayers, "hidden",
                 fmt::format("there may be {} layers", kMostLayers));
    for (const Index units : **layers)
      list.require_between("hidden", static_cast<double>(units), 1, kMostUnits);
  }
}

// Families and options that do not go with the world.
void check_family(const ExperimentOptions& o, const ExperimentEntry& entry, ProblemList& list) {
  const std::optional<MechanismKind> family = o.mechanism ? o.mechanism : o.change.mechanism;
  const bool finite_world = o.world_used().kind != WorldKind::kGaussian;
  if (family) {
    const bool finite_family = *family == MechanismKind::kFinite || *family == MechanismKind::kGumbel;
    list.require(
        finite_world == finite_family, "mechanism",
        fmt::format("'{}' does not fit {}; it takes {}", to_string(*family), o.name,
                    finite_world ? "finite or gumbel" : "noise-input, gaussian, mixture or noisy-code"));
  }
  const std::optional<BudgetForm> form = o.budget_form ? o.budget_form : o.change.budget_form;
  if (form) {
    list.require(
        *form != BudgetForm::kWeighted, "budget-form",
        "'weighted' has no budget; it must be record, record-mean, expected or dual. Weights are given by "
        "lambda");
    list.require(o.lambda.empty(), "budget-form", "goes with no lambda, which has no budget");
  }
  list.require(!o.change.weight || o.lambda.empty(), "weight",
               "is of a budget's penalty and goes with no lambda, which has no budget");
  list.require(o.alpha == 1 || finite_world, "alpha", "needs a finite world");
  list.require(!o.change.test_records || !finite_world, "test",
               "finite worlds are scored exactly, on no records");
  list.require(!o.change.noise_inputs || !family || *family == MechanismKind::kNoiseInput, "noise-inputs",
               "is for noise-input mechanisms");
  list.require(!o.change.noise_inputs || !finite_world, "noise-inputs", "is for noise-input mechanisms");
  list.require(!o.change.components || family == MechanismKind::kMixture, "components",
               "is for mixtures; add --mechanism mixture");
  list.require(
      !o.change.full_covariance || family == MechanismKind::kMixture || family == MechanismKind::kGaussian,
      "covariances", "is for gaussian mechanisms and mixtures; add --mechanism gaussian or mixture");
  list.require(!o.change.draws || family == MechanismKind::kGumbel ||
                   (!finite_world && family != MechanismKind::kMixture),
               "draws", "is for mechanisms that draw; finite ones and mixtures take the expectation");
  if (entry.scatter) {
    list.require(!o.points || *o.points == 1, "points", "the scatter experiment has one operating point");
    list.require(o.budgets.empty() && o.lambda.empty(), "budget", "the scatter experiment has its own");
  }
  list.require(
      entry.changeable || (!o.world && o.observations.empty()), "observation",
      fmt::format("{} has a world of its own; symmetric-pair, gaussian and finite take another", o.name));
}

}  // namespace

Problems ExperimentOptions::check() const {
  ProblemList list;
  const ExperimentEntry* entry = find_experiment(name);
  if (!entry) list.require(false, "experiment", unknown_experiment(name));
  check_numbers(*this, list);
  if (entry) {
    check_family(*this, *entry, list);
    for (const Problem& p : world_used().check(observations_used())) list.require(false, p.field, p.what);
  }
  return list.take();
}

double gaussian_aim(double budget, Index records, Index components, double share) {
  constexpr double kOneSided = 2.326;  // 99 %
  constexpr double kShare = 0.6;       // the rest of the allowance is the multiplier's
  const double allowed = std::max(kMissedDistance, kMissedShare * budget);
  const double error = share * budget * std::sqrt(2.0 / static_cast<double>(records * components));
  return budget - std::clamp(kOneSided * error - allowed, 0.0, kShare * allowed);
}

std::vector<std::string> point_warnings(const ExperimentPoint& point) {
  std::vector<std::string> list;
  if (point.training && point.training->stop == Stop::kDiverged) list.push_back(point.training->message);
  if (!point.has_budget()) return list;
  const double allowed = std::max(kMissedDistance, kMissedShare * point.budget);
  const auto off = [&](double distortion) { return std::abs(distortion - point.budget) > allowed; };
  if (std::isinf(point.price)) {
    list.push_back(fmt::format("no finite leakage meets the budget {:.4g}; the distortion is {:.4f}",
                               point.budget, point.distortion));
  } else if (point.distortion > point.budget + allowed) {
    list.push_back(
        fmt::format("the distortion {:.4f} is above its budget {:.4g}", point.distortion, point.budget));
  } else if (point.training_distortion && *point.training_distortion > point.budget + allowed) {
    list.push_back(fmt::format("the distortion {:.4f} on the training data is above its budget {:.4g}",
                               *point.training_distortion, point.budget));
  } else if (point.training_distortion && point.binding() && off(*point.training_distortion)) {
    list.push_back(fmt::format("the distortion {:.4f} leaves some of the budget {:.4g} unspent",
                               *point.training_distortion, point.budget));
  }
  return list;
}

std::vector<PlannedPoint> planned_points(const ExperimentOptions& options) {
  const ExperimentSettings settings = settings_of(options);
  std::vector<PlannedPoint> points;
  for (const PointPlan& p : plan_points(options, settings)) points.push_back(planned(p));
  return points;
}

ExperimentResult run_experiment(const ExperimentOptions& options, const ExperimentHooks& hooks) {
  require_none(options.check(), "the experiment cannot be run:");
  const ExperimentSettings settings = settings_of(options);
  const std::vector<PointPlan> plan = plan_points(options, settings);
  ExperimentResult result{.given = options};
  result.planned = static_cast<Index>(plan.size());
  for (const PointPlan& p : plan) result.plan.push_back(planned(p));
  WorldDomain domain(options, settings, plan, hooks);
  const EngineResult made = make_pieces(domain, nullptr, {options.threads, {}, hooks.interrupted});
  for (const Piece& piece : domain.pieces()) {
    if (const auto found = made.pieces.find(piece.name); found != made.pieces.end()) {
      WorldPiece done = domain.piece(found->second);
      if (!done.scatter.empty()) result.scatter = std::move(done.scatter);
      result.points.push_back(std::move(done.point));
    }
  }
  result.interrupted = static_cast<Index>(result.points.size()) < result.planned;
  return result;
}

std::vector<OptimumCurve> optimum_curves(const ExperimentOptions& options, int resolution) {
  std::vector<OptimumCurve> curves;
  const ExperimentSettings settings = settings_of(options);
  for (const SeriesSettings& series : settings.series) {
    const World& world = series.world;
    double most = settings.scatter ? 1 : series.most_budget;
    for (const double budget : options.budgets) most = std::max(most, budget);
    OptimumCurve curve{.series = "optimum/" + series.observation};
    const int points = world.solved ? std::min(resolution, kSolvedResolution) : resolution;
    for (const double d : even_budgets(points, series.least_budget, most)) {
      const double leakage = optimum_at(world, options.alpha, d);
      if (!std::isfinite(leakage)) continue;
      curve.distortion.push_back(d);
      curve.leakage.push_back(leakage);
    }
    if (!curve.distortion.empty()) curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace ppan
