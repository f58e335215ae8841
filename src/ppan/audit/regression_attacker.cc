#include "ppan/audit/regression_attacker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "ppan/core/linear_algebra.h"

namespace ppan {
namespace {

constexpr Index kMostLinearFeatures = 600;
constexpr std::array kPenalties{0.003, 0.03, 0.3, 3.0};  // over the number of rows
constexpr std::array kSpreadShares{0.0, 0.5, 1.0};
constexpr float kLeastSquare = 0.02F;  // of a standard normal score: the logarithm of 0 is nothing to learn

// log of the normal probability of [a, b), stable in both tails.
double log_normal_mass(double a, double b) {
  if (a > 0) return log_normal_mass(-b, -a);  // the lower tail has the accurate erfc
  const double upper = std::isinf(b) ? 1.0 : 0.5 * std::erfc(-b / std::numbers::sqrt2);
  const double lower = std::isinf(a) ? 0.0 : 0.5 * std::erfc(-a / std::numbers::sqrt2);
  return std::log(std::max(upper - lower, 1e-30));
}

AttackRows with_value(const AttackRows& from) {
  std::vector<Index> known;
  for (Index i = 0; i < from.rows(); ++i) {
    if (!std::isnan(from.score[i])) known.push_back(i);
  }
  AttackRows out;
  out.data = from.data(known, Eigen::all);
  out.score = from.score(known);
  return out;
}

Vector<float> log_square(const Vector<float>& left) {
  return (left.array().square() + kLeastSquare).log();
}

}  // namespace

// The penalty by the selection rows; no line where none does better than the mean.
void RegressionAttacker::fit_line(const AttackRows& train, const AttackRows& selection) {
  mean_ = train.score.mean();
  weight_.resize(0);
  if (train.data.cols() > kMostLinearFeatures) return;
  const Matrix<double> a = train.data.cast<double>();
  const Matrix<double> gram = a.transpose() * a;
  const Vector<double> slope = a.transpose() * (train.score.array() - mean_).matrix().cast<double>();
  float least = (selection.score.array() - mean_).matrix().squaredNorm();
  for (const double penalty : kPenalties) {
    Matrix<double> ridge = gram;
    ridge.diagonal().array() += penalty * static_cast<double>(a.rows());
    const Vector<float> weight = solve_symmetric(ridge, slope).cast<float>();
    const Vector<float> left = (selection.score - selection.data * weight).array() - mean_;
    if (left.squaredNorm() >= least) continue;
    least = left.squaredNorm();
    weight_ = weight;
  }
}

Vector<float> RegressionAttacker::line(const AttackRows& rows) const {
  if (weight_.size() == 0) return Vector<float>::Constant(rows.rows(), mean_);
  return (rows.data * weight_).array() + mean_;
}

// `left`: of the training rows, by the line alone. What trees leave of the rows they learned from is too
// small.
void RegressionAttacker::fit_spread(const AttackRows& train, const AttackRows& selection,
                                    const Vector<float>& left, RandomSource& random) {
  const Vector<float> off = selection.score - line(selection) - location_.predict(selection.data);
  spread_.fit(train.data, log_square(left), selection.data, log_square(off), task_.effort.trees,
              random.next());
  const Vector<double> said = spread_.predict(selection.data).cast<double>();
  const Eigen::ArrayXd square = off.cast<double>().array().square();
  double least = std::numeric_limits<double>::infinity();
  for (const double share : kSpreadShares) {
    // The likeliest scale for these shapes.
    const double log_scale = std::log(std::max((square * (-share * said.array()).exp()).mean(), 1e-12));
    const double loss = log_scale + share * said.mean();
    if (loss >= least) continue;
    least = loss;
    spread_share_ = share;
    log_variance_ = log_scale;
  }
}

void RegressionAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) {
  const AttackRows known = with_value(train);
  const AttackRows scored = with_value(selection);
  fit_line(known, scored);
  const Vector<float> left = known.score - line(known);
  location_.fit(known.data, left, scored.data, scored.score - line(scored), task_.effort.trees,
                random.next());
  fit_spread(known, scored, left, random);
}

Matrix<float> RegressionAttacker::log_probability(const AttackRows& rows) {
  Matrix<float> normal(rows.rows(), 2);
  if (rows.rows() == 0) return bin_log_probability(task_, normal);
  normal.col(0) = line(rows) + location_.predict(rows.data);
  normal.col(1).setConstant(static_cast<float>(log_variance_));
  if (spread_share_ > 0) normal.col(1) += static_cast<float>(spread_share_) * spread_.predict(rows.data);
  return bin_log_probability(task_, normal);
}

Matrix<float> bin_log_probability(const AttackTask& task, const Matrix<float>& mean_and_log_variance) {
  const Index rows = mean_and_log_variance.rows();
  const auto bins = static_cast<Index>(task.score_edge.size()) + 1;
  const double known = task.missing_level < 0 ? 1.0 : 1.0 - task.prior[task.missing_level];
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  Matrix<float> out(rows, task.levels);
  for (Index l = 0; l < task.levels; ++l) out.col(l).setConstant(static_cast<float>(std::log(task.prior[l])));
  for (Index i = 0; i < rows; ++i) {
    const double mean = mean_and_log_variance(i, 0);
    const double log_variance = std::clamp(static_cast<double>(mean_and_log_variance(i, 1)), -30.0, 30.0);
    const double scale = std::exp(-0.5 * log_variance);
    for (Index b = 0; b < bins; ++b) {
      const auto edge = static_cast<std::size_t>(b);
      const double low = b == 0 ? -kInfinite : (task.score_edge[edge - 1] - mean) * scale;
      const double high = b == bins - 1 ? kInfinite : (task.score_edge[edge] - mean) * scale;
      out(i, b) = static_cast<float>(std::log(known) + log_normal_mass(low, high));
    }
  }
  return out;
}

}  // namespace ppan
