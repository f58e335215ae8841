#include "ppan/audit/key_attacker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ppan {
namespace {

constexpr std::array kPriorRows{1.0, 10.0, 100.0};  // that the prior counts for in each value of a key
constexpr std::size_t kMostKeys = 6;
constexpr double kLeastGain = 3;  // over the number of selection rows: less is what chance gives

Matrix<float> log_ratios(const Matrix<float>& count, const Vector<double>& prior, double prior_rows) {
  Matrix<float> out(count.rows(), count.cols());
  for (Index k = 0; k < count.rows(); ++k) {
    const double total = static_cast<double>(count.row(k).sum()) + prior_rows;
    for (Index l = 0; l < count.cols(); ++l) {
      const double p = (static_cast<double>(count(k, l)) + prior_rows * prior[l]) / total;
      out(k, l) = static_cast<float>(std::log(p / prior[l]));
    }
  }
  return out;
}

void add_ratios(const Matrix<float>& log_ratio, const KeyMatrix& keys, Index key, Matrix<float>& logit) {
  for (Index i = 0; i < logit.rows(); ++i) {
    const std::int32_t value = keys(i, key);
    if (value >= 0) logit.row(i) += log_ratio.row(value);
  }
}

void normalise(Matrix<float>& logit) {
  for (Index i = 0; i < logit.rows(); ++i) {
    const float most = logit.row(i).maxCoeff();
    logit.row(i).array() -= most + std::log((logit.row(i).array() - most).exp().sum());
  }
}

}  // namespace

void KeyAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& /*random*/) {
  used_.clear();
  std::vector<Matrix<float>> count;
  for (Index key = 0; key < train.keys.cols(); ++key) {
    Matrix<float>& c = count.emplace_back();
    c.setZero(task_.key_values[static_cast<std::size_t>(key)], task_.levels);
    for (Index i = 0; i < train.rows(); ++i) {
      if (train.keys(i, key) >= 0) c(train.keys(i, key), train.x[static_cast<std::size_t>(i)]) += 1;
    }
  }
  Matrix<float> logit = prior_rows(selection.rows());
  double found = mean_score(logit, selection.x);
  const double least = kLeastGain / static_cast<double>(std::max<Index>(1, selection.rows()));
  // What a key adds when it is tried first; keys that add nothing alone are not tried again.
  std::vector<bool> hopeless(count.size(), false);
  while (used_.size() < kMostKeys) {
    Table best;
    double most = found + least;
    for (std::size_t key = 0; key < count.size(); ++key) {
      if (hopeless[key]) continue;
      double own = -std::numeric_limits<double>::infinity();
      for (const double prior_rows : kPriorRows) {
        Matrix<float> ratio = log_ratios(count[key], task_.prior, prior_rows);
        Matrix<float> with = logit;
        add_ratios(ratio, selection.keys, static_cast<Index>(key), with);
        normalise(with);
        const double score = mean_score(with, selection.x);
        own = std::max(own, score);
        if (score > most) {
          most = score;
          best = {static_cast<Index>(key), std::move(ratio)};
        }
      }
      if (own <= found + least) hopeless[key] = true;
    }
    if (best.log_ratio.size() == 0) return;
    add_ratios(best.log_ratio, selection.keys, best.key, logit);
    normalise(logit);
    found = most;
    hopeless[static_cast<std::size_t>(best.key)] = true;
    used_.push_back(std::move(best));
  }
}

Matrix<float> KeyAttacker::log_probability(const AttackRows& rows) {
  Matrix<float> logit = prior_rows(rows.rows());
  for (const Table& table : used_) {
    add_ratios(table.log_ratio, rows.keys, table.key, logit);
    normalise(logit);
  }
  return logit;
}

}  // namespace ppan
