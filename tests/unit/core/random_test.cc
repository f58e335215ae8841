#include "ppan/core/random.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <set>
#include <span>
#include <thread>
#include <vector>

namespace ppan {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::Ge;
using ::testing::Lt;

// Kolmogorov-Smirnov distance between a sample and a continuous distribution function.
double ks_distance(std::vector<double> sample, const std::function<double(double)>& cdf) {
  std::sort(sample.begin(), sample.end());
  const auto n = static_cast<double>(sample.size());
  double distance = 0;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]);
    distance = std::max({distance, f - static_cast<double>(i) / n, static_cast<double>(i + 1) / n - f});
  }
  return distance;
}

// P(distance > limit) <= 2 exp(-2 n limit^2) = 1e-9 (Massart 1990), for a right sample of any distribution.
double ks_limit(std::size_t n) {
  return std::sqrt(std::log(2e9) / (2.0 * static_cast<double>(n)));
}

double normal_cdf(double x) {
  return 0.5 * std::erfc(-x / std::numbers::sqrt2);
}

std::vector<std::uint64_t> words(RandomSource& random, std::size_t count) {
  std::vector<std::uint64_t> drawn(count);
  for (auto& word : drawn) word = random.next();
  return drawn;
}

template <typename Scalar>
std::vector<double> values(const Matrix<Scalar>& matrix) {
  return {matrix.data(), matrix.data() + matrix.size()};
}

TEST(SeededRandom, SameSeedSameWords) {
  SeededRandom a(42);
  SeededRandom b(42);
  EXPECT_EQ(words(a, 1000), words(b, 1000));
}

TEST(SeededRandom, DifferentSeedsShareNothing) {
  SeededRandom a(42);
  SeededRandom b(43);
  const auto first = words(a, 1000);
  const auto second = words(b, 1000);
  // Two 64-bit words agree by chance with probability 5e-20; a million pairs, 5e-14.
  const std::set<std::uint64_t> seen(first.begin(), first.end());
  EXPECT_TRUE(std::none_of(second.begin(), second.end(), [&](auto word) { return seen.contains(word); }));
}

TEST(SeededRandom, SeedZeroIsAsGoodAsAnyOther) {
  SeededRandom random(0);
  int ones = 0;
  for (const auto word : words(random, 1000)) ones += std::popcount(word);
  // 64,000 fair bits: mean 32,000, deviation 126.5; beyond 6.2 deviations with probability 6e-10.
  EXPECT_NEAR(ones, 32000, 785);
}

TEST(SeededRandom, StreamIsTheSameOnEveryMachine) {
  // xoshiro256++ from the splitmix64 words of 1, worked out in integer arithmetic of another language from
  // the published algorithms.
  SeededRandom random(1);
  EXPECT_THAT(words(random, 3),
              ElementsAre(0xcfc5d07f6f03c29bULL, 0xbf424132963fe08dULL, 0x19a37d5757aaf520ULL));
}

TEST(SeededRandom, ForkDoesNotDependOnWhatWasDrawn) {
  SeededRandom fresh(7);
  SeededRandom used(7);
  words(used, 999);
  SeededRandom a = fresh.fork("noise");
  SeededRandom b = used.fork("noise");
  EXPECT_EQ(words(a, 100), words(b, 100));
}

TEST(SeededRandom, ForkingDoesNotMoveTheParent) {
  SeededRandom plain(7);
  SeededRandom forked(7);
  (void)forked.fork("noise");
  EXPECT_EQ(words(plain, 100), words(forked, 100));
}

TEST(SeededRandom, ForksDifferByNameNumberAndParent) {
  const SeededRandom root(7);
  std::vector<SeededRandom> streams{SeededRandom(7),
                                    root.fork("noise"),
                                    root.fork("noise", 0),
                                    root.fork("noise", 1),
                                    root.fork("noise", 2),
                                    root.fork("batch"),
                                    root.fork("batch", 1),
                                    SeededRandom(8).fork("noise"),
                                    root.fork("noise").fork("noise"),
                                    root.fork("")};
  std::set<std::uint64_t> seen;
  for (auto& stream : streams) {
    for (const auto word : words(stream, 50)) seen.insert(word);
  }
  EXPECT_EQ(seen.size(), streams.size() * 50);
}

TEST(SeededRandom, NumberedForksAreUncorrelated) {
  // Correlation of 20,000 independent uniform pairs is normal with deviation 0.0071; 6.2 deviations: 6e-10 a
  // pair, 3e-8 for all 45.
  constexpr std::size_t kStreams = 10;
  constexpr std::size_t kDraws = 20000;
  const SeededRandom root(11);
  std::vector<std::vector<double>> drawn;
  for (std::size_t s = 0; s < kStreams; ++s) {
    SeededRandom stream = root.fork("point", s);
    auto& row = drawn.emplace_back(kDraws);
    for (double& x : row) x = (stream.uniform() - 0.5) * std::sqrt(12.0);
  }
  for (std::size_t a = 0; a < kStreams; ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double dot = std::inner_product(drawn[a].begin(), drawn[a].end(), drawn[b].begin(), 0.0);
      EXPECT_NEAR(dot / kDraws, 0, 0.044) << a << " and " << b;
    }
  }
}

TEST(Uniform, FollowsItsDistribution) {
  SeededRandom random(3);
  std::vector<double> sample(50000);
  for (double& x : sample) x = random.uniform();
  EXPECT_THAT(sample, Each(AllOf(Ge(0.0), Lt(1.0))));
  const auto cdf = [](double x) { return std::clamp(x, 0.0, 1.0); };
  EXPECT_LT(ks_distance(sample, cdf), ks_limit(sample.size()));
  // The check sees a fault of two percent.
  for (double& x : sample) x = std::pow(x, 1.06);
  EXPECT_GT(ks_distance(sample, cdf), ks_limit(sample.size()));
}

template <typename Scalar>
class Fill : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Fill, Scalars);

TYPED_TEST(Fill, UniformStaysInItsRangeAndFollowsItsDistribution) {
  SeededRandom random(5);
  Matrix<TypeParam> matrix(251, 201);  // an odd count: the last float has no partner
  fill_uniform<TypeParam>(random, -1, 1, matrix);
  EXPECT_GE(matrix.minCoeff(), -1);
  EXPECT_LE(matrix.maxCoeff(), 1);
  const auto sample = values(matrix);
  const auto cdf = [](double x) { return std::clamp((x + 1) / 2, 0.0, 1.0); };
  EXPECT_LT(ks_distance(sample, cdf), ks_limit(sample.size()));
}

TYPED_TEST(Fill, NormalFollowsItsDistribution) {
  SeededRandom random(6);
  Matrix<TypeParam> matrix(251, 201);
  fill_normal(random, matrix);
  EXPECT_TRUE(matrix.allFinite());
  auto sample = values(matrix);
  EXPECT_LT(ks_distance(sample, normal_cdf), ks_limit(sample.size()));
  // The check sees a scale that is 8 percent off.
  for (double& x : sample) x *= 1.08;
  EXPECT_GT(ks_distance(sample, normal_cdf), ks_limit(sample.size()));
}

TYPED_TEST(Fill, NormalHasTheRightMoments) {
  // With n draws the mean has deviation 1/sqrt(n), the variance sqrt(2/n), the fourth moment sqrt(96/n); each
  // limit is 6.2 deviations, exceeded with probability 6e-10.
  SeededRandom random(8);
  Matrix<TypeParam> matrix(500, 400);
  fill_normal(random, matrix);
  const auto x = matrix.template cast<double>().array().eval();
  const double unit = 6.2 / std::sqrt(static_cast<double>(matrix.size()));
  EXPECT_NEAR(x.mean(), 0, unit);
  EXPECT_NEAR(x.square().mean(), 1, std::sqrt(2.0) * unit);
  EXPECT_NEAR(x.square().square().mean(), 3, std::sqrt(96.0) * unit);
}

TYPED_TEST(Fill, NormalPartnersAreIndependent) {
  // Box-Muller makes entries 64 apart from one pair; a slip would correlate them or their squares. Each mean
  // has deviation sqrt(1/n) and sqrt(4/n); limits at 6.2 deviations.
  SeededRandom random(9);
  Matrix<TypeParam> matrix(128, 1000);
  fill_normal(random, matrix);
  const auto x = matrix.template cast<double>().array().eval();
  const auto first = x.topRows(64);
  const auto second = x.bottomRows(64);
  const double unit = 6.2 / std::sqrt(static_cast<double>(first.size()));
  EXPECT_NEAR((first * second).mean(), 0, unit);
  EXPECT_NEAR(((first.square() - 1) * (second.square() - 1)).mean(), 0, 2 * unit);
}

TYPED_TEST(Fill, EverySizeIsFilledToItsEnd) {
  for (const Index size : {1, 2, 63, 64, 65, 127, 128, 129, 200}) {
    SCOPED_TRACE(size);
    SeededRandom random(10);
    Matrix<TypeParam> matrix = Matrix<TypeParam>::Constant(size, 1, TypeParam(1e9));
    fill_normal(random, matrix);
    EXPECT_LT(matrix.maxCoeff(), 100);
    matrix.setConstant(TypeParam(1e9));
    fill_uniform<TypeParam>(random, 0, 1, matrix);
    EXPECT_LE(matrix.maxCoeff(), 1);
  }
}

TEST(Index, EveryValueEquallyOften) {
  // Pearson's statistic over 7 cells has 6 degrees of freedom; above 53 with probability 1.2e-9.
  constexpr std::int64_t kCells = 7;
  constexpr std::int64_t kDraws = 70000;
  SeededRandom random(12);
  std::array<double, kCells> count{};
  for (std::int64_t i = 0; i < kDraws; ++i) {
    const auto cell = random.index(kCells);
    ASSERT_GE(cell, 0);
    ASSERT_LT(cell, kCells);
    count[static_cast<std::size_t>(cell)] += 1;
  }
  double statistic = 0;
  for (const double c : count) statistic += (c - 10000.0) * (c - 10000.0) / 10000.0;
  EXPECT_LT(statistic, 53);
}

// Hands out given words, so that the rejection can be watched.
class Scripted final : public RandomSource {
 public:
  explicit Scripted(std::uint64_t first, std::uint64_t rest) : first_(first), rest_(rest) {}

 protected:
  void refill(std::span<std::uint64_t> buffer) override {
    std::fill(buffer.begin(), buffer.end(), rest_);
    buffer[0] = first_;
  }

 private:
  std::uint64_t first_, rest_;
};

TEST(Index, RejectsTheWordsThatWouldBias) {
  // 3 * 2^61 goes twice into 2^64 and leaves 2^62: a quarter of all words must be drawn again, word 0 among
  // them. The word 2^63 + 1 behind it gives half of the range; without the rejection the answer would be 0.
  constexpr std::int64_t kCount = 3LL << 61U;
  Scripted random(0, (1ULL << 63U) + 1);
  EXPECT_EQ(random.index(kCount), kCount / 2);
}

TEST(Index, OneValueIsAlwaysZero) {
  SeededRandom random(13);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(random.index(1), 0);
}

TEST(Shuffle, KeepsEveryValue) {
  SeededRandom random(14);
  std::vector<std::int32_t> order(1000);
  std::iota(order.begin(), order.end(), 0);
  auto shuffled = order;
  shuffle(random, shuffled);
  EXPECT_NE(shuffled, order);
  std::sort(shuffled.begin(), shuffled.end());
  EXPECT_EQ(shuffled, order);
}

TEST(Shuffle, EveryOrderEquallyOften) {
  // 24 orders, 23 degrees of freedom; above 89 with probability 1.0e-9. The common slip (partner drawn from
  // all of the range) gives orders between 0.57 and 1.9 times their share, a statistic in the thousands.
  SeededRandom random(15);
  std::array<double, 256> count{};
  constexpr int kDraws = 48000;
  for (int i = 0; i < kDraws; ++i) {
    std::array<std::int32_t, 4> order{0, 1, 2, 3};
    shuffle(random, order);
    count[static_cast<std::size_t>(order[0] * 64 + order[1] * 16 + order[2] * 4 + order[3])] += 1;
  }
  double statistic = 0;
  int orders = 0;
  for (const double c : count) {
    if (c == 0) continue;
    ++orders;
    statistic += (c - 2000.0) * (c - 2000.0) / 2000.0;
  }
  EXPECT_EQ(orders, 24);
  EXPECT_LT(statistic, 89);
}

TEST(DrawIndex, FollowsTheProbabilities) {
  // Each count is binomial with deviation below 354; 6.2 deviations.
  SeededRandom random(16);
  const std::array<double, 4> probabilities{0.1, 0.0, 0.6, 0.3};
  std::array<double, 4> count{};
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) count[static_cast<std::size_t>(draw_index(random, probabilities))] += 1;
  EXPECT_EQ(count[1], 0);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(count[i], kDraws * probabilities[i],
                6.2 * std::sqrt(kDraws * probabilities[i] * (1 - probabilities[i])) + 1e-9);
  }
}

TEST(DrawIndex, RoundingNeverReachesAnImpossibleValue) {
  // The probabilities sum to slightly less than the largest uniform draw; the impossible last value is not
  // taken.
  Scripted random(~0ULL, ~0ULL);
  const std::array<double, 3> probabilities{0.5, 0.4999999999, 0.0};
  EXPECT_EQ(draw_index(random, probabilities), 1);
}

TEST(SecureRandom, TwoSourcesShareNothing) {
  SecureRandom a;
  SecureRandom b;
  // More than a thread draws ahead, in turns.
  std::vector<std::uint64_t> all;
  for (int turn = 0; turn < 10; ++turn) {
    for (SecureRandom* source : {&a, &b}) {
      const auto more = words(*source, 300);
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  // Any two of 6000 true random words agree with probability 1e-12.
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), 6000U);
}

TEST(SecureRandom, BitsAreFair) {
  SecureRandom random;
  int ones = 0;
  for (const auto word : words(random, 1000)) ones += std::popcount(word);
  EXPECT_NEAR(ones, 32000, 785);  // 6.2 deviations: fails once in 1.7e9 runs
}

// One word at a time, or all by one call.
enum class Draws { kOneByOne, kTogether };

// What a child process draws from `random` after fork().
std::vector<std::uint64_t> drawn_by_child(RandomSource& random, Draws how = Draws::kOneByOne) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {};
  const pid_t child = ::fork();
  if (child == 0) {
    std::array<std::uint64_t, 8> drawn{};
    if (how == Draws::kTogether) {
      random.next(drawn);
    } else {
      for (auto& word : drawn) word = random.next();
    }
    const bool written = ::write(ends[1], drawn.data(), sizeof drawn) == static_cast<ssize_t>(sizeof drawn);
    ::_exit(written ? 0 : 1);
  }
  ::close(ends[1]);
  std::vector<std::uint64_t> received(8);
  const ssize_t size = ::read(ends[0], received.data(), 64);
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (size != 64 || status != 0) received.clear();
  return received;
}

// Children of one process, by either way to draw, share nothing with it nor with each other; neither does one
// whose source is new but whose thread has drawn ahead.
TEST(SecureRandom, AForkedProcessNeverRepeatsAnother) {
  SecureRandom random;
  (void)random.next();  // the buffer is now full of words that all processes hold
  std::vector<std::uint64_t> all;
  for (const Draws how : {Draws::kOneByOne, Draws::kTogether, Draws::kTogether}) {
    const auto child = drawn_by_child(random, how);
    ASSERT_EQ(child.size(), 8U);
    all.insert(all.end(), child.begin(), child.end());
  }
  SecureRandom other;
  const auto child = drawn_by_child(other);
  ASSERT_EQ(child.size(), 8U);
  all.insert(all.end(), child.begin(), child.end());
  const auto parent = words(random, 5000);  // all that was drawn ahead, and more
  all.insert(all.end(), parent.begin(), parent.end());
  EXPECT_EQ(std::set<std::uint64_t>(all.begin(), all.end()).size(), 5032U);
}

TEST(SecureRandom, ThreadsShareNothing) {
  std::array<std::vector<std::uint64_t>, 4> drawn;
  std::vector<std::thread> threads;
  for (auto& to : drawn) {
    threads.emplace_back([&to] {
      SecureRandom random;
      to.resize(5000);
      for (std::size_t i = 0; i < to.size(); i += 50) random.next(std::span(to).subspan(i, 50));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::set<std::uint64_t> all;
  for (const auto& from : drawn) all.insert(from.begin(), from.end());
  EXPECT_EQ(all.size(), 20000U);  // two of them agree with probability 1e-11
}

TEST(SecureRandom, TheForkTestSeesASourceThatDoesRepeat) {
  SeededRandom random(17);
  (void)random.next();
  const auto child = drawn_by_child(random);
  ASSERT_EQ(child.size(), 8U);
  EXPECT_EQ(words(random, 8), child);
  const auto together = drawn_by_child(random, Draws::kTogether);
  EXPECT_EQ(words(random, 8), together);
}

// In pieces of any size, across the ends of the buffer.
TEST(RandomSource, WordsTogetherAreThoseOneByOne) {
  SeededRandom one(5);
  SeededRandom other(5);
  for (const std::size_t size : {1U, 0U, 7U, 120U, 128U, 1U, 500U, 3U}) {
    std::vector<std::uint64_t> together(size);
    other.next(together);
    EXPECT_EQ(together, words(one, size));
    EXPECT_EQ(one.next(), other.next());
  }
}

}  // namespace
}  // namespace ppan
