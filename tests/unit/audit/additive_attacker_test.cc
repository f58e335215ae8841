#include <gtest/gtest.h>

#include <cmath>

#include "ppan/audit/attacker.h"
#include "ppan/audit/level_indicators.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

TEST(LevelIndicators, OneStepForEachValueOrEighthOfTheRows) {
  Matrix<float> rows(100, 3);
  for (Index i = 0; i < 100; ++i)
    rows.row(i) << static_cast<float>(i), static_cast<float>(i % 3), static_cast<float>(i % 2);
  const LevelIndicators steps(rows, {0, 1, 2}, 100);
  EXPECT_EQ(steps.width(), (1 + 8) + (1 + 3) + 1);
  const Matrix<float> out = steps.apply(rows);
  EXPECT_EQ(out.col(0), rows.col(0));
  EXPECT_EQ(out.middleCols(1, 8).rowwise().sum(), Vector<float>::Ones(100));
  for (Index k = 0; k < 8; ++k) EXPECT_NEAR(out.col(1 + k).sum(), 12.5, 1) << k;
  EXPECT_EQ(out.col(9), rows.col(1));
  EXPECT_EQ(out.col(11), rows.col(1).unaryExpr([](float v) { return v == 1.0F ? 1.0F : 0.0F; }));
  EXPECT_EQ(out.col(13), rows.col(2));
  // What it was not made of falls into the outermost steps.
  const Matrix<float> far = steps.apply(Matrix<float>::Constant(1, 3, 1e9F));
  EXPECT_EQ(far(0, 8), 1);
  EXPECT_EQ(LevelIndicators(rows, {0, 1, 2}, 10).width(), (1 + 4) + (1 + 3) + 1);
  EXPECT_EQ(LevelIndicators(rows, {0, 1, 2}, 9).width(), 3);
}

constexpr Index kColumns = 25;

// 25 answers of six values, each of which says a little, in no order of the values.
struct Answers {
  Matrix<double> effect{6, kColumns};
  SeededRandom random{11};

  Answers() {
    fill_normal(random, effect);
    effect *= 0.35;
  }
  AttackRows draw(Index count, double& truth) {
    AttackRows rows;
    rows.data.resize(count, kColumns);
    truth = 0;
    for (Index i = 0; i < count; ++i) {
      double score = 0;
      for (Index c = 0; c < kColumns; ++c) {
        const auto value = static_cast<Index>(random.index(6));
        rows.data(i, c) = (static_cast<float>(value) - 2.5F) / 1.7F;
        score += effect(value, c);
      }
      const double p = 1 / (1 + std::exp(-score));
      rows.x.push_back(random.uniform() < p ? 1 : 0);
      truth += (std::log(2.0) + p * std::log(p) + (1 - p) * std::log1p(-p)) / static_cast<double>(count);
    }
    return rows;
  }
};

// The seed is fixed; a finding has a standard error of 0.012.
TEST(AdditiveAttacker, FindsManyColumnsWhoseLevelsHaveNoOrder) {
  Answers answers;
  double truth = 0;
  const AttackRows train = answers.draw(1400, truth);
  const AttackRows selection = answers.draw(560, truth);
  const AttackRows test = answers.draw(3000, truth);
  AttackTask task;
  task.prior = Vector<double>::Constant(2, 0.5);
  for (Index f = 0; f < kColumns; ++f) task.values.push_back(f);
  const auto found = [&](AttackerKind kind) {
    const auto attacker = make_attacker(kind, task);
    SeededRandom random(3);
    attacker->fit(train, selection, random);
    return std::log(2.0) + mean_score(attacker->log_probability(test), test.x);
  };
  EXPECT_GT(truth, 0.2);
  const double additive = found(AttackerKind::kAdditive);
  EXPECT_GT(additive, 0.7 * truth);
  EXPECT_LT(additive, truth + 0.04);
  EXPECT_GT(additive, found(AttackerKind::kLogistic) + 0.04);
  EXPECT_GT(additive, found(AttackerKind::kTrees) + 0.04);
  EXPECT_GT(additive, found(AttackerKind::kForest) + 0.04);
}

}  // namespace
}  // namespace ppan
