#include "ppan/game/alpha_prior.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ppan {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double utility(double q, double alpha) {
  if (alpha == 1) return std::log(q);
  const double power = std::isinf(alpha) ? 1 : (alpha - 1) / alpha;
  return (std::pow(q, power) - 1) / power;
}

// An adversary that does best without a release, with the shares raised to alpha and normalised, has found
// nothing.
TEST(AlphaPrior, TheBestGuessWithoutAReleaseFindsNothing) {
  const std::vector<double> shares{0.5, 0.3, 0.2};
  for (const double alpha : {1.0, 1.5, 2.0, 8.0}) {
    double sum = 0;
    for (const double p : shares) sum += std::pow(p, alpha);
    double mean = 0;
    for (const double p : shares) mean += p * utility(std::pow(p, alpha) / sum, alpha);
    EXPECT_NEAR(alpha_prior(shares, alpha).information(mean), 0, 1e-12) << alpha;
  }
  EXPECT_NEAR(alpha_prior(shares, kInfinity).information(0.5 - 1), 0, 1e-12);
}

TEST(AlphaPrior, KnowingEverythingIsTheEntropyOfThatOrder) {
  const std::vector<double> shares{0.5, 0.3, 0.2};
  EXPECT_NEAR(alpha_prior(shares, 1).information(0), 1.0296530140645737, 1e-12);
  EXPECT_NEAR(alpha_prior(shares, 2).information(0), -std::log(0.38), 1e-12);
  EXPECT_NEAR(alpha_prior(shares, kInfinity).information(0), std::log(2), 1e-12);
  EXPECT_NEAR(alpha_prior(shares, 1e4).information(0), std::log(2), 1e-3);
  EXPECT_NEAR(alpha_prior(shares, 1, 0.7).information(-0.2), 1.0296530140645737 + 0.5, 1e-12);
}

}  // namespace
}  // namespace ppan
