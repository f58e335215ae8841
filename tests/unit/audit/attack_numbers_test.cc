#include "ppan/audit/attack_numbers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ppan/core/random.h"

namespace ppan {
namespace {

// log probabilities of two levels from P(x = 1).
Matrix<float> beliefs(const std::vector<float>& one) {
  Matrix<float> out(static_cast<Index>(one.size()), 2);
  for (std::size_t i = 0; i < one.size(); ++i) {
    out(static_cast<Index>(i), 0) = std::log(1 - one[i]);
    out(static_cast<Index>(i), 1) = std::log(one[i]);
  }
  return out;
}

TEST(AttackNumbers, NormalQuantile) {
  EXPECT_NEAR(normal_quantile(0.975), 1.959963984540054, 1e-12);
  EXPECT_NEAR(normal_quantile(0.5), 0, 1e-12);
  EXPECT_NEAR(normal_quantile(1e-6), -4.753424308822899, 1e-9);
  EXPECT_GT(normal_multiple(10), normal_multiple(1));
}

// Wilson's interval for 8 of 10, from E. B. Wilson's formula evaluated by hand: (0.4902, 0.9433).
TEST(AttackNumbers, WilsonInterval) {
  const Rate rate = share(8, 10);
  EXPECT_DOUBLE_EQ(rate.value, 0.8);
  EXPECT_NEAR(rate.interval95.low, 0.4902, 1e-4);
  EXPECT_NEAR(rate.interval95.high, 0.9433, 1e-4);
  EXPECT_EQ(share(0, 5).interval95.low, 0);
}

TEST(AttackNumbers, AreaUnderRocCountsPairs) {
  // Five against five; of the 25 pairs 23 are in order, one tied: (23 + 0.5) / 25.
  const Matrix<float> q = beliefs({0.9F, 0.8F, 0.7F, 0.6F, 0.35F, 0.5F, 0.35F, 0.3F, 0.2F, 0.1F});
  const Symbols x{1, 1, 1, 1, 1, 0, 0, 0, 0, 0};
  EXPECT_NEAR(area_under_roc(q, x, 2).value, 23.5 / 25, 1e-9);
  EXPECT_NEAR(accuracy(q, x).value, 0.9, 1e-9);
  EXPECT_NEAR(balanced_accuracy(q, x, 2).value, 0.9, 1e-9);
}

// Equal rows are rounded differently by their place in a batch; that ranks nobody, here in perfect order.
// Twice as far apart as what counts as rounding, and with an impossible level, rows are ranked.
TEST(AttackNumbers, RoundingRanksNobody) {
  Matrix<float> q = beliefs(std::vector<float>(400, 0.3F));
  Symbols x;
  for (Index i = 0; i < q.rows(); ++i) {
    x.push_back(i % 2 == 1 ? 1 : 0);
    if (i % 2 == 1) q(i, 0) -= 3e-7F;
  }
  EXPECT_EQ(area_under_roc(q, x, 2).value, 0.5);
  for (Index i = 1; i < q.rows(); i += 2) q(i, 0) = i == 1 ? -INFINITY : q(0, 0) - 3e-6F;
  EXPECT_EQ(area_under_roc(q, x, 2).value, 1);
}

// Scores that know nothing: the interval misses 0.5 in 5 % of the cases; of 100, more than 14 with
// probability 1e-4.
TEST(AttackNumbers, AreaUnderRocCoversOneHalf) {
  int misses = 0;
  SeededRandom random(3);
  for (int trial = 0; trial < 100; ++trial) {
    std::vector<float> one;
    Symbols x;
    for (int i = 0; i < 400; ++i) {
      one.push_back(0.01F + 0.98F * static_cast<float>(random.uniform()));
      x.push_back(static_cast<std::int32_t>(random.index(2)));
    }
    const Rate auc = area_under_roc(beliefs(one), x, 2);
    misses += auc.interval95.low > 0.5 || auc.interval95.high < 0.5 ? 1 : 0;
  }
  EXPECT_LE(misses, 14);
  EXPECT_GE(misses, 1);  // an interval that never misses is too wide: probability of 0 misses 0.006
}

TEST(AttackNumbers, LowFalsePositiveFindsTheFewThatAreKnown) {
  // A level of which one row in ten is known for certain, the rest like all others.
  std::vector<float> one;
  Symbols x;
  SeededRandom random(4);
  for (int i = 0; i < 4000; ++i) {
    const std::int32_t truth = i % 2;
    x.push_back(truth);
    one.push_back(truth == 1 && i % 20 == 1 ? 0.99F : 0.4F + 0.2F * static_cast<float>(random.uniform()));
  }
  const auto rates = low_false_positive(beliefs(one), x, 2);
  ASSERT_EQ(rates.size(), 1U);  // at 0.1 % only two rows of the other level would pass
  EXPECT_EQ(rates[0].level, 1);
  EXPECT_NEAR(rates[0].true_positive_rate.value, 0.11, 0.02);
}

TEST(AttackNumbers, LowerBoundIsClippedToWhatThereIs) {
  const Vector<double> negative = Vector<double>::Constant(10, -0.3);
  EXPECT_EQ(lower_bound(negative, 0.5, "m").nats, 0);
  Vector<double> worse(4);  // than knowing nothing: the doubt of four rows stays
  worse << -0.3, -0.1, -0.2, -0.4;
  EXPECT_EQ(lower_bound(worse, 0.5, "m").interval95->low, 0);
  EXPECT_NEAR(lower_bound(worse, 0.5, "m").interval95->high, mean_rate(worse).interval95.high + 0.25, 1e-12);
  const Vector<double> large = Vector<double>::Constant(10, 2);
  const Estimate e = lower_bound(large, 0.5, "m");
  EXPECT_EQ(e.nats, 0.5);
  EXPECT_EQ(e.interval95->high, 0.5);
  EXPECT_EQ(e.bound, Bound::kLower);
}

// Every row five times over says nothing new: intervals by unit are those of the rows once.
TEST(AttackNumbers, RepeatedRowsOfOneUnitCountOnce) {
  constexpr Index kUnits = 60;
  constexpr Index kTimes = 5;
  SeededRandom random(5);
  Matrix<double> score(kUnits, 1);
  fill_normal(random, score);
  Symbols x;
  Units unit;
  Symbols x_repeated;
  Matrix<float> log_probability(kUnits, 2);
  Matrix<float> repeated(kUnits * kTimes, 2);
  Vector<double> values(kUnits * kTimes);
  for (Index i = 0; i < kUnits; ++i) {
    x.push_back(static_cast<std::int32_t>(random.index(2)));
    const double p = 1 / (1 + std::exp(-score(i, 0) - x.back()));
    log_probability.row(i) << static_cast<float>(std::log(1 - p)), static_cast<float>(std::log(p));
    for (Index k = 0; k < kTimes; ++k) {
      unit.push_back(static_cast<std::int32_t>(i));
      x_repeated.push_back(x.back());
      repeated.row(i * kTimes + k) = log_probability.row(i);
      values[i * kTimes + k] = score(i, 0);
    }
  }
  const auto expect_same = [](const Rate& once, const Rate& many, double tolerance) {
    EXPECT_NEAR(once.value, many.value, 1e-12);
    EXPECT_NEAR(once.interval95.low, many.interval95.low, tolerance);
    EXPECT_NEAR(once.interval95.high, many.interval95.high, tolerance);
  };
  expect_same(mean_rate(score.col(0)), mean_rate(values, unit), 1e-12);
  EXPECT_LT(mean_rate(values).interval95.high, mean_rate(values, unit).interval95.high - 0.1);  // the fault
  // The others differ by the n - 1 of a variance.
  expect_same(accuracy(log_probability, x), accuracy(repeated, x_repeated, unit), 0.005);
  expect_same(balanced_accuracy(log_probability, x, 2), balanced_accuracy(repeated, x_repeated, 2, unit),
              0.01);
  expect_same(area_under_roc(log_probability, x, 2), area_under_roc(repeated, x_repeated, 2, unit), 0.005);
  const Estimate bound = lower_bound(values.array() + 2, 100, "test", unit);
  EXPECT_NEAR(bound.interval95->high, 2 + mean_rate(score.col(0)).interval95.high, 1e-12);
}

TEST(AttackNumbers, EntropyOfShares) {
  EXPECT_NEAR(empirical_entropy({0, 1, 0, 1}, 2), std::log(2.0), 1e-12);
  EXPECT_NEAR(empirical_entropy({1, 1, 1}, 3), 0, 1e-12);
}

}  // namespace
}  // namespace ppan
