#include "ppan/core/random.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace ppan {
namespace {

// splitmix64 (Steele, Lea, Flood 2014): spreads any 64-bit key over all bits.
std::uint64_t mix(std::uint64_t& state) {
  std::uint64_t z = (state += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

std::uint64_t hash_name(std::uint64_t key, std::string_view name) {
  std::uint64_t h = 0xcbf29ce484222325ULL ^ key;  // FNV-1a, then mixed
  for (const char c : name) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  return mix(h);
}

constexpr std::uint64_t rotate(std::uint64_t x, unsigned k) {
  return (x << k) | (x >> (64U - k));
}

}  // namespace

void RandomSource::next(std::span<std::uint64_t> words) {
  // No process begins between two words of one call: it would have to be forked by this thread.
  if (stale()) used_ = buffer_.size();
  while (!words.empty()) {
    if (used_ == buffer_.size()) {
      refill(buffer_);
      used_ = 0;
    }
    const std::size_t count = std::min(words.size(), buffer_.size() - used_);
    std::copy_n(buffer_.begin() + static_cast<std::ptrdiff_t>(used_), count, words.begin());
    used_ += count;
    words = words.subspan(count);
  }
}

std::int64_t RandomSource::index(std::int64_t count) {
  // Lemire's multiply-and-reject.
  const auto n = static_cast<std::uint64_t>(count);
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next()) * n;
  if (static_cast<std::uint64_t>(product) < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(next()) * n;
  }
  return static_cast<std::int64_t>(product >> 64U);
}

SeededRandom::SeededRandom(std::uint64_t seed) : key_(seed) {
  std::uint64_t mixer = seed;
  for (auto& word : state_) word = mix(mixer);
}

SeededRandom SeededRandom::fork(std::string_view name) const {
  return SeededRandom(hash_name(key_, name));
}

SeededRandom SeededRandom::fork(std::string_view name, std::uint64_t number) const {
  std::uint64_t key = hash_name(key_, name) ^ number;
  return SeededRandom(mix(key));
}

void SeededRandom::refill(std::span<std::uint64_t> words) {
  auto [s0, s1, s2, s3] = state_;
  for (auto& word : words) {  // xoshiro256++ (Blackman, Vigna 2019)
    word = rotate(s0 + s3, 23) + s0;
    const std::uint64_t t = s1 << 17U;
    s2 ^= s0;
    s3 ^= s1;
    s1 ^= s2;
    s0 ^= s3;
    s2 ^= t;
    s3 = rotate(s3, 45);
  }
  state_ = {s0, s1, s2, s3};
}

template <typename Scalar>
void fill_uniform(RandomSource& random, Scalar low, Scalar high, Matrix<Scalar>& out) {
  const Scalar width = high - low;
  Scalar* p = out.data();
  Scalar* const end = p + out.size();
  if constexpr (sizeof(Scalar) == 4) {
    for (; p + 1 < end; p += 2) {  // 24 bits each, two from a word
      const std::uint64_t word = random.next();
      p[0] = low + width * (static_cast<Scalar>(word >> 40U) * Scalar(0x1.0p-24));
      p[1] = low + width * (static_cast<Scalar>((word >> 8U) & 0xffffffU) * Scalar(0x1.0p-24));
    }
  }
  for (; p < end; ++p) *p = low + width * static_cast<Scalar>(random.uniform());
}

template <typename Scalar>
void fill_normal(RandomSource& random, Matrix<Scalar>& out) {
  // Box-Muller in blocks: logarithm, root, sine and cosine then run over whole vectors.
  constexpr Index kBlock = 64;
  using Block = Eigen::Array<Scalar, kBlock, 1>;
  Block radius;
  Block angle;
  Scalar* p = out.data();
  for (Index left = out.size(); left > 0; left -= 2 * kBlock) {
    for (Index i = 0; i < kBlock; ++i) {
      radius[i] = static_cast<Scalar>(1.0 - random.uniform());  // (0, 1]
      angle[i] = static_cast<Scalar>(random.uniform());
    }
    // A double just under 1 may round to a float 0 only from below 2^-126; log(0) is excluded by (0, 1].
    radius = (Scalar(-2) * radius.log()).sqrt();
    angle *= Scalar(2 * std::numbers::pi);
    const Block first = radius * angle.cos();
    const Block second = radius * angle.sin();
    const Index take_first = std::min<Index>(left, kBlock);
    const Index take_second = std::min<Index>(left - take_first, kBlock);
    std::copy_n(first.data(), take_first, p);
    std::copy_n(second.data(), take_second, p + take_first);
    p += take_first + take_second;
  }
}

void shuffle(RandomSource& random, std::span<std::int32_t> values) {
  for (std::size_t i = values.size(); i > 1; --i) {
    std::swap(values[i - 1], values[static_cast<std::size_t>(random.index(static_cast<std::int64_t>(i)))]);
  }
}

std::int64_t draw_index(RandomSource& random, std::span<const double> probabilities) {
  double left = random.uniform();
  std::int64_t last_possible = 0;
  for (std::size_t i = 0; i < probabilities.size(); ++i) {
    if (probabilities[i] <= 0) continue;
    last_possible = static_cast<std::int64_t>(i);
    left -= probabilities[i];
    if (left < 0) break;
  }
  return last_possible;
}

template void fill_uniform(RandomSource&, float, float, Matrix<float>&);
template void fill_uniform(RandomSource&, double, double, Matrix<double>&);
template void fill_normal(RandomSource&, Matrix<float>&);
template void fill_normal(RandomSource&, Matrix<double>&);

}  // namespace ppan
