#include "ppan/theory/rate_distortion.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/random.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;

const GaussianSource kPaper{(Vector<double>(5) << 0.47, 0.24, 0.85, 0.07, 0.66).finished()};

TEST(RateDistortion, KnownValues) {
  // mpmath, 30 digits, the level found by bisection.
  EXPECT_NEAR(least_rate(kPaper, 0.1).rate, 7.07034083841517, 1e-13);
  EXPECT_NEAR(least_rate(kPaper, 0.5).rate, 3.08044220614003, 1e-13);
  EXPECT_NEAR(least_rate(kPaper, 1).rate, 1.53764345122064, 1e-13);
  EXPECT_NEAR(least_rate(kPaper, 2).rate, 0.20527913508506, 1e-13);
  EXPECT_NEAR(least_rate(kPaper, 1).level, 0.2325, 1e-14);
  EXPECT_NEAR(least_rate(kPaper, 2.29).rate, 0, 1e-14);
  EXPECT_EQ(least_rate(kPaper, 3).rate, 0);
  EXPECT_TRUE(std::isinf(least_rate(kPaper, 0).rate));
  // One component: 1/2 log(s/D).
  EXPECT_NEAR(least_rate({Vector<double>::Constant(1, 4.0)}, 1).rate, 0.5 * std::log(4.0), 1e-15);
}

TEST(RateDistortion, SpendsTheBudgetAndNoAllocationDoesBetter) {
  SeededRandom random(4);
  for (const double budget : {0.05, 0.3, 1.2, 2.1}) {
    const RateDistortionOptimum optimum = least_rate(kPaper, budget);
    EXPECT_NEAR(optimum.component_distortion.sum(), budget, 1e-13);
    for (int trial = 0; trial < 2000; ++trial) {
      Vector<double> share(5);
      for (double& s : share) s = 0.01 + random.uniform();
      if (trial % 2 == 0) share = optimum.component_distortion + 0.02 * share;
      share = (share * (budget / share.sum())).cwiseMin(kPaper.variances).eval();
      ASSERT_GE(0.5 * (kPaper.variances.array() / share.array()).log().sum(), optimum.rate - 1e-12);
    }
  }
}

TEST(RateDistortion, CurveObeysTheLaws) {
  std::vector<double> rate;
  for (int i = 0; i <= 230; ++i) rate.push_back(least_rate(kPaper, i / 100.0).rate);
  EXPECT_THAT(ppan::testing::broken_properties(rate, -1), IsEmpty());
  EXPECT_EQ(rate.back(), 0);
}

TEST(RateDistortion, ListsEveryProblem) {
  EXPECT_THAT((GaussianSource{(Vector<double>(2) << 0, -1).finished()}.check()), ::testing::SizeIs(2));
  EXPECT_THAT((GaussianSource{}.check()), ::testing::SizeIs(1));
  EXPECT_THROW(least_rate(kPaper, -1), Error);
}

}  // namespace
}  // namespace ppan::theory
