#include "ppan/audit/attack_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace ppan {

NormalScores normal_scores(const AttackTarget& target, std::span<const std::int32_t> training) {
  std::vector<double> sorted;
  for (const std::int32_t row : training) {
    if (!std::isnan(target.value[row])) sorted.push_back(target.value[row]);
  }
  std::sort(sorted.begin(), sorted.end());
  const auto total = static_cast<double>(sorted.size()) + 1;
  // Of the share below, in steps of half a row.
  std::vector<float> table(2 * sorted.size() + 2, std::numeric_limits<float>::quiet_NaN());
  const auto at = [&](std::ptrdiff_t half_rows) {
    float& known = table[static_cast<std::size_t>(half_rows)];
    if (std::isnan(known))
      known = static_cast<float>(normal_quantile((static_cast<double>(half_rows) + 1) / (2 * total)));
    return known;
  };
  NormalScores scores;
  scores.row.setConstant(target.value.size(), std::numeric_limits<float>::quiet_NaN());
  for (Index i = 0; i < target.value.size(); ++i) {
    if (std::isnan(target.value[i])) continue;
    const auto low = std::lower_bound(sorted.begin(), sorted.end(), target.value[i]);
    const auto high = std::upper_bound(low, sorted.end(), target.value[i]);
    scores.row[i] = at((low - sorted.begin()) + (high - sorted.begin()));
  }
  for (const double edge : target.edge) {
    scores.edge.push_back(
        static_cast<double>(at(2 * (std::lower_bound(sorted.begin(), sorted.end(), edge) - sorted.begin()))));
  }
  return scores;
}

AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows, std::span<const Index> kept) {
  AttackRows part;
  const auto count = static_cast<Index>(rows.size());
  part.data.resize(count, static_cast<Index>(kept.size()));
  for (Index f = 0; f < part.data.cols(); ++f) {
    const float* column = features.data.col(kept[static_cast<std::size_t>(f)]).data();
    float* out = part.data.col(f).data();
    for (Index i = 0; i < count; ++i) out[i] = column[rows[static_cast<std::size_t>(i)]];
  }
  part.keys.resize(count, features.keys.cols());
  for (Index k = 0; k < features.keys.cols(); ++k) {
    for (Index i = 0; i < count; ++i) part.keys(i, k) = features.keys(rows[static_cast<std::size_t>(i)], k);
  }
  for (const std::int32_t row : rows) {
    part.cell.push_back(features.cell[static_cast<std::size_t>(row)]);
    part.x.push_back(x[static_cast<std::size_t>(row)]);
  }
  if (score.size() > 0) {
    part.score.resize(count);
    for (Index i = 0; i < count; ++i) part.score[i] = score[rows[static_cast<std::size_t>(i)]];
  }
  return part;
}

AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows) {
  std::vector<Index> all(static_cast<std::size_t>(features.data.cols()));
  std::iota(all.begin(), all.end(), Index{0});
  return attack_rows(features, x, score, rows, all);
}

}  // namespace ppan
