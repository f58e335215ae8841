#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ppan/audit/attack_rows.h"
#include "ppan/audit/attacker.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr Index kFeatures = 10;

// A number that depends on the first two of ten features, or whose spread depends on the third.
struct Numbers {
  SeededRandom random{5};

  AuditColumn draw(Index count, bool by_spread, Matrix<float>& features) {
    features.resize(count, kFeatures);
    fill_normal(random, features);
    Matrix<float> noise(count, 1);
    fill_normal(random, noise);
    Vector<double> value(count);
    for (Index i = 0; i < count; ++i) {
      const double mean = by_spread ? 0 : features(i, 0) + std::abs(features(i, 1));
      const double spread = by_spread ? std::exp(static_cast<double>(features(i, 2))) : 1.2;
      value[i] = 1000 * (mean + spread * static_cast<double>(noise(i, 0)));
    }
    return column_of_numbers("pay", value);
  }
};

struct Split {
  AttackTask task;
  AttackRows train;
  AttackRows selection;
  AttackRows test;
};

Split split_of(const AuditColumn& column, const Matrix<float>& features, Index train, Index selection) {
  const auto part = [](Index begin, Index end) {
    std::vector<std::int32_t> rows;
    for (Index i = begin; i < end; ++i) rows.push_back(static_cast<std::int32_t>(i));
    return rows;
  };
  const std::vector<std::int32_t> learned = part(0, train);
  const AttackTarget target = target_of(column, learned);
  const NormalScores scores = normal_scores(target, learned);
  AttackFeatures all;
  all.data = features;
  all.keys.resize(features.rows(), 0);
  all.cell.assign(static_cast<std::size_t>(features.rows()), -1);
  const auto taken = [&](const std::vector<std::int32_t>& rows) {
    return attack_rows(all, target.code, scores.row, rows);
  };
  Split out{{},
            taken(learned),
            taken(part(train, train + selection)),
            taken(part(train + selection, features.rows()))};
  out.task.levels = target.levels;
  out.task.prior = Vector<double>::Constant(target.levels, 1.0 / target.levels);
  out.task.score_edge = scores.edge;
  out.task.missing_level = target.missing_level;
  for (Index f = 0; f < kFeatures; ++f) out.task.values.push_back(f);
  return out;
}

double found(const Split& split, AttackerKind kind) {
  const auto attacker = make_attacker(kind, split.task);
  SeededRandom random(3);
  attacker->fit(split.train, split.selection, random);
  return std::log(split.task.levels) + mean_score(attacker->log_probability(split.test), split.test.x);
}

// 400 rows to learn from, twenty bins: the seed is fixed, a finding has a standard error of 0.015.
TEST(RegressionAttacker, FindsMoreInFewRowsThanAttackersOfTwentyBins) {
  Numbers numbers;
  Matrix<float> features;
  const AuditColumn column = numbers.draw(4600, false, features);
  const Split split = split_of(column, features, 400, 200);
  // As if the sum were normal.
  const double truth = 0.5 * std::log(1 + (2 - 2 / std::numbers::pi) / 1.44);
  const double regression = found(split, AttackerKind::kRegression);
  EXPECT_GT(regression, 0.65 * truth);
  EXPECT_LT(regression, 1.1 * truth);
  EXPECT_GT(regression, found(split, AttackerKind::kTrees) + 0.05);
  EXPECT_GT(regression, found(split, AttackerKind::kForest) + 0.05);
}

TEST(RegressionAttacker, FindsWhereAValueIsKnownWell) {
  Numbers numbers;
  Matrix<float> features;
  const AuditColumn column = numbers.draw(5000, true, features);
  const Split split = split_of(column, features, 1400, 600);
  EXPECT_GT(found(split, AttackerKind::kRegression), 0.15);
}

TEST(RegressionAttacker, FindsNothingInNothingAndStandsMissingValues) {
  Numbers numbers;
  Matrix<float> features;
  AuditColumn column = numbers.draw(3000, false, features);
  for (Index i = 0; i < 3000; i += 7) {
    column.number[i] = std::nan("");
    column.missing[static_cast<std::size_t>(i)] = true;
  }
  Split split = split_of(column, features, 1000, 500);
  fill_normal(numbers.random, split.train.data);
  fill_normal(numbers.random, split.selection.data);
  fill_normal(numbers.random, split.test.data);
  const auto attacker = make_attacker(AttackerKind::kRegression, split.task);
  SeededRandom random(3);
  attacker->fit(split.train, split.selection, random);
  const Matrix<float> belief = attacker->log_probability(split.test);
  ASSERT_TRUE(belief.allFinite());
  for (Index i = 0; i < 20; ++i) EXPECT_NEAR(belief.row(i).array().exp().sum(), 1, 1e-3);
  EXPECT_LT(std::log(split.task.levels) + mean_score(belief, split.test.x), 0.01);
}

}  // namespace
}  // namespace ppan
