#include <gtest/gtest.h>

#include <cmath>

#include "ppan/audit/attacker.h"
#include "ppan/audit/learning_fit.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr Index kFeatures = 12;
constexpr std::int32_t kLevels = 20;

// Classes that differ in their means, and one feature that all others follow: without the covariance most is
// lost.
struct Classes {
  Matrix<float> mean{kLevels, kFeatures};
  SeededRandom random{7};

  Classes() {
    fill_normal(random, mean);
    mean *= 0.5F;
  }
  AttackRows draw(Index count) {
    AttackRows rows;
    rows.data.resize(count, kFeatures);
    fill_normal(random, rows.data);
    Matrix<float> common(count, 1);
    fill_normal(random, common);
    for (Index i = 0; i < count; ++i) {
      rows.x.push_back(static_cast<std::int32_t>(random.index(kLevels)));
      rows.data.row(i) += mean.row(rows.x.back());
      rows.data.row(i).array() += 2 * common(i, 0);
    }
    return rows;
  }
  // I(X;Z) by the true posterior: log Q of the inverse covariance I - 4 / (1 + 4 d) of ones.
  [[nodiscard]] double information(const AttackRows& rows) const {
    double sum = 0;
    for (Index i = 0; i < rows.rows(); ++i) {
      Vector<double> score(kLevels);
      for (Index l = 0; l < kLevels; ++l) {
        const Vector<double> off = (rows.data.row(i) - mean.row(l)).transpose().cast<double>();
        score[l] = -0.5 * (off.squaredNorm() - 4.0 / (1 + 4.0 * kFeatures) * off.sum() * off.sum());
      }
      const double most = score.maxCoeff();
      sum += score[rows.x[static_cast<std::size_t>(i)]] - most - std::log((score.array() - most).exp().sum());
    }
    return std::log(kLevels) + sum / static_cast<double>(rows.rows());
  }
};

AttackTask task_of(const AttackRows& train) {
  AttackTask task;
  task.levels = kLevels;
  task.prior = Vector<double>::Constant(kLevels, 1.0 / kLevels);
  for (Index f = 0; f < train.data.cols(); ++f) task.values.push_back(f);
  return task;
}

// The seed is fixed; over seeds the gain has a standard error of 0.02.
TEST(DiscriminantAttacker, FindsMostOfManyClassesFromFewRowsOfEach) {
  Classes classes;
  const AttackRows train = classes.draw(1000);  // 50 of each class
  const AttackRows selection = classes.draw(400);
  const AttackRows test = classes.draw(3000);
  const double truth = classes.information(test);
  const auto attacker = make_attacker(AttackerKind::kDiscriminant, task_of(train));
  attacker->fit(train, selection, classes.random);
  const double found = std::log(kLevels) + mean_score(attacker->log_probability(test), test.x);
  EXPECT_GT(truth, 0.8);
  EXPECT_GT(found, 0.85 * truth);
  EXPECT_LT(found, truth + 0.05);

  // A truth that has nothing to do with the rows: less is found than nothing.
  AttackRows other = classes.draw(3000);
  other.x = test.x;
  EXPECT_LT(std::log(kLevels) + mean_score(attacker->log_probability(other), other.x), 0);
}

TEST(DiscriminantAttacker, StandsFeaturesThatSayTheSame) {
  Classes classes;
  AttackRows train = classes.draw(600);
  train.data.col(1) = train.data.col(0);
  train.data.col(2).setZero();
  const auto attacker = make_attacker(AttackerKind::kDiscriminant, task_of(train));
  attacker->fit(train, train, classes.random);
  EXPECT_TRUE(attacker->log_probability(train).allFinite());
}

// 1.5 - n^-0.35 at n rows and its fractions: it goes on rising long after ten times the rows.
TEST(LearningFit, OfACurveThatStillRisesTheLimitIsTheEnd) {
  std::vector<Index> rows{250, 500, 1000, 2000};
  std::vector<Vector<double>> gain;
  for (const Index n : rows) {
    const double value = 1.5 - 8 * std::pow(static_cast<double>(n), -0.35);
    gain.emplace_back(Vector<double>::LinSpaced(1000, value - 0.1, value + 0.1));
  }
  const auto forecast = forecast_learning(rows, gain, 3);
  ASSERT_TRUE(forecast.has_value());
  EXPECT_GE(forecast_end(*forecast, true), 1.5);
  EXPECT_LT(forecast_end(*forecast, false), 1.5);
}

}  // namespace
}  // namespace ppan
