#include "ppan/game/budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ppan/core/random.h"
#include "support/gradient_check.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Vector<double> distortions() {
  Vector<double> d(4);
  d << 0.1, 0.9, 2.0, 0.4;  // mean 0.85
  return d;
}

TEST(Budget, PenaltiesByHand) {
  const Vector<double> d = distortions();
  Vector<double> slope;
  EXPECT_NEAR(Budget<double>({.form = BudgetForm::kWeighted, .weight = 3}).evaluate(d, slope), 3 * 0.85,
              1e-14);
  const Budget<double> record({.form = BudgetForm::kRecordMean, .limit = 0.5, .weight = 3});
  EXPECT_NEAR(record.evaluate(d, slope), 3 * (0.16 + 2.25) / 4, 1e-14);
  EXPECT_EQ(slope[0], 0);
  EXPECT_EQ(slope[3], 0);
  EXPECT_NEAR(slope[2], 2 * 3 * 1.5 / 4, 1e-14);
  const Budget<double> expected({.form = BudgetForm::kExpected, .limit = 0.5, .weight = 3});
  EXPECT_NEAR(expected.evaluate(d, slope), 3 * 0.35 * 0.35, 1e-14);
  const Budget<double> slack({.form = BudgetForm::kExpected, .limit = 0.9, .weight = 3});
  EXPECT_EQ(slack.evaluate(d, slope), 0);
  EXPECT_EQ(slope, Vector<double>::Zero(4));
}

// The paper's penalty stands inside the sum over z: two draws that are far off and near cost more than one of
// their mean.
TEST(Budget, APenaltyOnEachDrawByHand) {
  const Budget<double> printed({.form = BudgetForm::kRecord, .limit = 0.5, .weight = 3});
  EXPECT_TRUE(printed.by_draw());
  const Matrix<double> d = (Matrix<double>(1, 2) << 0, 2).finished();
  Matrix<double> value;
  Matrix<double> slope;
  printed.cost(d, value, slope);
  EXPECT_EQ(value, (Matrix<double>(1, 2) << 0, 3 * 1.5 * 1.5).finished());
  EXPECT_EQ(slope, (Matrix<double>(1, 2) << 0, 3 * 2 * 1.5).finished());
  EXPECT_EQ(printed.cost(2.0), 3 * 1.5 * 1.5);
  Vector<double> by_record;
  EXPECT_THROW(printed.evaluate(distortions(), by_record), Error);
  const Budget<double> averaged({.form = BudgetForm::kRecordMean, .limit = 0.5, .weight = 3});
  EXPECT_FALSE(averaged.by_draw());
  EXPECT_EQ(averaged.evaluate(Vector<double>::Ones(1), by_record), 3 * 0.25);  // of the mean, 1
}

TEST(Budget, DualPenaltyByHand) {
  const Vector<double> d = distortions();
  Vector<double> slope;
  Budget<double> budget({.form = BudgetForm::kDual, .limit = 0.5, .weight = 2, .dual_rate = 0.1});
  // Multiplier 0, mean above the limit by 0.35: force 0.7, penalty 0.49 / 4.
  EXPECT_NEAR(budget.evaluate(d, slope), 0.49 / 4, 1e-14);
  EXPECT_NEAR(slope[0], 0.7 / 4, 1e-14);
  budget.update(2.5);
  EXPECT_NEAR(budget.multiplier(), 0.2, 1e-14);
  // Force 0.9, penalty (0.81 - 0.04) / 4.
  EXPECT_NEAR(budget.evaluate(d, slope), 0.77 / 4, 1e-14);
  EXPECT_NEAR(slope[3], 0.9 / 4, 1e-14);
  budget.update(0.25);
  EXPECT_NEAR(budget.multiplier(), 0.175, 1e-14);
  budget.update(-10);
  EXPECT_EQ(budget.multiplier(), 0);
}

TEST(Budget, ADualBudgetMayPriceWhatIsBelowItsLimit) {
  const Vector<double> d = distortions();
  Vector<double> slope;
  const Budget<double> slack(
      {.form = BudgetForm::kDual, .limit = 2, .weight = 2, .dual_rate = 0.1, .idle_price = 0.3});
  EXPECT_NEAR(slack.evaluate(d, slope), 0.3 * 0.85, 1e-14);
  EXPECT_NEAR(slope[1], 0.3 / 4, 1e-14);
  const Budget<double> tight(
      {.form = BudgetForm::kDual, .limit = 0.5, .weight = 2, .dual_rate = 0.1, .idle_price = 0.3});
  EXPECT_NEAR(tight.evaluate(d, slope), 0.49 / 4 + 0.3 * 0.85, 1e-14);
  EXPECT_NEAR(slope[0], (0.7 + 0.3) / 4, 1e-14);
  EXPECT_THROW(Budget<double>({.form = BudgetForm::kDual, .idle_price = -1}), Error);
}

TEST(Budget, DualPenaltyWithMemoryByHand) {
  const Vector<double> d = distortions();  // mean 0.85
  Vector<double> slope;
  Budget<double> budget({.form = BudgetForm::kDual,
                         .limit = 0.5,
                         .weight = 2,
                         .dual_rate = 0.1,
                         .memory = 0.5,
                         .unit = 2,
                         .settle = true});
  // Nothing is known yet: no force, whatever this batch says.
  EXPECT_EQ(budget.evaluate(d, slope), 0);
  EXPECT_EQ(slope, Vector<double>::Zero(4));
  budget.update(1.5);  // running mean 1.5, error (1.5 - 0.5) / 2
  EXPECT_NEAR(budget.multiplier(), 0.05, 1e-14);
  EXPECT_NEAR(budget.evaluate(d, slope), (0.05 + 2 * 0.5) * 0.35, 1e-14);
  EXPECT_NEAR(slope[1], 1.05 / 4, 1e-14);
  budget.update(20,
                0.5);  // two steps, a window of one: running mean 20; the error is capped at 1, eta halved
  EXPECT_NEAR(budget.multiplier(), 0.1, 1e-14);
  EXPECT_NEAR(budget.evaluate(d, slope), 2.1 * 0.35, 1e-14);
  budget.update(0, 1);
  budget.update(0, 1);  // windows of 1.5 and 2: running mean 20 / 3, then 10 / 3
  EXPECT_NEAR(budget.running().mean, 10.0 / 3, 1e-13);
  EXPECT_EQ(budget.running().steps, 4);
}

// What a mini-batch shows of the distortion is noisy. Round a budget that is met, with a low price of
// distortion, the force must on average be that price; the hinge at each batch by itself makes it many times
// as large, and the budget is not spent.
TEST(Budget, MemoryKeepsNoiseOutOfTheForce) {
  constexpr double kPrice = 0.03;
  const auto mean_force = [&](double memory) {
    Budget<double> budget(
        {.form = BudgetForm::kDual, .limit = 1, .weight = 10, .dual_rate = 1e-12, .memory = memory});
    budget.set_multiplier(kPrice);
    SeededRandom random(7);
    Matrix<double> noise(20000, 1);
    fill_normal(random, noise);
    Vector<double> slope;
    double sum = 0;
    for (int t = 0; t < 20000; ++t) {
      const Vector<double> d = Vector<double>::Constant(1, 1 + 0.05 * noise(t, 0));
      budget.evaluate(d, slope);
      if (t >= 10000) sum += slope[0] / 10000;
      budget.update(d[0]);
    }
    return sum;
  };
  EXPECT_GT(mean_force(0), 5 * kPrice);  // E max(0, 0.03 + 0.5 u) = 0.21
  // The mean of 10,000 batches has a noise of 0.0005, times 10: three times that on either side.
  EXPECT_NEAR(mean_force(0.02), kPrice, 0.015);
}

// As DualMeetsTheLimit below, at a price of 0.05 and with noise of 0.1 on every distortion seen.
TEST(Budget, MemoryMeetsALooseLimit) {
  const auto settled = [](double memory) {
    Budget<double> budget({.form = BudgetForm::kDual,
                           .limit = 1.95,
                           .weight = 5,
                           .dual_rate = 0.02,
                           .memory = memory,
                           .settle = true});
    SeededRandom random(8);
    Matrix<double> noise(20000, 1);
    fill_normal(random, noise);
    Vector<double> seen(1);
    Vector<double> slope;
    double d = 2;
    for (int t = 0; t < 20000; ++t) {
      const double share = 1 - t / 20000.0;
      seen[0] = d + 0.1 * noise(t, 0);
      budget.evaluate(seen, slope);
      d -= 0.02 * share * (d - 2 + slope[0]);
      budget.update(seen[0], share);
    }
    return d;
  };
  EXPECT_LT(settled(0), 1.92);
  EXPECT_NEAR(settled(0.02), 1.95, 0.01);
}

TEST(Budget, OnlyTheDualMultiplierMoves) {
  for (const auto form : {BudgetForm::kWeighted, BudgetForm::kRecordMean, BudgetForm::kExpected}) {
    Budget<float> budget({.form = form, .limit = 0.1});
    budget.update(5);
    EXPECT_EQ(budget.multiplier(), 0) << to_string(form);
  }
}

// Dual ascent on  min_d 1/2 (d - 2)^2  with d <= 0.5: the multiplier goes to 1.5 and d to the limit, where a
// quadratic penalty of the same strength would stay above it at (2 + 2 * 0.5) / 3 = 1.
TEST(Budget, DualMeetsTheLimit) {
  Budget<double> budget({.form = BudgetForm::kDual, .limit = 0.5, .weight = 1, .dual_rate = 0.1});
  Vector<double> d = Vector<double>::Constant(1, 2.0);
  Vector<double> slope;
  for (int t = 0; t < 3000; ++t) {
    budget.evaluate(d, slope);
    d[0] -= 0.05 * (d[0] - 2 + slope[0]);
    budget.update(d[0]);
  }
  EXPECT_NEAR(d[0], 0.5, 1e-6);
  EXPECT_NEAR(budget.multiplier(), 1.5, 1e-6);
}

TEST(Budget, SlopesMatchDifferences) {
  for (const auto form :
       {BudgetForm::kWeighted, BudgetForm::kRecordMean, BudgetForm::kExpected, BudgetForm::kDual}) {
    for (const double limit : {0.25, 0.8, 1.5}) {  // below, just below and above the mean of 0.85
      for (const double earlier : {0.0, 3.0}) {    // moves a dual multiplier away from 0
        for (const double memory : {0.0, 0.5}) {   // of a dual budget
          SCOPED_TRACE(std::string(to_string(form)) + ", limit " + std::to_string(limit));
          Budget<double> budget(
              {.form = form, .limit = limit, .weight = 1.7, .dual_rate = 0.5, .memory = memory});
          budget.update(earlier);
          Vector<double> slope;
          Vector<double> unused;
          budget.evaluate(distortions(), slope);
          testing::expect_gradient_matches(
              [&](const Vector<double>& d) { return budget.evaluate(d, unused); }, slope, distortions());
        }
      }
    }
  }
}

TEST(Budget, NamesGoThereAndBack) {
  EXPECT_THAT(budget_form_names(), ElementsAre("weighted", "record", "record-mean", "expected", "dual"));
  for (const std::string& name : budget_form_names()) EXPECT_EQ(to_string(budget_form(name)), name);
  try {
    budget_form("expcted");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_STREQ(error.what(), "unknown budget form 'expcted' (did you mean 'expected'?)");
  }
  try {
    budget_form("zzz");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unknown budget form 'zzz' (known: weighted, record, record-mean, expected, dual)");
  }
}

TEST(Budget, EveryProblemIsListed) {
  const BudgetOptions bad{
      .form = BudgetForm::kDual, .limit = -1, .weight = 0, .dual_rate = -0.5, .memory = 2, .unit = 0};
  std::vector<std::string> fields;
  for (const Problem& p : bad.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ElementsAre("limit", "weight", "dual_rate", "memory", "unit"));
  EXPECT_THROW(Budget<float>{bad}, Error);
  // A weighted budget has no limit, so its value does not matter.
  EXPECT_TRUE((BudgetOptions{.form = BudgetForm::kWeighted, .limit = -1}).check().empty());
}

}  // namespace
}  // namespace ppan
