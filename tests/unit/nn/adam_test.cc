#include "ppan/nn/adam.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ppan {
namespace {

using ::testing::ElementsAre;

// Worked out with 30 digits: p = (0.5, -2), gradients (1, -0.01), (2, 0.03), (-3, 0), rate 0.1. The epsilon
// stands beside sqrt(v) before the correction of the bias, which shows in the second parameter.
template <typename Scalar>
void expect_known_sequence(double tolerance) {
  Adam<Scalar> adam;
  Vector<Scalar> p(2);
  p << Scalar(0.5), Scalar(-2);
  const double gradients[3][2] = {{1, -0.01}, {2, 0.03}, {-3, 0}};
  const double expected[3][2] = {{0.400000031622766602, -1.90000316217766333},
                                 {0.303481842691687493, -1.94942165129776973},
                                 {0.310141743686604908, -1.98762228642664722}};
  for (int t = 0; t < 3; ++t) {
    Vector<Scalar> g(2);
    g << static_cast<Scalar>(gradients[t][0]), static_cast<Scalar>(gradients[t][1]);
    adam.step(0.1, g, p);
    for (int i = 0; i < 2; ++i)
      EXPECT_NEAR(static_cast<double>(p[i]), expected[t][i], tolerance) << t << ", " << i;
  }
}

TEST(Adam, FollowsAKnownSequence) {
  expect_known_sequence<double>(1e-14);
  expect_known_sequence<float>(1e-6);
}

TEST(Adam, UsesItsOptions) {
  // Without memory (both betas 0) a step is rate * g / (|g| + epsilon).
  Adam<double> adam({.beta1 = 0, .beta2 = 0, .epsilon = 0.5});
  Vector<double> p = Vector<double>::Zero(2);
  Vector<double> g(2);
  g << 1.5, -0.5;
  adam.step(0.1, g, p);
  EXPECT_DOUBLE_EQ(p[0], -0.1 * 1.5 / 2);
  EXPECT_DOUBLE_EQ(p[1], 0.1 * 0.5 / 1);
}

TEST(Adam, FindsTheMinimumOfABadlyScaledBowl) {
  // f = 1/2 (x - 3)^2 + 500 (y + 1)^2
  Adam<double> adam;
  Vector<double> p = Vector<double>::Zero(2);
  for (int t = 0; t < 4000; ++t) {
    Vector<double> g(2);
    g << p[0] - 3, 1000 * (p[1] + 1);
    adam.step(0.01, g, p);
  }
  EXPECT_NEAR(p[0], 3, 1e-3);
  EXPECT_NEAR(p[1], -1, 1e-3);
}

TEST(RateSchedule, IsConstantUnlessAsked) {
  const RateSchedule schedule{.rate = 0.003};
  for (const double progress : {0.0, 0.3, 0.999, 1.0}) EXPECT_EQ(schedule.at(progress), 0.003);
}

TEST(RateSchedule, FallsAlongHalfACosine) {
  const RateSchedule schedule{.rate = 2, .decay_from = 0.5, .final_fraction = 0.1};
  EXPECT_EQ(schedule.at(0), 2);
  EXPECT_EQ(schedule.at(0.5), 2);
  EXPECT_NEAR(schedule.at(0.75), 2 * (0.1 + 0.9 * 0.5), 1e-12);
  EXPECT_NEAR(schedule.at(0.625), 2 * (0.1 + 0.9 * 0.5 * (1 + std::sqrt(0.5))), 1e-12);
  EXPECT_NEAR(schedule.at(1), 0.2, 1e-12);
  EXPECT_NEAR(schedule.at(1.5), 0.2, 1e-12);  // never below its end
  double last = schedule.at(0.5);
  for (double progress = 0.51; progress < 1; progress += 0.01) {
    EXPECT_LT(schedule.at(progress), last);
    last = schedule.at(progress);
  }
}

std::vector<std::string> fields(const Problems& problems) {
  std::vector<std::string> names;
  for (const Problem& p : problems) names.push_back(p.field);
  return names;
}

TEST(RateSchedule, ListsEveryProblem) {
  EXPECT_THAT(RateSchedule{}.check(), ::testing::IsEmpty());
  const RateSchedule bad{.rate = 0, .decay_from = 1.5, .final_fraction = -0.1};
  EXPECT_THAT(fields(bad.check()), ElementsAre("rate", "decay_from", "final_fraction"));
  EXPECT_EQ(bad.check()[1].what, "1.5 is not allowed; it must lie between 0 and 1");
  const RateSchedule not_a_number{.rate = std::numeric_limits<double>::quiet_NaN()};
  EXPECT_THAT(fields(not_a_number.check()), ElementsAre("rate"));
}

TEST(AdamOptions, ListsEveryProblem) {
  EXPECT_THAT(AdamOptions{}.check(), ::testing::IsEmpty());
  const AdamOptions bad{.beta1 = 1, .beta2 = -0.1, .epsilon = 0};
  EXPECT_THAT(fields(bad.check()), ElementsAre("beta1", "beta2", "epsilon"));
}

}  // namespace
}  // namespace ppan
