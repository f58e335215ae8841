#include "ppan/model/short_noise.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numbers>

namespace ppan {

void fill_short_uniform(RandomSource& random, Matrix<float>& out) {
  // Rounding to float may give 1, which a uniform number never is.
  const auto share = [](std::uint64_t bits) {
    return std::min(static_cast<float>(static_cast<std::uint32_t>(bits)) * 0x1.0p-32F, 0x1.fffffep-1F);
  };
  float* p = out.data();
  float* const end = p + out.size();
  for (; p + 1 < end; p += 2) {
    const std::uint64_t word = random.next();
    p[0] = share(word);
    p[1] = share(word >> 32U);
  }
  if (p < end) *p = share(random.next());
}

void fill_short_normal(RandomSource& random, Matrix<float>& out) {
  // In blocks, so that logarithm, root, sine and cosine run over whole vectors.
  constexpr Index kBlock = 64;
  using Block = Eigen::Array<float, kBlock, 1>;
  std::array<std::uint64_t, kBlock> words{};
  Block radius;
  Block angle;
  float* p = out.data();
  for (Index left = out.size(); left > 0; left -= 2 * kBlock) {
    const Index count = std::min<Index>((left + 1) / 2, kBlock);
    for (Index i = 0; i < count; ++i) words[static_cast<std::size_t>(i)] = random.next();
    for (Index i = 0; i < kBlock; ++i) {
      const std::uint64_t word = words[static_cast<std::size_t>(i)];
      radius[i] = static_cast<float>(static_cast<std::int64_t>(word >> 24U) + 1) * 0x1.0p-40F;  // (0, 1]
      angle[i] = static_cast<float>(static_cast<std::int32_t>(word & 0xffffffU)) *
                 static_cast<float>(2 * std::numbers::pi * 0x1.0p-24);
    }
    radius = (-2 * radius.log()).sqrt();
    const Block first = radius * angle.cos();
    const Block second = radius * angle.sin();
    std::copy_n(first.data(), count, p);
    std::copy_n(second.data(), std::min<Index>(left - count, kBlock), p + count);
    p += 2 * count;
  }
}

}  // namespace ppan
