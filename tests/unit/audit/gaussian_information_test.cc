#include "ppan/audit/gaussian_information.h"

#include <gmock/gmock.h>

#include <Eigen/LU>
#include <cmath>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/worlds/gaussian_worlds.h"

namespace ppan {
namespace {

Matrix<double> normal(Index rows, Index cols, RandomSource& random) {
  Matrix<double> draws(rows, cols);
  fill_normal(random, draws);
  return draws;
}

struct Sample {
  Matrix<double> x;
  Matrix<double> z;
};
Sample scalar(double rho, Index count, RandomSource& random) {
  const Records<double> records = GaussianScalarWorld{rho}.sample(count, random);
  return {records.sensitive[0].value, records.useful.value};
}

// For scalars the formula is -1/2 log(1 - r^2) with the sample correlation r.
TEST(GaussianInformation, IsTheFormula) {
  SeededRandom random(1);
  const auto [x, z] = scalar(0.6, 500, random);
  const Matrix<double> cx = x.array() - x.mean();
  const Matrix<double> cz = z.array() - z.mean();
  const double r2 = std::pow(cx.cwiseProduct(cz).sum(), 2) / (cx.squaredNorm() * cz.squaredNorm());
  const Estimate estimate = gaussian_information(x, z);
  EXPECT_NEAR(estimate.nats, -0.5 * std::log1p(-r2), 1e-13);
  EXPECT_EQ(estimate.bound, Bound::kLower);
  EXPECT_EQ(estimate.samples, 500);

  // In several dimensions against determinants: 1/2 log(det Sx det Sz / det S).
  const Matrix<double> joint = normal(300, 5, random) * normal(5, 5, random);
  const Matrix<double> centred = joint.rowwise() - joint.colwise().mean();
  const Matrix<double> s = centred.transpose() * centred / 300;
  const double expected = 0.5 * std::log(s.topLeftCorner(2, 2).determinant() *
                                         s.bottomRightCorner(3, 3).determinant() / s.determinant());
  EXPECT_NEAR(gaussian_information(joint.leftCols(2), joint.rightCols(3)).nats, expected, 1e-10);
}

TEST(GaussianInformation, Distributions) {
  SeededRandom random(2);
  const Matrix<double> x = normal(2000, 2, random);
  const Matrix<double> z = x * normal(2, 3, random) + normal(2000, 3, random);
  const double information = gaussian_information(x, z).nats;
  EXPECT_GT(information, 0.1);
  EXPECT_NEAR(gaussian_information(z, x).nats, information, 1e-10) << "symmetry";
  const Matrix<double> map = normal(3, 3, random);
  EXPECT_NEAR(gaussian_information(x, (z * map * 1e6).array() + 1e5).nats, information, 1e-6)
      << "affine bijections";
  EXPECT_LE(gaussian_information(x, z.leftCols(2)).nats, information + 1e-12) << "data processing";
  Matrix<double> padded(2000, 5);
  padded << z, Matrix<double>::Constant(2000, 1, 0.1), z.col(0) - z.col(1);
  EXPECT_NEAR(gaussian_information(x, padded).nats, information, 1e-8) << "constant and dependent columns";
}

// The optimal release, simulated: the estimate must find the optimum's leakage.
TEST(GaussianInformation, FindsTheLeakageOfTheOptimalRelease) {
  SeededRandom random(3);
  const GaussianScalarWorld world{0.85, Observation::kFullData};
  const theory::GaussianScalar pair{0.85, 1};
  const Records<double> records = world.sample(100000, random);
  for (const double budget : {0.1, 0.4, 0.9}) {
    const theory::GaussianRelease best = theory::best_release_full_data(pair, budget);
    const Matrix<double> z = best.from_x * records.sensitive[0].value + best.from_y * records.useful.value;
    // Standard error sqrt(rho^2/n) < 0.0027; 6 of them fail once in 5 * 10^8.
    EXPECT_NEAR(gaussian_information(records.sensitive[0].value, z).nats, world.optimum(budget), 0.016);
    // Likewise for the mean of 100,000 squared errors of variance 2 D^2.
    EXPECT_NEAR((z - records.useful.value).squaredNorm() / 100000, std::min(budget, 0.7225),
                6 * budget * std::sqrt(2.0 / 100000));
  }
}

int hits(double rho, double shift, int trials, Index count) {
  int inside = 0;
  const SeededRandom root(4);
  for (int trial = 0; trial < trials; ++trial) {
    SeededRandom random = root.fork("trial", static_cast<std::uint64_t>(trial));
    const auto [x, z] = scalar(rho, count, random);
    const Interval interval = *gaussian_information(x, z).interval95;
    const double truth = -0.5 * std::log1p(-rho * rho) + shift;
    inside += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return inside;
}

// 400 trials at coverage 0.95: P(hits <= 355) = 4.6e-7, so a failure means a defect.
TEST(GaussianInformation, IntervalCovers) {
  for (const double rho : {0.0, 0.02, 0.3, 0.85, 0.99}) EXPECT_GT(hits(rho, 0, 400, 1000), 355) << rho;
  EXPECT_LT(hits(0.85, 0.06, 400, 1000), 355) << "the test can see a bias of 0.06 nats";
}

// Z = X^2 depends on X as strongly as can be, without any correlation: the estimate errs low, as it says.
TEST(GaussianInformation, SeesLinearDependenceOnly) {
  SeededRandom random(5);
  const Matrix<double> x = normal(20000, 1, random);
  EXPECT_LT(gaussian_information(x, x.array().square()).nats, 0.01);
  EXPECT_TRUE(std::isinf(gaussian_information(x, 2 * x).nats));
}

TEST(GaussianInformation, RefusesBadInput) {
  SeededRandom random(6);
  const Matrix<double> x = normal(50, 1, random);
  EXPECT_THROW(gaussian_information(x, x.topRows(49)), Error);
  EXPECT_THROW(gaussian_information(x.topRows(3), x.topRows(3)), Error);
  EXPECT_THROW(gaussian_information(Matrix<double>::Constant(50, 1, 0.1), x), Error);
  Matrix<double> bad = x;
  bad(3) = NAN;
  EXPECT_THROW(gaussian_information(x, bad), Error);
  EXPECT_EQ(gaussian_information(x, Matrix<double>::Constant(50, 2, 0.1)).nats, 0) << "a constant release";
}

}  // namespace
}  // namespace ppan
