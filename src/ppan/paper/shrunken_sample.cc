#include "ppan/paper/shrunken_sample.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "ppan/theory/cell_shrinkage.h"

namespace ppan {
namespace {

constexpr double kTimes = 2;

// Whole numbers nearest to `wanted` that sum to what it sums to: those with the largest fractions are rounded
// up.
std::vector<Index> apportion(const Matrix<double>& wanted) {
  const auto cells = static_cast<std::size_t>(wanted.size());
  std::vector<Index> out(cells);
  std::vector<std::size_t> order(cells);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto value = [&](std::size_t c) { return wanted.data()[c]; };
  auto left = static_cast<Index>(std::llround(wanted.sum()));
  for (std::size_t c = 0; c < cells; ++c) left -= out[c] = static_cast<Index>(std::floor(value(c)));
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return value(a) - std::floor(value(a)) > value(b) - std::floor(value(b));
  });
  for (std::size_t i = 0; i < cells && left > 0; ++i, --left) ++out[order[i]];
  return out;
}

}  // namespace

Records<double> shrunken_sample(const World& world, const Records<double>& sample) {
  const bool full = world.observation.kind == ObservationKind::kFullData;
  if (!full && world.observation.kind != ObservationKind::kUsefulOnly) return sample;
  const Attribute<double>& x = sample.sensitive.front();
  const Attribute<double>& y = sample.useful;
  Matrix<double> counts = Matrix<double>::Zero(x.levels, y.levels);
  for (std::size_t i = 0; i < x.code.size(); ++i) counts(x.code[i], y.code[i]) += 1;
  const std::vector<Index> times = apportion(kTimes * theory::shrunken_counts(counts));
  Records<double> out = sample;
  for (auto* code : {&out.observed.code, &out.sensitive.front().code, &out.useful.code}) code->clear();
  for (std::int32_t b = 0; b < y.levels; ++b) {  // column-major, as the matrix is
    for (std::int32_t a = 0; a < x.levels; ++a) {
      const Index copies = times[static_cast<std::size_t>(b * x.levels + a)];
      for (Index t = 0; t < copies; ++t) {
        out.observed.code.push_back(full ? a * y.levels + b : b);
        out.sensitive.front().code.push_back(a);
        out.useful.code.push_back(b);
      }
    }
  }
  return out;
}

}  // namespace ppan
