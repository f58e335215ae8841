#include "ppan/theory/bottleneck.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "ppan/core/random.h"
#include "ppan/theory/finite_distribution.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;

TEST(BottleneckGaussian, KnownValues) {
  const BottleneckGaussian pair{0.8};
  EXPECT_NEAR(mutual_information(pair), 0.510825623765990683, 1e-15);    // -log 0.6
  EXPECT_NEAR(greatest_useful(pair, 0.5), 0.259224938706760539, 1e-15);  // mpmath
  EXPECT_NEAR(greatest_useful(pair, 40), mutual_information(pair), 1e-15);
  EXPECT_EQ(greatest_useful(pair, 0), 0);
  EXPECT_EQ(least_rate(pair, 0), 0);
  EXPECT_TRUE(std::isinf(least_rate(pair, mutual_information(pair))));
}

// Z = X + noise of variance v: I(X;Z) = 1/2 log(1 + 1/v), and the correlation of Y with Z is rho/sqrt(1+v).
TEST(BottleneckGaussian, AttainedByNoise) {
  for (const double rho : {-0.9, 0.3, 0.8})
    for (const double v : {0.01, 0.5, 3.0}) {
      const double rate = 0.5 * std::log1p(1 / v);
      const double useful = -0.5 * std::log1p(-rho * rho / (1 + v));
      EXPECT_NEAR(greatest_useful(BottleneckGaussian{rho}, rate), useful, 1e-13);
      EXPECT_NEAR(least_rate(BottleneckGaussian{rho}, useful), rate, 1e-12);
    }
}

TEST(BottleneckBinary, KnownValues) {
  const BottleneckBinary pair{0.1};
  // mpmath: a channel of crossover 0.2 has R = log 2 - h2(0.2) and U = log 2 - h2(0.26).
  EXPECT_NEAR(greatest_useful(pair, 0.192744757021757430), 0.120090263428524891, 1e-14);
  EXPECT_NEAR(least_rate(pair, 0.120090263428524891), 0.192744757021757430, 1e-13);
  EXPECT_NEAR(greatest_useful(pair, std::numbers::ln2), 0.368064207168497070, 1e-15);
  EXPECT_NEAR(least_rate(pair, mutual_information(pair)), std::numbers::ln2, 1e-7);
  EXPECT_TRUE(std::isinf(least_rate(pair, 0.4)));
  EXPECT_EQ(least_rate(pair, 0), 0);
  EXPECT_EQ(greatest_useful(pair, 0), 0);
  // A pair that disagrees 9 times in 10 is as good as one that agrees 9 times in 10; a fair coin is no good.
  EXPECT_NEAR(least_rate(BottleneckBinary{0.9}, 0.2), least_rate(pair, 0.2), 1e-13);
  EXPECT_TRUE(std::isinf(least_rate(BottleneckBinary{0.5}, 0.01)));
}

// Mrs. Gerber's lemma against brute force: no channel from X with two to four outputs is better.
TEST(BottleneckBinary, NoChannelDoesBetter) {
  SeededRandom random(6);
  const BottleneckBinary pair{0.1};
  const FiniteDistribution distribution = distribution_of_pair(
      (Matrix<double>(2, 2) << 0.45, 0.05, 0.05, 0.45).finished(), Observation::kBottleneck);
  double nearest = 1;
  for (int trial = 0; trial < 20000; ++trial) {
    Matrix<double> channel(2, 2 + random.index(3));
    for (double& v : channel.reshaped()) v = std::pow(random.uniform(), 4);
    for (Index w = 0; w < 2; ++w) channel.row(w) /= channel.row(w).sum();
    const double rate = leakage(distribution, channel);
    const double useful = useful_information(distribution, channel);
    const double excess = greatest_useful(pair, rate) - useful;
    ASSERT_GE(excess, -1e-12);
    if (rate > 0.1) nearest = std::min(nearest, excess);
  }
  EXPECT_LT(nearest, 1e-3) << "the search came nowhere near the curve and proves little";
}

TEST(Bottleneck, CurvesObeyTheLawsAndInvert) {
  for (const double p : {0.0, 0.1, 0.3, 0.8}) {
    const BottleneckBinary pair{p};
    std::vector<double> useful;
    for (int i = 0; i <= 100; ++i) {
      const double rate = std::numbers::ln2 * i / 100;
      useful.push_back(greatest_useful(pair, rate));
      EXPECT_LE(useful.back(), rate + 1e-13) << "data processing";
      EXPECT_NEAR(least_rate(pair, useful.back()), rate, 1e-7) << p << " " << rate;
    }
    EXPECT_THAT(ppan::testing::broken_properties(useful, 1, -1), IsEmpty()) << p;
  }
  const BottleneckGaussian pair{0.8};
  std::vector<double> useful;
  for (int i = 0; i <= 100; ++i) {
    useful.push_back(greatest_useful(pair, 0.03 * i));
    EXPECT_LE(useful.back(), 0.03 * i) << "data processing";
    EXPECT_NEAR(least_rate(pair, useful.back()), 0.03 * i, 1e-10);
  }
  EXPECT_THAT(ppan::testing::broken_properties(useful, 1, -1), IsEmpty());
}

TEST(Bottleneck, ListsEveryProblem) {
  EXPECT_THROW(greatest_useful(BottleneckGaussian{1}, 0.1), Error);
  EXPECT_THROW(least_rate(BottleneckBinary{0.1}, -0.1), Error);
  EXPECT_THROW(least_rate(BottleneckBinary{-0.1}, 0.1), Error);
}

}  // namespace
}  // namespace ppan::theory
