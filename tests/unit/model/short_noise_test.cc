#include "ppan/model/short_noise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <span>
#include <vector>

namespace ppan {
namespace {

// The same word again and again.
class OneWord final : public RandomSource {
 public:
  explicit OneWord(std::uint64_t word) : word_(word) {}

 protected:
  void refill(std::span<std::uint64_t> words) override { std::fill(words.begin(), words.end(), word_); }

 private:
  std::uint64_t word_;
};

TEST(ShortNoise, EndsAreInTheRange) {
  for (const std::uint64_t word : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{1} << 63U}) {
    OneWord source(word);
    Matrix<float> out(3, 1);
    fill_short_uniform(source, out);
    EXPECT_GE(out.minCoeff(), 0);
    EXPECT_LT(out.maxCoeff(), 1);
    fill_short_normal(source, out);
    EXPECT_TRUE(out.allFinite());
    EXPECT_LT(out.cwiseAbs().maxCoeff(), 7.5F);
  }
}

// Words one after the other, counted up by an odd number so that all their bits change.
class Steps final : public RandomSource {
 public:
  std::vector<std::uint64_t> given;

 protected:
  void refill(std::span<std::uint64_t> words) override {
    for (auto& word : words) {
      word = at_;
      given.push_back(at_);
      at_ += 0x9e3779b97f4a7c15ULL;
    }
  }

 private:
  std::uint64_t at_ = 0;
};

// Each pair is Box and Muller's of its word, in double precision; the last words are short radii (a share
// near 1), long ones (near 0) and the ends of quarters.
TEST(ShortNoise, IsTheTransformOfItsWords) {
  constexpr Index kSize = 128 * 400;
  Steps source;
  Matrix<float> out(kSize, 1);
  fill_short_normal(source, out);
  double worst = 0;
  const auto compare = [&](std::uint64_t word, float first, float second) {
    const double radius = std::sqrt(-2 * std::log((static_cast<double>(word >> 24U) + 1) * 0x1.0p-40));
    const double angle = 2 * std::numbers::pi * static_cast<double>(word & 0xffffffU) * 0x1.0p-24;
    // Next to 1 a float tells shares apart no better than by 6e-8: that is how far the square of the radius
    // may be off, twice over, and the radius itself by its root where it is near 0.
    const double allowed = 1e-6 * radius + std::min(1.2e-7 / std::max(radius, 1e-12), 4e-4);
    worst = std::max(worst, std::abs(first - radius * std::cos(angle)) - allowed);
    worst = std::max(worst, std::abs(second - radius * std::sin(angle)) - allowed);
  };
  for (Index i = 0; i < kSize / 2; ++i) {
    const Index at = i / 64 * 128 + i % 64;
    compare(source.given[static_cast<std::size_t>(i)], out.data()[at], out.data()[at + 64]);
  }
  for (const std::uint64_t share : {0ULL, 1ULL, 77ULL, 0xfffffffffeULL, 0xffffffffffULL, 0x8000000000ULL,
                                    0xb504f333f9ULL, 0xb504f333faULL}) {
    for (std::uint64_t eighth = 0; eighth < 8; ++eighth) {
      for (const std::uint64_t step : {0ULL, 1ULL, 0x1fffffULL}) {
        const std::uint64_t word = share << 24U | eighth << 21U | step;
        OneWord one(word);
        Matrix<float> pair(2, 1);
        fill_short_normal(one, pair);
        compare(word, pair(0, 0), pair(1, 0));
      }
    }
  }
  EXPECT_LE(worst, 0);
}

// The uniform numbers are the halves of the words, in whatever pieces they are drawn.
TEST(ShortNoise, UniformNumbersAreTheHalvesOfTheWords) {
  for (const Index size : {1, 2, 127, 128, 129, 256, 257, 1001}) {
    Steps source;
    Matrix<float> out(size, 1);
    fill_short_uniform(source, out);
    for (Index i = 0; i < size; ++i) {
      const std::uint64_t word = source.given[static_cast<std::size_t>(i / 2)];
      const auto half = static_cast<std::uint32_t>(i % 2 == 0 ? word : word >> 32U);
      EXPECT_NEAR(out.data()[i], half * 0x1.0p-32, 0x1.0p-24) << i << " of " << size;
    }
  }
}

// Means of 200,001 draws are off by 4.5 standard errors in one of 150,000 cases each; every size is filled to
// its end.
TEST(ShortNoise, HasTheMomentsOfItsDistribution) {
  SeededRandom random(21);
  Matrix<float> out(3, 66667);
  const double error = 4.5 / std::sqrt(static_cast<double>(out.size()));
  fill_short_uniform(random, out);
  const auto u = out.array().cast<double>();
  EXPECT_NEAR(u.mean(), 0.5, error * std::sqrt(1.0 / 12));
  EXPECT_NEAR(u.square().mean(), 1.0 / 3, error * std::sqrt(4.0 / 45));
  fill_short_normal(random, out);
  const auto z = out.array().cast<double>();
  EXPECT_NEAR(z.mean(), 0, error);
  EXPECT_NEAR(z.square().mean(), 1, error * std::sqrt(2.0));
  EXPECT_NEAR(z.cube().mean(), 0, error * std::sqrt(15.0));
  EXPECT_NEAR(z.square().square().mean(), 3, error * std::sqrt(96.0));
  EXPECT_NEAR((z.abs() < 1).cast<double>().mean(), 0.6826895, error * 0.4655);
  // The two of a word, a row apart in blocks of 64, are independent.
  double product = 0;
  Index pairs = 0;
  for (Index first = 0; first + 128 <= out.size(); first += 128) {
    for (Index i = 0; i < 64; ++i, ++pairs)
      product += static_cast<double>(out.data()[first + i]) * out.data()[first + 64 + i];
  }
  EXPECT_NEAR(product / static_cast<double>(pairs), 0, error * std::sqrt(2.0));
}

TEST(ShortNoise, FillsOddSizes) {
  SeededRandom random(22);
  for (const Index size : {1, 2, 63, 64, 65, 127, 128, 129, 191}) {
    Matrix<float> out = Matrix<float>::Constant(size, 1, 99);
    fill_short_normal(random, out);
    EXPECT_LT(out.maxCoeff(), 10);
    out.setConstant(99);
    fill_short_uniform(random, out);
    EXPECT_LT(out.maxCoeff(), 1);
  }
}

}  // namespace
}  // namespace ppan
