#include "ppan/audit/file_neighbours.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <unordered_map>

namespace ppan {
namespace {

// In deviations of all such differences: one far cell must not make all others alike.
Vector<float> differences(const AuditColumn& column, Index placed, Index step) {
  Vector<float> out = Vector<float>::Zero(column.rows());
  std::vector<double> sizes;
  const auto difference = [&](Index i) {
    const Index other = i + step;
    if (other < 0 || other >= placed) return 0.0;
    const double own = column.number[i] - column.number[other];
    return std::isfinite(own) ? own : 0.0;
  };
  for (Index i = 0; i < placed; ++i) sizes.push_back(std::abs(difference(i)));
  if (sizes.empty()) return out;
  const auto middle = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 3 / 4);
  std::nth_element(sizes.begin(), middle, sizes.end());
  const double scale = *middle > 0 ? *middle : 1;
  constexpr double kMost = 8;
  for (Index i = 0; i < placed; ++i)
    out[i] = static_cast<float>(std::clamp(difference(i) / scale, -kMost, kMost));
  return out;
}

}  // namespace

void file_neighbours(const AuditTable& released, const std::vector<std::size_t>& columns, Index placed,
                     const TakeNeighbours& take) {
  for (const std::size_t c : columns) {
    const AuditColumn& column = released.columns[c];
    Vector<float> earlier = Vector<float>::Zero(released.rows());
    Vector<float> none = Vector<float>::Zero(released.rows());
    std::unordered_map<std::uint64_t, float> seen;
    for (Index i = 0; i < placed; ++i) {
      const auto row = static_cast<std::size_t>(i);
      float& count = seen[column.has_text() ? static_cast<std::uint64_t>(column.code[row])
                                            : std::bit_cast<std::uint64_t>(column.number[i])];
      earlier[i] = std::log1p(count);
      none[i] = count == 0 ? 1.0F : 0.0F;
      ++count;
    }
    take(column.name, std::move(earlier));
    take(column.name, std::move(none));
    if (!column.numeric()) continue;
    take(column.name, differences(column, placed, -1));
    take(column.name, differences(column, placed, 1));
  }
}

}  // namespace ppan
