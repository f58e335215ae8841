#include "ppan/audit/finite_information.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "ppan/audit/attack_target.h"
#include "ppan/core/error.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr int kResamples = 200;

// Counts of the pairs that occur, and which x and z each pair has.
struct Pairs {
  std::vector<std::int32_t> x;
  std::vector<std::int32_t> z;
  std::vector<double> count;
};

struct Measured {
  double information = 0;
  double excess = 0;  // |XZ| - |X| - |Z| + 1
  double entropy = 0;
};

Measured measure(const Pairs& pairs, std::int32_t x_levels, std::int32_t z_levels, double rows) {
  std::vector<double> px(static_cast<std::size_t>(x_levels), 0);
  std::vector<double> pz(static_cast<std::size_t>(z_levels), 0);
  for (std::size_t k = 0; k < pairs.count.size(); ++k) {
    px[static_cast<std::size_t>(pairs.x[k])] += pairs.count[k];
    pz[static_cast<std::size_t>(pairs.z[k])] += pairs.count[k];
  }
  Measured m;
  double seen = 0;
  for (std::size_t k = 0; k < pairs.count.size(); ++k) {
    if (pairs.count[k] == 0) continue;
    seen += 1;
    m.information +=
        pairs.count[k] / rows *
        std::log(pairs.count[k] * rows /
                 (px[static_cast<std::size_t>(pairs.x[k])] * pz[static_cast<std::size_t>(pairs.z[k])]));
  }
  const auto positive = [](const std::vector<double>& v) {
    return static_cast<double>(std::count_if(v.begin(), v.end(), [](double c) { return c > 0; }));
  };
  m.excess = seen - positive(px) - positive(pz) + 1;
  for (const double c : px) {
    if (c > 0) m.entropy -= c / rows * std::log(c / rows);
  }
  return m;
}

}  // namespace

Estimate finite_information(const Symbols& x, std::int32_t x_levels, const Symbols& z, std::int32_t z_levels,
                            std::uint64_t seed) {
  if (x.size() != z.size() || x.size() < 2) {
    throw Error(ErrorCode::kBadInput,
                "information of finite attributes needs two columns of equal length, 2 rows or more");
  }
  std::int32_t levels = 0;
  const Symbols pair = joint_code(x, z, z_levels, levels);
  Pairs pairs{std::vector<std::int32_t>(static_cast<std::size_t>(levels)),
              std::vector<std::int32_t>(static_cast<std::size_t>(levels)),
              std::vector<double>(static_cast<std::size_t>(levels), 0)};
  for (std::size_t i = 0; i < pair.size(); ++i) {
    const auto k = static_cast<std::size_t>(pair[i]);
    pairs.x[k] = x[i];
    pairs.z[k] = z[i];
    pairs.count[k] += 1;
  }
  const auto rows = static_cast<double>(x.size());
  const Measured whole = measure(pairs, x_levels, z_levels, rows);
  const double value = whole.information - whole.excess / (2 * rows);

  SeededRandom random = SeededRandom(seed).fork("bootstrap");
  std::vector<double> resampled;
  double mean = 0;
  for (int r = 0; r < kResamples; ++r) {
    std::fill(pairs.count.begin(), pairs.count.end(), 0);
    for (std::size_t i = 0; i < pair.size(); ++i) {
      pairs.count[static_cast<std::size_t>(
          pair[static_cast<std::size_t>(random.index(static_cast<std::int64_t>(pair.size())))])] += 1;
    }
    resampled.push_back(measure(pairs, x_levels, z_levels, rows).information);
    mean += resampled.back() / kResamples;
  }
  std::sort(resampled.begin(), resampled.end());
  const double low = resampled[static_cast<std::size_t>(0.025 * kResamples)];
  const double high = resampled[static_cast<std::size_t>(0.975 * kResamples)];
  const auto clip = [&](double v) { return std::clamp(v, 0.0, whole.entropy); };
  return {.nats = clip(value),
          .interval95 = Interval{clip(value - (high - mean)), clip(value + (mean - low))},
          .bound = Bound::kEstimate,
          .method = "counts, Miller-Madow",
          .samples = static_cast<std::int64_t>(x.size())};
}

}  // namespace ppan
