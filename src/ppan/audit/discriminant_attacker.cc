#include "ppan/audit/discriminant_attacker.h"

#include <array>
#include <cmath>
#include <limits>

#include "ppan/core/linear_algebra.h"
#include "ppan/game/softmax.h"

namespace ppan {
namespace {

constexpr std::array kShrinkage{0.02, 0.2, 0.6, 1.0};
constexpr std::array kTemperature{1.0F, 2.0F, 4.0F};  // few rows make it too sure of itself
constexpr Index kMostFeatures = 400;                  // of more the diagonal alone
constexpr double kLeastVariance = 1e-4;               // of features of variance 1
constexpr double kPriorRows = 1;                      // that the common mean counts for in each class

// Rows are kMostFeatures wide at most, so a block of them stays in the cache.
Matrix<double> within_covariance(const AttackRows& train, const Matrix<double>& mean) {
  constexpr Index kBlock = 512;
  Matrix<double> sum = Matrix<double>::Zero(mean.rows(), mean.rows());
  for (Index begin = 0; begin < train.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, train.rows() - begin);
    Matrix<float> off = train.data.middleRows(begin, count).transpose();
    for (Index i = 0; i < count; ++i)
      off.col(i) -= mean.col(train.x[static_cast<std::size_t>(begin + i)]).cast<float>();
    const Matrix<float> square = off * off.transpose();
    sum += square.cast<double>();
  }
  return sum / static_cast<double>(std::max<Index>(1, train.rows() - mean.cols()));
}

Vector<double> within_variance(const AttackRows& train, const Matrix<double>& mean) {
  Vector<double> sum = Vector<double>::Zero(mean.rows());
  for (Index f = 0; f < mean.rows(); ++f) {
    for (Index i = 0; i < train.rows(); ++i) {
      const double off =
          static_cast<double>(train.data(i, f)) - mean(f, train.x[static_cast<std::size_t>(i)]);
      sum[f] += off * off;
    }
  }
  return sum / static_cast<double>(std::max<Index>(1, train.rows() - mean.cols()));
}

}  // namespace

void DiscriminantAttacker::fit(const AttackRows& train, const AttackRows& selection,
                               RandomSource& /*random*/) {
  const Index features = train.data.cols();
  const Vector<double> middle = train.data.colwise().mean().transpose().cast<double>();
  Matrix<double> mean = (kPriorRows * middle).replicate(1, task_.levels);
  Vector<double> rows = Vector<double>::Constant(task_.levels, kPriorRows);
  for (const std::int32_t level : train.x) rows[level] += 1;
  for (Index f = 0; f < features; ++f) {
    for (Index i = 0; i < train.rows(); ++i)
      mean(f, train.x[static_cast<std::size_t>(i)]) += static_cast<double>(train.data(i, f));
  }
  mean.array().rowwise() /= rows.transpose().array();
  const bool wide = features > kMostFeatures;
  const Matrix<double> covariance = wide ? Matrix<double>{} : within_covariance(train, mean);
  const Vector<double> variance =
      (wide ? within_variance(train, mean) : Vector<double>(covariance.diagonal())).array() + kLeastVariance;
  double best = -std::numeric_limits<double>::infinity();
  for (const double shrinkage : kShrinkage) {
    if (wide && shrinkage < 1) continue;
    Matrix<double> slope;
    if (wide) {
      slope = variance.cwiseInverse().asDiagonal() * mean;
    } else {
      Matrix<double> shrunk = (1 - shrinkage) * covariance;
      shrunk.diagonal() += shrinkage * variance + Vector<double>::Constant(features, kLeastVariance);
      slope = solve_symmetric(shrunk, mean);
    }
    const Vector<double> offset = -0.5 * mean.cwiseProduct(slope).colwise().sum().transpose();
    for (const float temperature : kTemperature) {
      Matrix<float> weight = slope.cast<float>() / temperature;
      Vector<float> own = offset.cast<float>() / temperature;
      own += task_.prior.array().log().matrix().cast<float>();
      std::swap(weight, weight_);
      std::swap(own, offset_);
      const double score = mean_score(log_probability(selection), selection.x);
      if (score > best) {
        best = score;
      } else {
        std::swap(weight, weight_);
        std::swap(own, offset_);
      }
    }
  }
}

Matrix<float> DiscriminantAttacker::log_probability(const AttackRows& rows) {
  if (weight_.size() == 0) return prior_rows(rows.rows());
  const Matrix<float> logit = (rows.data * weight_).rowwise() + offset_.transpose();
  Matrix<float> out;
  log_softmax_rows(logit, out);
  return out;
}

}  // namespace ppan
