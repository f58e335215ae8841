#include "ppan/audit/neighbour_attacker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace ppan {
namespace {

constexpr std::array<Index, 6> kCounts{3, 10, 30, 100, 300, 1000};
constexpr Index kBlock = 128;  // rows whose distances are held at once

}  // namespace

Matrix<float> NeighbourAttacker::values_of(const AttackRows& rows) const {
  Matrix<float> values(rows.rows(), static_cast<Index>(task_.values.size()));
  for (std::size_t f = 0; f < task_.values.size(); ++f) {
    values.col(static_cast<Index>(f)) = rows.data.col(task_.values[f]);
  }
  return values;
}

template <typename Take>
void NeighbourAttacker::visit(const AttackRows& rows, Index most, const Take& take) const {
  const Matrix<float> values = values_of(rows);
  Matrix<float> distance;  // a column per row of the block
  std::vector<std::int32_t> order(label_.size());
  Symbols nearest(static_cast<std::size_t>(most));
  for (Index first = 0; first < rows.rows(); first += kBlock) {
    const Index count = std::min(kBlock, rows.rows() - first);
    // |r - v|^2 = |r|^2 - 2 r.v + |v|^2, the last the same for all r.
    distance.noalias() = -2 * reference_ * values.middleRows(first, count).transpose();
    distance.colwise() += reference_norm_;
    for (Index i = 0; i < count; ++i) {
      const float* d = distance.col(i).data();
      const auto nearer = [d](std::int32_t a, std::int32_t b) {
        return d[a] < d[b] || (d[a] == d[b] && a < b);
      };
      std::iota(order.begin(), order.end(), 0);
      if (most < static_cast<Index>(order.size())) {
        std::nth_element(order.begin(), order.begin() + most, order.end(), nearer);
      }
      std::sort(order.begin(), order.begin() + most, nearer);
      for (Index j = 0; j < most; ++j) {
        nearest[static_cast<std::size_t>(j)] =
            label_[static_cast<std::size_t>(order[static_cast<std::size_t>(j)])];
      }
      take(first + i, nearest);
    }
  }
}

void NeighbourAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) {
  k_ = 0;
  if (task_.values.empty()) return;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(train.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  if (train.rows() > task_.effort.neighbours) {
    shuffle(random, rows);
    rows.resize(static_cast<std::size_t>(task_.effort.neighbours));
  }
  const Matrix<float> values = values_of(train);
  reference_.resize(static_cast<Index>(rows.size()), values.cols());
  label_.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    reference_.row(static_cast<Index>(i)) = values.row(rows[i]);
    label_.push_back(train.x[static_cast<std::size_t>(rows[i])]);
  }
  reference_norm_ = reference_.rowwise().squaredNorm();

  std::vector<Index> counts;
  for (const Index k : kCounts) {
    if (k <= reference_.rows()) counts.push_back(k);
  }
  if (counts.empty()) return;
  std::vector<double> score(counts.size(), 0);
  visit(selection, counts.back(), [&](Index row, const Symbols& nearest) {
    const std::int32_t x = selection.x[static_cast<std::size_t>(row)];
    Index hits = 0;
    std::size_t c = 0;
    for (Index j = 0; j < counts.back(); ++j) {
      hits += nearest[static_cast<std::size_t>(j)] == x ? 1 : 0;
      if (j + 1 == counts[c]) {
        score[c] += std::log((static_cast<double>(hits) + task_.prior[x]) / static_cast<double>(j + 2));
        ++c;
      }
    }
  });
  k_ = counts[static_cast<std::size_t>(std::max_element(score.begin(), score.end()) - score.begin())];
}

Matrix<float> NeighbourAttacker::log_probability(const AttackRows& rows) {
  Matrix<float> out = prior_rows(rows.rows());
  if (k_ == 0) return out;
  Vector<double> count(task_.levels);
  visit(rows, k_, [&](Index row, const Symbols& nearest) {
    count = task_.prior;
    for (const std::int32_t label : nearest) count[label] += 1;
    out.row(row) = (count / static_cast<double>(k_ + 1)).array().log().matrix().cast<float>().transpose();
  });
  return out;
}

}  // namespace ppan
