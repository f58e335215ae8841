// The quality bars at a size that fits the tests: preset best, one seed, a few points each. The whole of it, three
// seeds and 20 points: script/bench quality. Deterministic for a seed on one machine, so nothing here is a matter
// of luck.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

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

class Quality : public ::testing::TestWithParam<Bars> {};

TEST_P(Quality, ExcessIsWithinItsBars) {
  const Bars& bars = GetParam();
  ExperimentOptions options{.name = bars.experiment};
  options.points = bars.points;
  options.mechanism = bars.mechanism;
  double sum = 0;
  double most = -1;
  int count = 0;
  for (const ExperimentPoint& p : run_experiment(options).points) {
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

INSTANTIATE_TEST_SUITE_P(
    Best, Quality,
    ::testing::Values(Bars{"discrete", "ppan/useful-only", 0.002, 0.01, 6},
                      Bars{"discrete", "ppan/full-data", 0.018, 0.03, 6},
                      Bars{"scalar-gaussian", "ppan/useful-only", 0.008, 0.03, 4},
                      Bars{"scalar-gaussian", "ppan/full-data", 0.008, 0.03, 4},
                      Bars{"vector-gaussian", "ppan/useful-only", 0.012, 0.035, 4},
                      Bars{"rate-distortion", "ppan/rate-distortion", 0.05, 0.15, 4},
                      Bars{"scalar-gaussian", "ppan/useful-only", 0.005, 0.02, 4, MechanismKind::kNoisyCode},
                      Bars{"bottleneck-gaussian", "ppan/bottleneck", 0.01, 0.03, 4},
                      Bars{"bottleneck-binary", "ppan/bottleneck", 0.01, 0.03, 6}),
    [](const auto& bars) {
      std::string name = bars.param.experiment + bars.param.series.substr(5);
      if (bars.param.mechanism) name += std::string(to_string(*bars.param.mechanism));
      std::erase_if(name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; });
      return name;
    });

// With the dual form the distortion on the training data meets the budget wherever it binds.
TEST(DualBudget, IsMetOnTheTrainingData) {
  ExperimentOptions options{.name = "scalar-gaussian"};
  options.points = 5;
  options.budget_form = BudgetForm::kDual;
  int binding = 0;
  for (const ExperimentPoint& p : run_experiment(options).points) {
    if (p.series != "ppan/useful-only" || p.training->epochs.back().multiplier <= 0.01) continue;
    ++binding;
    EXPECT_NEAR(*p.training_distortion, p.budget, std::max(0.01, 0.02 * p.budget));
  }
  EXPECT_GE(binding, 3);
}

}  // namespace
}  // namespace ppan
