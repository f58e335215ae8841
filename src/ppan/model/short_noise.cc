#include "ppan/model/short_noise.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>

namespace ppan {
namespace {

constexpr std::size_t kBlock = 64;  // words

// The natural logarithm of x in [2^-126, 2^126], relative error 2e-7: the polynomial of Cephes' logf.
inline float logarithm(float x) {
  constexpr std::uint32_t kHalfRoot = 0x3f3504f3;  // sqrt(1/2)
  const std::uint32_t shifted = std::bit_cast<std::uint32_t>(x) - kHalfRoot;
  const auto power = static_cast<float>(static_cast<std::int32_t>(shifted) >> 23);
  const float m = std::bit_cast<float>((shifted & 0x7fffffU) + kHalfRoot) - 1;  // x = (1 + m) 2^power
  float p = 7.0376836292e-2F;
  p = p * m - 1.1514610310e-1F;
  p = p * m + 1.1676998740e-1F;
  p = p * m - 1.2420140846e-1F;
  p = p * m + 1.4249322787e-1F;
  p = p * m - 1.6668057665e-1F;
  p = p * m + 2.0000714765e-1F;
  p = p * m - 2.4999993993e-1F;
  p = p * m + 3.3333331174e-1F;
  const float square = m * m;
  p = p * m * square - 2.12194440e-4F * power - 0.5F * square;
  return m + p + 0.693359375F * power;
}

// Sine and cosine of turn / 2^24 of a full turn, absolute error 1e-7: exactly reduced to an eighth of a turn
// on either side of a quarter, then Cephes' polynomials.
struct Direction {
  float cosine;
  float sine;
};
inline Direction direction(std::uint32_t turn) {
  const std::uint32_t quarter = (turn + (1U << 21U)) >> 22U;
  const auto rest = static_cast<std::int32_t>(turn - (quarter << 22U));
  const float x = static_cast<float>(rest) * static_cast<float>(0.5 * std::numbers::pi * 0x1.0p-22);
  const float z = x * x;
  const float sine = ((-1.9515295891e-4F * z + 8.3321608736e-3F) * z - 1.6666654611e-1F) * z * x + x;
  const float cosine =
      ((2.443315711809948e-5F * z - 1.388731625493765e-3F) * z + 4.166664568298827e-2F) * z * z - 0.5F * z +
      1;
  const bool odd = (quarter & 1U) != 0;
  const float along = odd ? sine : cosine;
  const float across = odd ? cosine : sine;
  return {((quarter + 1) & 2U) != 0 ? -along : along, (quarter & 2U) != 0 ? -across : across};
}

}  // namespace

void fill_short_uniform(RandomSource& random, Matrix<float>& out) {
  // Rounding to float may give 1, which a uniform number never is.
  const auto share = [](std::uint64_t bits) {
    return std::min(static_cast<float>(static_cast<std::uint32_t>(bits)) * 0x1.0p-32F, 0x1.fffffep-1F);
  };
  std::array<std::uint64_t, kBlock> words{};
  float* p = out.data();
  float* const end = p + out.size();
  while (p < end) {
    const auto count = std::min(static_cast<std::size_t>(end - p + 1) / 2, kBlock);
    random.next(std::span(words).first(count));
    const std::size_t pairs = std::min(static_cast<std::size_t>(end - p) / 2, count);
    for (std::size_t i = 0; i < pairs; ++i) {
      p[2 * i] = share(words[i]);
      p[2 * i + 1] = share(words[i] >> 32U);
    }
    if (pairs < count) p[2 * pairs] = share(words[pairs]);
    p += std::min(end - p, static_cast<std::ptrdiff_t>(2 * count));
  }
}

void fill_short_normal(RandomSource& random, Matrix<float>& out) {
  // In blocks of which every step is worked out for all numbers at once, without a branch.
  std::array<std::uint64_t, kBlock> words{};
  std::array<float, kBlock> first{};
  std::array<float, kBlock> second{};
  float* p = out.data();
  for (auto left = static_cast<std::size_t>(out.size()); left > 0;) {
    const std::size_t count = std::min((left + 1) / 2, kBlock);
    random.next(std::span(words).first(count));
    for (std::size_t i = 0; i < kBlock; ++i) {
      const auto high = static_cast<std::int32_t>(words[i] >> 40U);
      const auto low = static_cast<std::int32_t>((words[i] >> 24U & 0xffffU) + 1);
      const float share = static_cast<float>(high) * 0x1.0p-24F + static_cast<float>(low) * 0x1.0p-40F;
      const float radius = std::sqrt(std::max(-2 * logarithm(share), 0.0F));  // share is in (0, 1]
      const Direction to = direction(static_cast<std::uint32_t>(words[i] & 0xffffffU));
      first[i] = radius * to.cosine;
      second[i] = radius * to.sine;
    }
    const std::size_t others = std::min(left - count, count);
    p = std::copy_n(first.data(), count, p);
    p = std::copy_n(second.data(), others, p);
    left -= count + others;
  }
}

}  // namespace ppan
