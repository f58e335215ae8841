#include "ppan/audit/lookup_attacker.h"

#include <array>
#include <cmath>

namespace ppan {
namespace {

constexpr std::array kWeights{0.3, 1.0, 3.0, 10.0, 30.0, 100.0};
// A table of counts larger than this has next to nothing in each cell.
constexpr std::int64_t kMostCounts = 50'000'000;

}  // namespace

void LookupAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& /*random*/) {
  const bool mostly_different = task_.cells > train.rows() / 2;
  if (mostly_different || std::int64_t{task_.cells} * task_.levels > kMostCounts) {
    count_.resize(0, 0);
    return;
  }
  count_.setZero(task_.cells, task_.levels);
  for (std::size_t i = 0; i < train.x.size(); ++i) {
    if (train.cell[i] >= 0) count_(train.cell[i], train.x[i]) += 1;
  }
  double best = -std::numeric_limits<double>::infinity();
  for (const double weight : kWeights) {
    const double score = mean_score(with_weight(selection, weight), selection.x);
    if (score > best) {
      best = score;
      weight_ = weight;
    }
  }
}

Matrix<float> LookupAttacker::with_weight(const AttackRows& rows, double weight) const {
  Matrix<float> out = prior_rows(rows.rows());
  if (count_.rows() == 0) return out;
  for (Index i = 0; i < rows.rows(); ++i) {
    const std::int32_t cell = rows.cell[static_cast<std::size_t>(i)];
    if (cell < 0) continue;
    const double total = static_cast<double>(count_.row(cell).sum()) + weight;
    for (Index l = 0; l < task_.levels; ++l) {
      out(i, l) = static_cast<float>(
          std::log((static_cast<double>(count_(cell, l)) + weight * task_.prior[l]) / total));
    }
  }
  return out;
}

Matrix<float> LookupAttacker::log_probability(const AttackRows& rows) {
  return with_weight(rows, weight_);
}

}  // namespace ppan
