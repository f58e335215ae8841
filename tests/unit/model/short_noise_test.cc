#include "ppan/model/short_noise.h"

#include <gtest/gtest.h>

#include <cmath>
#include <span>

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
