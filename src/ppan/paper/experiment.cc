#include "ppan/paper/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <mutex>
#include <numbers>
#include <variant>

#include "ppan/audit/exact_information.h"
#include "ppan/audit/gaussian_information.h"
#include "ppan/audit/ksg.h"
#include "ppan/core/parallel.h"
#include "ppan/core/suggest.h"
#include "ppan/nn/blas.h"
#include "ppan/paper/settings.h"
#include "ppan/theory/convex_baseline.h"
#include "ppan/worlds/bottleneck_worlds.h"
#include "ppan/worlds/gaussian_worlds.h"
#include "ppan/worlds/symmetric_pair_world.h"

namespace ppan {
namespace {

constexpr std::array kCorrelations{0.47, 0.24, 0.85, 0.07, 0.66};  // also the variances of rate-distortion
// High, medium and low correlation among them, for the scatter figure.
constexpr std::array<Index, 3> kScatterComponents{2, 0, 3};
constexpr Index kScatterRecords = 500;
// Budgets below this are held as closely as this one (BudgetOptions::unit), which keeps budget 0 possible.
constexpr double kLeastUnit = 0.3;
// Of the training data by the final mechanism. The noise of a squared error is about that of the error
// itself; over 16 x 8,000 draws 0.4 % of it is left.
constexpr int kFinalReleases = 16;

using World = std::variant<SymmetricPairWorld, GaussianScalarWorld, GaussianVectorWorld,
                           GaussianRateDistortionWorld, BottleneckGaussianWorld, BottleneckBinaryWorld>;

World world_of(std::string_view experiment, std::string_view observation) {
  const Vector<double> components =
      Eigen::Map<const Vector<double>>(kCorrelations.data(), kCorrelations.size());
  const auto view = observation == "full-data" ? Observation::kFullData : Observation::kUsefulOnly;
  if (experiment == "discrete") return SymmetricPairWorld{{.m = 10, .p = 0.4}, view};
  if (experiment == "scalar-gaussian") return GaussianScalarWorld{.rho = 0.85, .observation = view};
  if (experiment == "rate-distortion") return GaussianRateDistortionWorld{components};
  if (experiment == "bottleneck-gaussian") return BottleneckGaussianWorld{.rho = 0.85};
  if (experiment == "bottleneck-binary") return BottleneckBinaryWorld{.p = 0.1};
  return GaussianVectorWorld{components};
}

// h(Y) of the bottleneck worlds: what -log Q'(y|z) costs when the release says nothing.
double useful_entropy(const World& world) {
  return std::holds_alternative<BottleneckBinaryWorld>(world)
             ? std::numbers::ln2
             : 0.5 * std::log(2 * std::numbers::pi * std::numbers::e);
}

bool bottleneck(const World& world) {
  return std::holds_alternative<BottleneckBinaryWorld>(world) ||
         std::holds_alternative<BottleneckGaussianWorld>(world);
}

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
  double entropy = 0;  // components are independent in every world here
  for (Index d = 0; d < centred.cols(); ++d) {
    const double variance = centred.col(d).squaredNorm() / static_cast<double>(centred.rows());
    entropy += 0.5 * std::log(2 * std::numbers::pi * std::numbers::e * variance);
  }
  return entropy;
}

// Least leakage at what was measured: a distortion, or for a bottleneck the conditional entropy of Y.
double optimum_at(const World& world, double distortion) {
  if (bottleneck(world)) {
    const double useful = useful_entropy(world) - distortion;
    return std::visit(
        [&](const auto& w) { return w.optimum(std::clamp(useful, 0.0, w.mutual_information())); }, world);
  }
  return std::visit([&](const auto& w) { return w.optimum(std::max(0.0, distortion)); }, world);
}

// How fast the optimum falls just above a budget; infinite where no finite leakage meets it.
double price_at(const World& world, double budget) {
  constexpr double kStep = 1e-4;
  return (optimum_at(world, budget) - optimum_at(world, budget + kStep)) / kStep;
}

struct PointPlan {
  std::string series;
  World world;
  TrainOptions train;
  double budget = 0;
  bool conventional = false;
};

std::vector<double> budgets_of(const ExperimentOptions& options, const SeriesSettings& series,
                               const World& world) {
  if (options.name == "scatter") return {series.most_budget};
  const int points = options.points.value_or(20);
  std::vector<double> budgets;
  for (int i = 0; i < points; ++i) {
    const double share = points == 1 ? 0.5 : static_cast<double>(i) / (points - 1);
    if (bottleneck(world)) {
      const double most = std::visit([](const auto& w) { return w.mutual_information(); }, world);
      budgets.push_back(useful_entropy(world) - (1 - share) * most);
    } else {
      budgets.push_back(share * series.most_budget);
    }
  }
  return budgets;
}

std::vector<PointPlan> plan_points(const ExperimentOptions& options, const ExperimentSettings& settings) {
  std::vector<PointPlan> plan;
  const SeededRandom root(options.seed);
  for (const SeriesSettings& series : settings.series) {
    const World world = world_of(options.name, series.observation);
    const std::vector<double> budgets = budgets_of(options, series, world);
    for (const bool conventional : {false, true}) {
      if (conventional && !settings.conventional) continue;
      const std::string name = (conventional ? "conventional/" : "ppan/") + series.observation;
      for (std::size_t i = 0; i < budgets.size(); ++i) {
        PointPlan point{name, world, series.train, budgets[i], conventional};
        point.train.game.budget.limit = budgets[i];
        point.train.game.budget.unit = std::max(budgets[i], kLeastUnit);
        point.train.seed = root.fork(name, i).next();
        plan.push_back(std::move(point));
      }
    }
  }
  return plan;
}

Records<double> sample(const World& world, Index count, RandomSource& random) {
  return std::visit([&](const auto& w) { return w.sample(count, random); }, world);
}

// P(z|w) of a finite mechanism, a row per symbol of w.
Matrix<double> mechanism_matrix(Mechanism<float>& mechanism, std::int32_t levels) {
  Attribute<float> every;
  every.levels = levels;
  for (std::int32_t w = 0; w < levels; ++w) every.code.push_back(w);
  Draws<float> draws;
  Matrix<float> no_noise;
  mechanism.draw(every, no_noise, draws);
  Matrix<double> p = draws.weight.cast<double>();
  for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
  return p;
}

// P(z|w) of a mechanism that can only be sampled (Gumbel-softmax), by its frequencies.
Matrix<double> sampled_matrix(Mechanism<float>& mechanism, std::int32_t levels, RandomSource& random) {
  constexpr Index kDraws = 20000;
  Matrix<double> p = Matrix<double>::Zero(levels, mechanism.options().released);
  Attribute<float> same;
  same.levels = levels;
  for (std::int32_t w = 0; w < levels; ++w) {
    same.code.assign(kDraws, w);
    for (const std::int32_t z : mechanism.release(same, random).code) p(w, z) += 1.0 / kDraws;
  }
  return p;
}

void score_finite(const World& world, const Matrix<double>& p, ExperimentPoint& point) {
  const theory::FiniteLaw law = std::visit(
      [](const auto& w) -> theory::FiniteLaw {
        if constexpr (requires { w.law(); }) {
          return w.law();
        } else {
          throw Error(ErrorCode::kInternal, "exact scoring of a world that is not finite");
        }
      },
      world);
  point.leakage = exact_information(law.wx, p);
  point.distortion = bottleneck(world)
                         ? useful_entropy(world) - theory::useful_information(law, p)
                         : theory::expected_distortion(law, p, theory::error_distortion(p.cols()));
}

// The bottleneck of two Gaussians with Z = mu(X) + A(X) u, u normal (for a noisy code with a linear decoder
// the code, which says the same as Z): I(X;Z) and I(Y;Z) by quadrature, exact to the grid. The Gaussian
// estimate would not do: with Y - X - Z and Gaussian (X, Y) the correlation of Y and Z is rho times that of X
// and Z for *every* mechanism, so it puts all of them on the optimal curve.
void score_bottleneck_by_quadrature(const BottleneckGaussianWorld& world, Mechanism<float>& mechanism,
                                    ExperimentPoint& point) {
  constexpr Index kGrid = 1201;
  constexpr double kReach = 6;  // standard deviations
  const Vector<double> x = Vector<double>::LinSpaced(kGrid, -kReach, kReach);
  Attribute<float> observed;
  observed.value = x.cast<float>();
  const auto release_with = [&](float u) {
    Draws<float> draws;
    const Matrix<float> noise = Matrix<float>::Constant(kGrid, 1, u);
    mechanism.draw(observed, noise, draws);
    return Vector<double>(draws.seen().col(0).cast<double>());
  };
  const Vector<double> mean = release_with(0);
  // The noise of a trained mechanism can vanish, in float to nothing.
  const Vector<double> scale = (release_with(1) - mean).cwiseAbs().cwiseMax(1e-9);

  const double low = (mean - kReach * scale).minCoeff();
  const double high = (mean + kReach * scale).maxCoeff();
  const auto bins = static_cast<Index>(std::clamp((high - low) / (0.2 * scale.minCoeff()), 400.0, 20000.0));
  const Vector<double> z = Vector<double>::LinSpaced(bins, low, high);
  const double spacing = z[1] - z[0];
  Matrix<double> z_given_x(kGrid, bins);
  for (Index i = 0; i < kGrid; ++i) {
    if (scale[i] < spacing) {  // too narrow for its density at the bins' centres: the mass of each bin
      const auto below = [&](double edge) {
        return 0.5 * std::erfc((mean[i] - edge) / (scale[i] * std::numbers::sqrt2));
      };
      for (Index b = 0; b < bins; ++b) {
        z_given_x(i, b) = below(z[b] + 0.5 * spacing) - below(z[b] - 0.5 * spacing);
      }
      z_given_x.row(i) /= z_given_x.row(i).sum();
      continue;
    }
    z_given_x.row(i) = (-0.5 * ((z.array() - mean[i]) / scale[i]).square()).exp().matrix().transpose();
    z_given_x.row(i) /= z_given_x.row(i).sum();
  }
  Vector<double> px = (-0.5 * x.array().square()).exp();
  px /= px.sum();
  // P(y|x) on the same grid, then P(y,z) = sum_x P(x) P(y|x) P(z|x).
  const double spread = std::sqrt(1 - world.rho * world.rho);
  Matrix<double> xy(kGrid, kGrid);
  for (Index i = 0; i < kGrid; ++i) {
    xy.row(i) = (-0.5 * ((x.array() - world.rho * x[i]) / spread).square()).exp().matrix().transpose();
    xy.row(i) *= px[i] / xy.row(i).sum();
  }
  point.leakage = exact_information(px.asDiagonal().toDenseMatrix(), z_given_x);
  point.leakage.method = "quadrature of the known density";
  point.distortion = useful_entropy(world) - exact_information(xy, z_given_x).nats;
}

void score_sampled(const World& world, const ExperimentSettings& settings, Mechanism<float>& mechanism,
                   const SeededRandom& random, ExperimentPoint& point) {
  auto data_stream = random.fork("test-data");
  auto noise_stream = random.fork("test-noise");
  const Records<double> test = sample(world, settings.test_records, data_stream);
  const Matrix<double> z = mechanism.release(cast<float>(test.observed), noise_stream).value.cast<double>();
  const Matrix<double>& x = test.sensitive.front().value;
  if (bottleneck(world)) {  // without a density: nearest neighbours for both
    point.leakage = ksg_information(x, z);
    point.distortion = useful_entropy(world) - ksg_information(test.useful.value, z).nats;
    return;
  }
  point.leakage = gaussian_information(x, z);
  point.distortion = (z - test.useful.value).rowwise().squaredNorm().mean();
  if (settings.ksg_records > 0) {
    const Index n = std::min(settings.ksg_records, z.rows());
    point.ksg = ksg_information(x.topRows(n), z.topRows(n));
  }
}

std::vector<ScatterCloud> scatter_panels(const World& world, Mechanism<float>& mechanism,
                                         const SeededRandom& random) {
  auto data_stream = random.fork("scatter-data");
  auto noise_stream = random.fork("scatter-noise");
  const Records<double> test = sample(world, kScatterRecords, data_stream);
  const Matrix<double> z = mechanism.release(cast<float>(test.observed), noise_stream).value.cast<double>();
  const auto line = [](const Vector<double>& from, const Vector<double>& to, double& slope,
                       double& intercept) {
    const Vector<double> f = from.array() - from.mean();
    slope = f.dot(to) / f.squaredNorm();
    intercept = to.mean() - slope * from.mean();
  };
  const auto values = [](const Vector<double>& v) { return std::vector<double>(v.begin(), v.end()); };
  std::vector<ScatterCloud> panels;
  for (const Index c : kScatterComponents) {
    const Vector<double> y = test.useful.value.col(c);
    const Vector<double> x = test.sensitive.front().value.col(c);
    ScatterCloud panel{.rho = kCorrelations[static_cast<std::size_t>(c)],
                       .y = values(y),
                       .x = values(x),
                       .z = values(z.col(c))};
    line(y, x, panel.slope_x, panel.intercept_x);
    line(y, z.col(c), panel.slope_z, panel.intercept_z);
    panels.push_back(std::move(panel));
  }
  return panels;
}

// The Gaussian experiments draw fresh data for each point; the discrete one uses one sample for all, on which
// the conventional approach is estimated too.
Records<double> training_data(const PointPlan& plan, const ExperimentSettings& settings, std::uint64_t seed) {
  auto stream = settings.conventional ? SeededRandom(seed).fork("data")
                                      : SeededRandom(plan.train.seed).fork("training-data");
  return sample(plan.world, settings.train_records, stream);
}

// One record of every pair (x, y), `times` over, behind the sample of a symmetric pair.
void add_pseudo_records(const SymmetricPairWorld& world, int times, Records<double>& data) {
  const std::int32_t m = world.pair.m;
  for (int t = 0; t < times; ++t) {
    for (std::int32_t x = 0; x < m; ++x) {
      for (std::int32_t y = 0; y < m; ++y) {
        data.observed.code.push_back(world.observation == Observation::kFullData ? x * m + y : y);
        data.sensitive.front().code.push_back(x);
        data.useful.code.push_back(y);
      }
    }
  }
}

void solve_conventional(const PointPlan& plan, const Records<double>& data, ExperimentPoint& point) {
  const auto& world = std::get<SymmetricPairWorld>(plan.world);
  const theory::FiniteLaw law = theory::law_of_pair(theory::plug_in_pair(data), world.observation);
  const theory::ConvexSolution solution =
      theory::solve_convex(law, theory::error_distortion(world.pair.m), plan.budget);
  point.weight = solution.multiplier;
  point.message = fmt::format("solved on the empirical law, certified to {:.1e} nats", solution.gap());
  score_finite(plan.world, solution.mechanism, point);
}

void train_point(const PointPlan& plan, const Records<double>& data, const ExperimentSettings& settings,
                 const std::vector<Observer>& observers, ExperimentPoint& point,
                 std::vector<ScatterCloud>* scatter) {
  Records<double> records = data;
  if (settings.pseudo_records > 0) {
    add_pseudo_records(std::get<SymmetricPairWorld>(plan.world), settings.pseudo_records, records);
  }
  TrainOptions options = plan.train;
  options.final_releases = kFinalReleases;
  Trained<float> trained = train(cast<float>(records), options, observers);
  point.weight = plan.train.game.budget.weight;
  point.training_distortion = trained.summary.distortion;
  point.training_belief = point.sensitive_entropy + trained.summary.epochs.back().adversary;
  point.message = trained.summary.message;
  const SeededRandom random(plan.train.seed);
  const auto* gaussian_pair = std::get_if<BottleneckGaussianWorld>(&plan.world);
  const MechanismOptions& family = plan.train.game.mechanism;
  const bool density = family.kind == MechanismKind::kGaussian ||
                       (family.kind == MechanismKind::kNoisyCode && family.decoder.empty());
  if (gaussian_pair && density) {
    score_bottleneck_by_quadrature(*gaussian_pair, *trained.mechanism->clone(1), point);
  } else if (settings.test_records > 0) {
    score_sampled(plan.world, settings, *trained.mechanism, random, point);
  } else if (plan.train.game.mechanism.kind == MechanismKind::kGumbel) {
    auto stream = random.fork("sampled-matrix");
    score_finite(plan.world, sampled_matrix(*trained.mechanism, data.observed.levels, stream), point);
  } else {
    score_finite(plan.world, mechanism_matrix(*trained.mechanism, data.observed.levels), point);
  }
  if (scatter) *scatter = scatter_panels(plan.world, *trained.mechanism, random);
  point.training = std::move(trained.summary);
}

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

const std::vector<ExperimentInfo>& experiments() {
  static const std::vector<ExperimentInfo> list{
      {"discrete",
       "symmetric pair of 10 symbols, 1,000 samples, probability of error; beside the conventional "
       "approach on the same samples"},
      {"scalar-gaussian",
       "two Gaussians with correlation 0.85, squared error; useful data only and full data"},
      {"vector-gaussian", "five pairs of Gaussians with different correlations, squared error"},
      {"rate-distortion", "five Gaussians that are sensitive and useful at once, squared error"},
      {"scatter", "the vector mechanism at budget 0.23, component by component, as point clouds"},
      {"bottleneck-gaussian",
       "information bottleneck of two Gaussians with correlation 0.85: usefulness is "
       "mutual information"},
      {"bottleneck-binary", "information bottleneck of a doubly symmetric binary source with crossover 0.1"},
  };
  return list;
}

Problems ExperimentOptions::check() const {
  ProblemList list;
  std::vector<std::string> names;
  for (const ExperimentInfo& info : experiments()) names.push_back(info.name);
  const bool known = std::find(names.begin(), names.end(), name) != names.end();
  if (!known) list.require(false, "experiment", unknown_name("experiment", name, names));
  if (points)
    list.require(*points >= 1 && *points <= 10000, "points",
                 fmt::format("{} is not allowed; it must lie between 1 and 10000", *points));
  if (points && known && name == "scatter") {
    list.require(*points == 1, "points", "the scatter experiment has one operating point");
  }
  if (epochs) list.require_between("epochs", *epochs, 1, 1e6);
  list.require_between("threads", threads, 0, 1024);
  if (known && mechanism) {
    const bool finite_world = name == "discrete" || name == "bottleneck-binary";
    const bool finite_family = *mechanism == MechanismKind::kFinite || *mechanism == MechanismKind::kGumbel;
    list.require(
        finite_world == finite_family, "mechanism",
        fmt::format("'{}' does not fit {}; it takes {}", to_string(*mechanism), name,
                    finite_world ? "finite or gumbel" : "noise-input, gaussian, mixture or noisy-code"));
  }
  if (budget_form) {
    list.require(*budget_form != BudgetForm::kWeighted, "budget-form",
                 "'weighted' has no budget; it must be record, expected or dual");
  }
  return list.take();
}

std::vector<PlannedPoint> planned_points(const ExperimentOptions& options) {
  std::vector<PlannedPoint> points;
  for (const PointPlan& p : plan_points(options, settings_of(options)))
    points.push_back({p.series, p.budget});
  return points;
}

ExperimentResult run_experiment(const ExperimentOptions& options, const ExperimentHooks& hooks) {
  require_none(options.check(), "the experiment cannot be run:");
  const ExperimentSettings settings = settings_of(options);
  const std::vector<PointPlan> plan = plan_points(options, settings);
  ExperimentResult result{.given = options};
  result.planned = static_cast<Index>(plan.size());
  result.plan = planned_points(options);
  std::vector<std::optional<ExperimentPoint>> done(plan.size());
  std::mutex finished_mutex;
  const auto interrupted = [&] { return hooks.interrupted && hooks.interrupted(); };

  const BlasThreads one(1);  // points run side by side
  parallel_for(result.planned, options.threads, [&](std::int64_t i) {
    if (interrupted()) return;
    const auto start = std::chrono::steady_clock::now();
    const PointPlan& p = plan[static_cast<std::size_t>(i)];
    ExperimentPoint point{.plan = i, .series = p.series, .budget = p.budget};
    const Records<double> data = training_data(p, settings, options.seed);
    point.sensitive_entropy = sensitive_entropy(data);
    bool cut_short = false;
    if (p.conventional) {
      solve_conventional(p, data, point);
    } else {
      const Observer watch = [&](const EpochReport& report) {
        if (hooks.epoch) hooks.epoch(i, report, point.sensitive_entropy + report.adversary);
        cut_short = interrupted();
        return Verdict{cut_short, "interrupted"};
      };
      train_point(p, data, settings, {watch}, point, options.name == "scatter" ? &result.scatter : nullptr);
    }
    if (cut_short) return;
    point.optimum = optimum_at(p.world, point.distortion);
    point.price = price_at(p.world, p.budget);
    point.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const std::scoped_lock lock(finished_mutex);
    if (hooks.finished) hooks.finished(i, point);
    done[static_cast<std::size_t>(i)] = std::move(point);
  });
  for (auto& point : done) {
    if (point) result.points.push_back(std::move(*point));
  }
  result.interrupted = static_cast<Index>(result.points.size()) < result.planned;
  return result;
}

std::vector<OptimumCurve> optimum_curves(const ExperimentOptions& options, int resolution) {
  std::vector<OptimumCurve> curves;
  for (const SeriesSettings& series : settings_of(options).series) {
    const World world = world_of(options.name, series.observation);
    ExperimentOptions fine = options;
    if (options.name == "scatter") fine.name = "vector-gaussian";
    fine.points = resolution;
    OptimumCurve curve{.series = "optimum/" + series.observation};
    SeriesSettings range = series;
    if (options.name == "scatter") range.most_budget = 1;
    for (const double d : budgets_of(fine, range, world)) {
      const double leakage = optimum_at(world, d);
      if (!std::isfinite(leakage)) continue;
      curve.distortion.push_back(d);
      curve.leakage.push_back(leakage);
    }
    curves.push_back(std::move(curve));
  }
  return curves;
}

}  // namespace ppan
