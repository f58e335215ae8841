#include "ppan/audit/neighbour_attacker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace ppan {
namespace {

constexpr std::array<Index, 6> kCounts{3, 10, 30, 100, 300, 1000};
constexpr Index kBlock = 128;          // rows whose distances are held at once
constexpr Index kMostChosenOn = 3000;  // selection rows

// Positions of the `most` least distances, of equal ones the first; in no order.
void nearest_rows(const float* distance, Index count, Index most, std::vector<float>& sample,
                  std::vector<std::int32_t>& found) {
  constexpr Index kStep = 16;
  const auto nearer = [distance](std::int32_t a, std::int32_t b) {
    return distance[a] < distance[b] || (distance[a] == distance[b] && a < b);
  };
  const auto within = [&](float limit) {
    found.clear();
    for (Index i = 0; i < count; ++i) {
      if (distance[i] <= limit) found.push_back(static_cast<std::int32_t>(i));
    }
  };
  // A sample says how far one has to look; to look at all of them takes much longer.
  const auto share = static_cast<double>(most) / kStep;
  const auto rank = static_cast<Index>(share + 3 * std::sqrt(share) + 4);
  sample.clear();
  for (Index i = 0; i < count; i += kStep) sample.push_back(distance[i]);
  float limit = std::numeric_limits<float>::infinity();
  if (rank < static_cast<Index>(sample.size())) {
    std::nth_element(sample.begin(), sample.begin() + rank, sample.end());
    limit = sample[static_cast<std::size_t>(rank)];
  }
  within(limit);
  if (static_cast<Index>(found.size()) < most) within(std::numeric_limits<float>::infinity());
  if (most < static_cast<Index>(found.size())) {
    std::nth_element(found.begin(), found.begin() + most, found.end(), nearer);
    found.resize(static_cast<std::size_t>(most));
  }
}

}  // namespace

Matrix<float> NeighbourAttacker::values_of(const AttackRows& rows) const {
  Matrix<float> values(rows.rows(), static_cast<Index>(task_.values.size()));
  for (std::size_t f = 0; f < task_.values.size(); ++f) {
    values.col(static_cast<Index>(f)) = rows.data.col(task_.values[f]);
  }
  return values;
}

template <typename Take>
void NeighbourAttacker::visit(const AttackRows& rows, Index last, Index most, bool in_order,
                              const Take& take) const {
  const Matrix<float> values = values_of(rows);
  Matrix<float> distance;  // a column per row of the block
  std::vector<float> sample;
  std::vector<std::int32_t> found;
  Symbols nearest;
  for (Index first = 0; first < last; first += kBlock) {
    const Index count = std::min(kBlock, last - first);
    // |r - v|^2 = |r|^2 - 2 r.v + |v|^2, the last the same for all r.
    distance.noalias() = -2 * reference_ * values.middleRows(first, count).transpose();
    distance.colwise() += reference_norm_;
    for (Index i = 0; i < count; ++i) {
      const float* d = distance.col(i).data();
      nearest_rows(d, distance.rows(), most, sample, found);
      if (in_order) {
        std::sort(found.begin(), found.end(),
                  [d](std::int32_t a, std::int32_t b) { return d[a] < d[b] || (d[a] == d[b] && a < b); });
      }
      nearest.clear();
      for (const std::int32_t row : found) nearest.push_back(label_[static_cast<std::size_t>(row)]);
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
  visit(selection, std::min(kMostChosenOn, selection.rows()), counts.back(), true,
        [&](Index row, const Symbols& nearest) {
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
  visit(rows, rows.rows(), k_, false, [&](Index row, const Symbols& nearest) {
    count = task_.prior;
    for (const std::int32_t label : nearest) count[label] += 1;
    out.row(row) = (count / static_cast<double>(k_ + 1)).array().log().matrix().cast<float>().transpose();
  });
  return out;
}

}  // namespace ppan
