#include "ppan/paper/experiment.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>
#include <limits>

#include "ppan/core/error.h"
#include "ppan/paper/score.h"
#include "ppan/paper/settings.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

ExperimentOptions small(std::string name) {
  ExperimentOptions options{.name = std::move(name), .preset = Preset::kPaper};
  options.epochs = 2;
  if (options.name != "scatter") options.points = 2;
  return options;
}

ExperimentOptions changed(std::string name, std::vector<ObservationKind> kinds) {
  ExperimentOptions options = small(std::move(name));
  options.world = experiment_entry(options.name).world;
  for (const ObservationKind kind : kinds) {
    ObservationOptions observation;
    observation.kind = kind;
    options.observations.push_back(observation);
  }
  return options;
}

TEST(Experiment, EveryOneRunsAndScoresAllItsPoints) {
  for (const ExperimentEntry& info : experiment_registry()) {
    SCOPED_TRACE(info.name);
    ExperimentOptions options = small(info.name);
    options.change.train_records = 1000;
    if (settings_of(options).test_records > 0) options.change.test_records = 1000;
    const ExperimentResult result = run_experiment(options);
    EXPECT_EQ(static_cast<Index>(result.points.size()), result.planned);
    EXPECT_FALSE(result.interrupted);
    for (const ExperimentPoint& p : result.points) {
      EXPECT_TRUE(std::isfinite(p.leakage.nats)) << p.series << ' ' << p.budget;
      EXPECT_GE(p.distortion, 0) << p.series;
      EXPECT_TRUE(p.leakage.bound == Bound::kExact || p.leakage.interval95) << p.leakage.method;
    }
  }
}

TEST(Experiment, SameSeedSameNumbersWhateverTheThreads) {
  ExperimentOptions options = small("scalar-gaussian");
  options.threads = 1;
  const ExperimentResult one = run_experiment(options);
  options.threads = 2;
  const ExperimentResult two = run_experiment(options);
  ASSERT_EQ(one.points.size(), two.points.size());
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    EXPECT_EQ(one.points[i].leakage.nats, two.points[i].leakage.nats);
    EXPECT_EQ(one.points[i].distortion, two.points[i].distortion);
  }
  options.seed = 2;
  EXPECT_NE(run_experiment(options).points[0].leakage.nats, one.points[0].leakage.nats);
}

TEST(Experiment, InterruptionKeepsFinishedPoints) {
  ExperimentOptions options = small("scalar-gaussian");
  options.threads = 1;
  std::atomic<int> finished = 0;
  ExperimentHooks hooks;
  hooks.finished = [&](Index, const ExperimentPoint&) { ++finished; };
  hooks.interrupted = [&] { return finished >= 1; };
  const ExperimentResult result = run_experiment(options, hooks);
  EXPECT_TRUE(result.interrupted);
  ASSERT_EQ(result.points.size(), 1U);
  EXPECT_EQ(result.points[0].plan, 0);
  EXPECT_EQ(result.planned, 4);
}

TEST(Experiment, EveryProblemIsListedAtOnce) {
  ExperimentOptions options{.name = "scalar-gausian"};
  options.points = 0;
  options.epochs = -1;
  options.threads = -2;
  try {
    run_experiment(options);
    FAIL() << "should have been refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'scalar-gaussian'"));
    EXPECT_THAT(error.what(), HasSubstr("points: 0"));
    EXPECT_THAT(error.what(), HasSubstr("epochs: -1"));
    EXPECT_THAT(error.what(), HasSubstr("threads: -2"));
  }
}

TEST(Experiment, AFamilyThatDoesNotFitIsRefused) {
  ExperimentOptions options{.name = "discrete"};
  options.mechanism = MechanismKind::kGaussian;
  EXPECT_THAT(options.check()[0].what, HasSubstr("finite or gumbel"));
  options.name = "vector-gaussian";
  EXPECT_TRUE(options.check().empty());
}

TEST(Experiment, PresetPaperIsAsPrinted) {
  ExperimentOptions options{.name = "scalar-gaussian", .preset = Preset::kPaper};
  const ExperimentSettings s = settings_of(options);
  EXPECT_EQ(s.train_records, 8000);
  EXPECT_EQ(s.test_records, 4000);
  ASSERT_EQ(s.series.size(), 2U);
  const TrainOptions& train = s.series[1].train;
  EXPECT_EQ(train.epochs, 250);
  EXPECT_EQ(train.batch, 200);
  EXPECT_EQ(train.adversary_steps, 5);
  EXPECT_EQ(train.game.budget.weight, 50);
  EXPECT_EQ(train.mechanism_rate.rate, 0.001);
  EXPECT_EQ(train.game.mechanism.hidden, (std::vector<Index>{5, 5}));
  EXPECT_EQ(s.series[1].most_budget, 0.8);
}

// The optimum is linear, its noise may fill as many components as are released, and X of several components
// is judged by full covariances.
TEST(Experiment, PresetBestOfGaussianWorldsIsLinearAndWatchesComponentsJointly) {
  ExperimentOptions options{.name = "gaussian"};
  options.world = experiment_entry("gaussian").world;
  options.world->rho = Vector<double>::Constant(12, 0.5);
  const GameOptions game = settings_of(options).series.front().train.game;
  EXPECT_TRUE(game.mechanism.hidden.empty());
  EXPECT_EQ(game.mechanism.noise_inputs, 12);
  EXPECT_TRUE(game.adversary.full_covariance);
  EXPECT_TRUE(game.adversary.skip);
  EXPECT_FALSE(game.adversary.hidden.empty());
  options.preset = Preset::kPaper;
  EXPECT_FALSE(settings_of(options).series.front().train.game.adversary.full_covariance);
}

TEST(Experiment, AHighOrderIsReachedFromTheLogLossAndStepsOfTheUserStay) {
  ExperimentOptions options{.name = "discrete"};
  EXPECT_EQ(settings_of(options).series.front().train.alpha_ramp, 0);
  options.alpha = 8;
  EXPECT_EQ(settings_of(options).series.front().train.alpha_ramp, 1);
  EXPECT_EQ(settings_of(options).series.front().train.adversary_steps, 5);
  options.change.adversary_steps = 2;
  EXPECT_EQ(settings_of(options).series.front().train.adversary_steps, 2);
}

TEST(Experiment, ScatterShowsThreeComponents) {
  const ExperimentResult result = run_experiment(small("scatter"));
  ASSERT_EQ(result.scatter.size(), 3U);
  EXPECT_EQ(result.scatter[0].rho, 0.85);
  EXPECT_EQ(result.scatter[2].rho, 0.07);
  for (const ScatterCloud& cloud : result.scatter) {
    EXPECT_EQ(cloud.y.size(), cloud.z.size());
    EXPECT_EQ(cloud.y.size(), 4000U);
    // With unit variances the slope of x on y is the correlation; 4,000 records: 5 standard errors of
    // 1/sqrt(4000), false-alarm rate 6e-7 a panel.
    EXPECT_NEAR(cloud.slope_x, cloud.rho, 0.08);
  }
}

// The Gaussian estimate puts every release of X on the bottleneck's optimal curve; quadrature does not.
TEST(Experiment, BottleneckScoreIsNotFooled) {
  ExperimentOptions options{.name = "bottleneck-gaussian"};
  options.points = 4;
  options.epochs = 3;
  options.mechanism = MechanismKind::kGaussian;
  for (const ExperimentPoint& p : run_experiment(options).points) {
    EXPECT_EQ(p.leakage.bound, Bound::kExact);
    EXPECT_GE(p.excess(), -1e-4);  // nothing beats the optimum
  }
}

// The paper's settings let the noise of a Gaussian mechanism all but vanish for some x; that must be scored,
// as a great leakage, and not end the run.
TEST(Experiment, ABottleneckWithHardlyAnyNoiseIsScored) {
  ExperimentOptions options{.name = "bottleneck-gaussian", .preset = Preset::kPaper};
  options.points = 3;
  options.epochs = 60;
  for (const ExperimentPoint& p : run_experiment(options).points) {
    EXPECT_TRUE(std::isfinite(p.leakage.nats));
    EXPECT_TRUE(std::isfinite(p.distortion));
    EXPECT_GE(p.excess(), -0.005);
  }
}

TEST(Experiment, OptimumCurvesFall) {
  for (const OptimumCurve& curve : optimum_curves({.name = "scalar-gaussian"}, 11)) {
    ASSERT_EQ(curve.leakage.size(), 11U);
    for (std::size_t i = 1; i < curve.leakage.size(); ++i) EXPECT_LE(curve.leakage[i], curve.leakage[i - 1]);
  }
}

// Noise of variance v on Y: the mechanism can only work on E[Y|W], and the optimum is the scalar
// proposition's at what is left of the budget.
TEST(Worlds, ANoisyGaussianIsAScalarProblemWithLessBudget) {
  WorldOptions world;
  world.kind = WorldKind::kGaussian;
  world.rho = Vector<double>::Constant(1, 0.8);
  ObservationOptions noisy;
  noisy.kind = ObservationKind::kNoisy;
  noisy.noise = 0.25;
  const World seen = make_world(world, noisy);
  EXPECT_NEAR(seen.least_budget, 0.2, 1e-12);  // v / (1 + v)
  EXPECT_NEAR(seen.ceiling, -0.5 * std::log(1 - 0.64 / 1.25), 1e-9);
  // U = E[Y|W] has variance 0.8 and correlation 0.8 / sqrt(1.25) to X.
  const double rho2 = 0.64 / 1.25;
  for (const double d : {0.2, 0.4, 0.7})
    EXPECT_NEAR(seen.optimum(d), -0.5 * std::log(1 - rho2 + rho2 * (d - 0.2) / 0.8), 1e-5) << d;
  EXPECT_NEAR(seen.optimum(1), 0, 1e-9);
}

TEST(Worlds, RateDistortionOfCorrelatedComponentsFillsTheirPrincipalOnes) {
  WorldOptions options{.kind = WorldKind::kGaussian};
  Matrix<double> y(2, 2);
  y << 1.0, 0.8, 0.8, 1.0;
  options.covariance = theory::GaussianCovariance{y, y, y};
  ObservationOptions observation;
  observation.kind = ObservationKind::kRateDistortion;
  const World world = make_world(options, observation);
  // Eigenvalues 1.8 and 0.2; below a distortion of 0.4 both components are told.
  EXPECT_NEAR(world.optimum(0.2), 0.5 * std::log(1.8 / 0.1) + 0.5 * std::log(0.2 / 0.1), 1e-12);
  EXPECT_NEAR(world.optimum(1.0), 0.5 * std::log(1.8 / 0.8), 1e-12);
  SeededRandom random(3);
  const Records<double> records = world.sample(20'000, random);
  const Matrix<double> found = records.useful.value.transpose() * records.useful.value / 20'000;
  EXPECT_LT((found - y).cwiseAbs().maxCoeff(), 0.05);
  EXPECT_EQ(records.observed.value, records.useful.value);
}

TEST(Worlds, ErasedFunnelHasItsKnownAnswer) {
  const ExperimentEntry& entry = experiment_entry("funnel-erasure");
  const World world = make_world(entry.world, entry.series.front().observation);
  ASSERT_TRUE(world.optimum);
  const double h = -0.3 * std::log(0.3) - 0.7 * std::log(0.7);
  // Telling that Y is erased costs nothing; the rest leaks nat by nat.
  EXPECT_NEAR(world.optimum(world.useful_entropy - h), 0, 1e-12);
  EXPECT_NEAR(world.optimum(world.least_budget), 0.7 * std::log(2), 1e-12);
  // A release that does so: P(z|w) over {told 0, told 1, hidden} with Y told half of the time.
  ExperimentPoint point;
  const Matrix<double> channel =
      (Matrix<double>(3, 4) << 0.5, 0, 0, 0.5, 0, 0.5, 0, 0.5, 0, 0, 1, 0).finished();
  score_channel(world, 1, channel, point);
  EXPECT_NEAR(point.leakage.nats, world.optimum(point.distortion), 1e-12);
}

TEST(Worlds, BadOnesAreRefusedWithEveryProblem) {
  ExperimentOptions options = changed("symmetric-pair", {ObservationKind::kNoisy, ObservationKind::kGiven});
  options.world->pair = {.m = 1, .p = 2};
  options.observations[0].flip = 3;
  options.alpha = 0.5;
  std::vector<std::string> fields;
  for (const Problem& p : options.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ::testing::UnorderedElementsAre("alpha", "m", "p", "flip", "observation"));
  ExperimentOptions fixed{.name = "discrete"};
  fixed.world = experiment_entry("symmetric-pair").world;
  EXPECT_THAT(fixed.check()[0].what, HasSubstr("world of its own"));
}

TEST(Worlds, UnknownNamesAreErrors) {
  EXPECT_EQ(find_experiment("discret"), nullptr);
  EXPECT_THROW(experiment_entry("discret"), Error);
  EXPECT_THROW(observation_kind("useful"), Error);
  EXPECT_THROW(settings_of({.name = "nothing"}), Error);
}

TEST(Experiment, LambdaAndTrainingByOption) {
  ExperimentOptions options = small("scalar-gaussian");
  options.points.reset();
  options.lambda = {0.5, 5};
  options.change.hidden = std::vector<Index>{7};
  options.change.adversary_steps = 2;
  options.change.train_records = 500;
  options.change.test_records = 1000;
  const ExperimentResult result = run_experiment(options);
  ASSERT_EQ(result.points.size(), 4U);
  for (const ExperimentPoint& p : result.points) {
    EXPECT_FALSE(p.has_budget());
    EXPECT_EQ(p.training->given.game.budget.form, BudgetForm::kWeighted);
    EXPECT_EQ(p.training->given.game.mechanism.hidden, std::vector<Index>{7});
    EXPECT_EQ(p.training->given.adversary_steps, 2);
    EXPECT_EQ(p.training->records, 500);
    EXPECT_EQ(p.leakage.samples, 1000);
    EXPECT_TRUE(point_warnings(p).empty());
  }
  EXPECT_EQ(result.points[1].weight, 5);
  options.budgets = {0.1};
  EXPECT_EQ(options.check().front().field, "lambda");
}

TEST(Experiment, MissedAndOverspentBudgetsAreSaid) {
  ExperimentPoint point{.budget = 0.5, .distortion = 0.52};
  point.price = 1;
  point.training_distortion = 0.5;
  EXPECT_THAT(point_warnings(point), ::testing::ElementsAre(HasSubstr("0.5200 is above its budget 0.5")));
  point.distortion = 0.505;
  EXPECT_TRUE(point_warnings(point).empty());
  point.training_distortion = 0.4;
  EXPECT_THAT(point_warnings(point), ::testing::ElementsAre(HasSubstr("unspent")));
  point.price = 0;  // nothing left to hide
  EXPECT_TRUE(point_warnings(point).empty());
  point.price = std::numeric_limits<double>::infinity();
  EXPECT_THAT(point_warnings(point), ::testing::ElementsAre(HasSubstr("no finite leakage")));
}

// One pair, 8,000 records: the standard error of the mean of squared errors is 1.58 % of the budget.
TEST(Experiment, ASampleOfAGaussianWorldIsSpentWithAMargin) {
  EXPECT_NEAR(gaussian_aim(1, 8000, 1), 0.988, 1e-12);  // six tenths of the 2 %
  EXPECT_NEAR(gaussian_aim(0.3, 8000, 1), 0.3 - (2.326 * 0.3 * std::sqrt(2.0 / 8000) - 0.01), 1e-12);
  EXPECT_EQ(gaussian_aim(0.2, 8000, 1), 0.2);  // 0.01 is more than two standard errors
  EXPECT_EQ(gaussian_aim(0, 8000, 1), 0);
  EXPECT_EQ(gaussian_aim(4.5, 8000, 5), 4.5);  // errors of several components average out
  EXPECT_LT(gaussian_aim(4.5, 2000, 5), 4.5);
  EXPECT_EQ(gaussian_aim(0.42, 8000, 1, 0.42), 0.42);  // most of the error is noise
  EXPECT_NEAR(gaussian_aim(1, 8000, 1, 1), 0.988, 1e-12);
}

// A release that keeps nothing was accepted for a budget that asks for something: of 24 seeds five ended so
// at the second of these budgets, the third among them.
TEST(Experiment, AGaussianBottleneckThatKeepsNothingStartsAnew) {
  ExperimentOptions options{.name = "bottleneck-gaussian"};
  options.seed = 3;
  options.budgets = {1.3177, 1.35};
  for (const ExperimentPoint& point : run_experiment(options).points) {
    EXPECT_NEAR(point.distortion, point.budget, 0.02 * point.budget);
    EXPECT_LE(point.excess(), 0.002);
  }
}

TEST(Worlds, OnePairGivenByItsCovarianceHasTheOptimumOfFullData) {
  WorldOptions world = experiment_entry("gaussian").world;
  world.covariance = theory::split_covariance((Matrix<double>(2, 2) << 4, 1.7 * 3, 1.7 * 3, 9).finished(), 1);
  ObservationOptions full;
  full.kind = ObservationKind::kFullData;
  const World seen = make_world(world, full);
  ASSERT_TRUE(seen.optimum);
  EXPECT_NEAR(seen.optimum(4.5), 0.0268236, 1e-6);  // rho 0.85, half of the variance of Y
}

TEST(Experiment, ConventionalStandsThereWithAndWithoutThePrior) {
  ExperimentOptions options{.name = "discrete"};
  options.points = 1;
  options.epochs = 2;
  std::vector<std::string> series;
  for (const PlannedPoint& p : planned_points(options)) series.push_back(p.series);
  EXPECT_THAT(series, ::testing::ElementsAre("ppan/useful-only", "conventional/useful-only",
                                             "conventional-prior/useful-only", "ppan/full-data",
                                             "conventional/full-data", "conventional-prior/full-data"));
}

// Two short games about other orders of leakage come near the closed form of that order. The bar is 1 % of
// the order's range; here twice that, because the trainings are short.
}  // namespace
}  // namespace ppan
