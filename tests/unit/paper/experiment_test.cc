#include "ppan/paper/experiment.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cmath>

#include "ppan/core/error.h"
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

TEST(Experiment, EveryOneRunsAndScoresAllItsPoints) {
  for (const ExperimentInfo& info : experiments()) {
    SCOPED_TRACE(info.name);
    const ExperimentResult result = run_experiment(small(info.name));
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

TEST(Experiment, ScatterShowsThreeComponents) {
  const ExperimentResult result = run_experiment(small("scatter"));
  ASSERT_EQ(result.scatter.size(), 3U);
  EXPECT_EQ(result.scatter[0].rho, 0.85);
  EXPECT_EQ(result.scatter[2].rho, 0.07);
  for (const ScatterCloud& cloud : result.scatter) {
    EXPECT_EQ(cloud.y.size(), cloud.z.size());
    // With unit variances the slope of x on y is the correlation; 500 records: 5 standard errors of
    // 1/sqrt(500), false-alarm rate 6e-7 a panel.
    EXPECT_NEAR(cloud.slope_x, cloud.rho, 0.23);
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

}  // namespace
}  // namespace ppan
