// The quality bars at a size that fits the tests: preset best, one seed, a few points each. The whole of it,
// three seeds and 20 points: script/bench quality. Deterministic for a seed on one machine, so nothing here
// is a matter of luck.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "ppan/paper/experiment.h"

namespace ppan {
namespace {

struct Bars {
  std::string experiment;
  std::string series;
  double mean;
  double most;
  int points;
  std::optional<MechanismKind> mechanism{};
};

// One run trains every series of an experiment, so bars of the same experiment share it.
const std::vector<ExperimentPoint>& points_of(const Bars& bars) {
  static std::map<std::tuple<std::string, int, std::optional<MechanismKind>>, std::vector<ExperimentPoint>>
      runs;
  const auto [run, missing] = runs.try_emplace({bars.experiment, bars.points, bars.mechanism});
  if (missing) {
    ExperimentOptions options{.name = bars.experiment};
    options.points = bars.points;
    options.mechanism = bars.mechanism;
    run->second = run_experiment(options).points;
  }
  return run->second;
}

class Quality : public ::testing::TestWithParam<Bars> {};

TEST_P(Quality, ExcessIsWithinItsBars) {
  const Bars& bars = GetParam();
  double sum = 0;
  double most = -1;
  int count = 0;
  for (const ExperimentPoint& p : points_of(bars)) {
    if (p.series != bars.series) continue;
    sum += p.excess();
    most = std::max(most, p.excess());
    ++count;
  }
  ASSERT_EQ(count, bars.points);
  EXPECT_LE(sum / count, bars.mean);
  EXPECT_LE(most, bars.most);
  EXPECT_GE(sum / count, -0.005) << "below the optimum: the estimate is fooled";
}

INSTANTIATE_TEST_SUITE_P(Best, Quality,
                         ::testing::Values(Bars{"discrete", "ppan/useful-only", 0.001, 0.004, 6},
                                           Bars{"discrete", "ppan/full-data", 0.008, 0.02, 6},
                                           Bars{"scalar-gaussian", "ppan/useful-only", 0.008, 0.03, 4},
                                           Bars{"scalar-gaussian", "ppan/full-data", 0.008, 0.03, 4},
                                           Bars{"vector-gaussian", "ppan/useful-only", 0.004, 0.012, 4},
                                           Bars{"rate-distortion", "ppan/rate-distortion", 0.01, 0.05, 4},
                                           Bars{"scalar-gaussian", "ppan/useful-only", 0.005, 0.02, 4,
                                                MechanismKind::kNoisyCode},
                                           Bars{"bottleneck-gaussian", "ppan/bottleneck", 0.01, 0.03, 4},
                                           Bars{"bottleneck-binary", "ppan/bottleneck", 0.01, 0.03, 6}),
                         [](const auto& bars) {
                           std::string name = bars.param.experiment + bars.param.series.substr(5);
                           if (bars.param.mechanism) name += std::string(to_string(*bars.param.mechanism));
                           std::erase_if(
                               name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
                           return name;
                         });

// Budget 0 of the discrete experiment is met on the true distribution; a squared penalty overspent it by
// 0.017.
TEST(DiscreteQuality, NothingIsSpentWhereNothingMayBe) {
  ExperimentOptions options{.name = "discrete"};
  options.budgets = {0.0};
  for (const ExperimentPoint& p : run_experiment(options).points) {
    if (!p.training) continue;
    EXPECT_LE(p.distortion, 0.01) << p.series;
  }
}

// Where all can be hidden a game of the highest order must not circle round what hides it.
TEST(AlphaQuality, BayesVulnerabilityIsHiddenWhereItCanBe) {
  ExperimentOptions options{.name = "symmetric-pair"};
  options.alpha = std::numeric_limits<double>::infinity();
  options.budgets = {0.2, 0.8};
  options.observations.resize(1);
  options.observations[0].kind = ObservationKind::kFullData;
  for (const ExperimentPoint& p : run_experiment(options).points) {
    // Of log 6, which leaks where nothing is distorted.
    EXPECT_LE(p.excess(), 0.03 * std::log(6)) << p.budget;
  }
}

// With the dual form the distortion on the training data meets the budget wherever it binds: where the
// optimum spends all of it, not where a multiplier that may itself be wrong says so.
struct DualCase {
  std::string experiment;
  int points;
  int binding;  // of all its series
};

class DualBudget : public ::testing::TestWithParam<DualCase> {};

TEST_P(DualBudget, IsMetOnTheTrainingData) {
  ExperimentOptions options{.name = GetParam().experiment};
  options.points = GetParam().points;
  options.budget_form = BudgetForm::kDual;
  int binding = 0;
  for (const ExperimentPoint& p : run_experiment(options).points) {
    if (!p.training || !p.binding()) continue;
    ++binding;
    EXPECT_NEAR(*p.training_distortion, p.budget, std::max(0.01, 0.02 * p.budget)) << p.series;
  }
  EXPECT_EQ(binding, GetParam().binding);
}

INSTANTIATE_TEST_SUITE_P(Best, DualBudget,
                         ::testing::Values(DualCase{"scalar-gaussian", 5, 8},
                                           // 3.75 and 4.5 cost 0.03 and 0.002 nats a unit
                                           DualCase{"vector-gaussian", 7, 7},
                                           DualCase{"rate-distortion", 4, 2},
                                           DualCase{"bottleneck-gaussian", 4, 2},
                                           DualCase{"bottleneck-binary", 4, 3}, DualCase{"discrete", 4, 5}),
                         [](const auto& each) {
                           std::string name = each.param.experiment;
                           std::erase(name, '-');
                           return name;
                         });

// The closed forms say which budgets bind: not the total variance 2.29 or more, and not 0, which takes an
// infinite rate.
TEST(BindingBudget, BindsWhereTheOptimumSpendsIt) {
  ExperimentOptions options{.name = "rate-distortion"};
  options.points = 3;
  options.epochs = 1;
  const std::vector<ExperimentPoint> points = run_experiment(options).points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_TRUE(std::isinf(points[0].price));
  EXPECT_FALSE(points[0].binding());
  EXPECT_TRUE(points[1].binding());  // 1.25
  EXPECT_EQ(points[2].price, 0);
  EXPECT_FALSE(points[2].binding());
}

}  // namespace
}  // namespace ppan
