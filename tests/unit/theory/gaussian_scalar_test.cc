#include "ppan/theory/gaussian_scalar.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/random.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Exact leakage and distortion of Z = a X + b Y + U for X of variance 1.
struct Scored {
  double leakage;
  double distortion;
};
Scored score(const GaussianScalar& pair, const GaussianRelease& z) {
  const double s = std::sqrt(pair.variance_y);
  const double variance = z.from_x * z.from_x + z.from_y * z.from_y * pair.variance_y +
                          2 * z.from_x * z.from_y * pair.rho * s + z.noise_variance;
  const double covariance_x = z.from_x + z.from_y * pair.rho * s;
  const double covariance_y = z.from_x * pair.rho * s + z.from_y * pair.variance_y;
  const double r2 = variance > 0 ? covariance_x * covariance_x / variance : 0;
  return {-0.5 * std::log1p(-r2), pair.variance_y + variance - 2 * covariance_y};
}

TEST(GaussianScalar, KnownValues) {
  const GaussianScalar pair{.rho = 0.85};
  // mpmath, 30 digits.
  EXPECT_NEAR(mutual_information(pair), 0.640967172897823926, 1e-15);
  EXPECT_NEAR(least_leakage_useful_only(pair, 0.5), 0.224121068732111431, 1e-15);
  EXPECT_NEAR(least_leakage_full_data(pair, 0.5), 0.0268241987882327909, 1e-15);
}

TEST(GaussianScalar, BestReleasesAttainTheOptimum) {
  for (const double rho : {-0.7, 0.3, 0.85})
    for (const double variance : {1.0, 4.0})
      for (const double e : {0.0, 0.05, 0.2, 0.5, 0.8, 1.0, 2.0}) {
        const GaussianScalar pair{rho, variance};
        const double d = e * variance;
        const Scored useful = score(pair, best_release_useful_only(pair, d));
        EXPECT_NEAR(useful.leakage, least_leakage_useful_only(pair, d), 1e-13);
        EXPECT_NEAR(useful.distortion, std::min(d, variance), 1e-13);
        const Scored full = score(pair, best_release_full_data(pair, d));
        EXPECT_NEAR(full.leakage, least_leakage_full_data(pair, d), 1e-13);
        EXPECT_NEAR(full.distortion, std::min(d, rho * rho * variance), 1e-13);
      }
}

// No linear release with noise does better: a random search over 200,000 of them, rescaled to meet the budget
// as well as they can, stays above the closed forms and comes within 0.001 nats of them.
TEST(GaussianScalar, NoLinearReleaseDoesBetter) {
  const GaussianScalar pair{.rho = 0.85};
  SeededRandom random(5);
  for (const double budget : {0.1, 0.4, 0.7}) {
    double best_useful = 1e9;
    double best_full = 1e9;
    for (int i = 0; i < 200000; ++i) {
      GaussianRelease z{.from_x = 3 * random.uniform() - 1.5,
                        .from_y = 2 * random.uniform(),
                        .noise_variance = random.uniform()};
      if (i % 2 == 0) z.noise_variance = 0;
      const Scored full = score(pair, z);
      if (full.distortion <= budget) best_full = std::min(best_full, full.leakage);
      z = {.from_x = 0, .from_y = z.from_y, .noise_variance = random.uniform()};
      const Scored useful = score(pair, z);
      if (useful.distortion <= budget) best_useful = std::min(best_useful, useful.leakage);
    }
    EXPECT_GE(best_useful, least_leakage_useful_only(pair, budget) - 1e-12);
    EXPECT_LE(best_useful, least_leakage_useful_only(pair, budget) + 1e-3);
    EXPECT_GE(best_full, least_leakage_full_data(pair, budget) - 1e-12);
    EXPECT_LE(best_full, least_leakage_full_data(pair, budget) + 1e-3);
  }
}

TEST(GaussianScalar, CurvesObeyTheLaws) {
  for (const double rho : {0.1, -0.5, 0.85, 0.999}) {
    std::vector<double> useful;
    std::vector<double> full;
    for (int i = 0; i <= 200; ++i) {
      useful.push_back(least_leakage_useful_only(GaussianScalar{rho, 1}, i / 200.0));
      full.push_back(least_leakage_full_data(GaussianScalar{rho, 1}, i / 200.0));
      EXPECT_LE(full.back(), useful.back() + 1e-14) << "seeing more cannot hurt";
    }
    EXPECT_THAT(ppan::testing::broken_properties(useful, -1), IsEmpty()) << rho;
    EXPECT_THAT(ppan::testing::broken_properties(full, -1), IsEmpty()) << rho;
    EXPECT_NEAR(useful.front(), mutual_information(GaussianScalar{rho, 1}), 1e-14);
    EXPECT_NEAR(full.front(), mutual_information(GaussianScalar{rho, 1}), 1e-14);
    EXPECT_EQ(useful.back(), 0);
    EXPECT_EQ(full.back(), 0);
  }
}

TEST(GaussianScalar, ListsEveryProblem) {
  EXPECT_THAT((GaussianScalar{1, 0}.check()), SizeIs(2));
  EXPECT_THAT((GaussianScalar{-0.99, 3}.check()), IsEmpty());
  EXPECT_THROW(least_leakage_useful_only(GaussianScalar{0.5, 1}, -0.1), Error);
}

}  // namespace
}  // namespace ppan::theory
