#include "ppan/audit/ksg.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/worlds/gaussian_worlds.h"

namespace ppan {
namespace {

using ::testing::SizeIs;

Matrix<double> normal(Index rows, Index cols, RandomSource& random) {
  Matrix<double> draws(rows, cols);
  fill_normal(random, draws);
  return draws;
}

/// The estimator by its definition, in O(n^2): the same distances and counts, no trees.
double brute_force(const Matrix<double>& x, const Matrix<double>& z, int k) {
  const Index n = x.rows();
  const auto standardised = [](const Matrix<double>& values) {
    Matrix<double> result = values.rowwise() - values.colwise().mean();
    for (Index j = 0; j < result.cols(); ++j)
      result.col(j) /= std::sqrt(result.col(j).squaredNorm() / static_cast<double>(result.rows()));
    return result;
  };
  const Matrix<double> a = standardised(x);
  const Matrix<double> b = standardised(z);
  std::vector<double> psi{0, -std::numbers::egamma};
  for (Index j = 1; j <= n; ++j) psi.push_back(psi.back() + 1.0 / static_cast<double>(j));
  double sum = 0;
  for (Index i = 0; i < n; ++i) {
    std::vector<double> joint;
    for (Index j = 0; j < n; ++j)
      if (j != i)
        joint.push_back(std::max((a.row(i) - a.row(j)).squaredNorm(), (b.row(i) - b.row(j)).squaredNorm()));
    std::nth_element(joint.begin(), joint.begin() + k - 1, joint.end());
    const double limit = joint[static_cast<std::size_t>(k - 1)] * (1 - 1e-12);
    std::size_t nx = 0;
    std::size_t nz = 0;
    for (Index j = 0; j < n; ++j) {
      if (j == i) continue;
      nx += (a.row(i) - a.row(j)).squaredNorm() < limit ? 1 : 0;
      nz += (b.row(i) - b.row(j)).squaredNorm() < limit ? 1 : 0;
    }
    sum += psi[nx + 1] + psi[nz + 1];
  }
  return psi[static_cast<std::size_t>(k)] + psi[static_cast<std::size_t>(n)] - sum / static_cast<double>(n);
}

TEST(Ksg, AgreesWithItsDefinition) {
  SeededRandom random(1);
  for (const Index dim_x : {1, 2, 3})
    for (const Index dim_z : {1, 4})
      for (const int k : {1, 3, 6}) {
        const Matrix<double> x = normal(400, dim_x, random);
        const Matrix<double> z = x * normal(dim_x, dim_z, random) + 0.3 * normal(400, dim_z, random);
        EXPECT_NEAR(ksg_information(x, z, {.neighbours = k, .jitter = 0}).nats, brute_force(x, z, k), 1e-12);
      }
}

// 20,000 records. The standard error is about 0.007 nats at rho = 0.85 (less for smaller rho); 6 of them and
// 0.01 for bias leave a false alarm of less than 10^-8.
TEST(Ksg, FindsGaussianInformation) {
  for (const double rho : {0.0, 0.3, 0.85, -0.95}) {
    SeededRandom random(2);
    const GaussianScalarWorld world{rho};
    const Records<double> records = world.sample(20000, random);
    const Estimate estimate = ksg_information(records.sensitive[0].value, records.useful.value);
    EXPECT_NEAR(estimate.nats, world.mutual_information(), 0.05) << rho;
    EXPECT_EQ(estimate.bound, Bound::kEstimate);
    EXPECT_EQ(estimate.samples, 20000);
    EXPECT_LT(estimate.interval95->high - estimate.interval95->low, 0.06);
  }
}

// Dependence without correlation: X uniform on [-1, 1], Z = X^2 + U with U uniform on [0, 1/2]. Then
// I = h(Z) - h(U) = h(Z) + log 2, with h(Z) by quadrature of the exact density. Standard error about 0.006
// nats; 6 of them and 0.01 for bias, as above.
TEST(Ksg, FindsDependenceWithoutCorrelation) {
  SeededRandom random(3);
  Matrix<double> x(20000, 1);
  Matrix<double> u(20000, 1);
  fill_uniform(random, -1.0, 1.0, x);
  fill_uniform(random, 0.0, 0.5, u);
  // Density of V = X^2 is 1/(2 sqrt v) on [0, 1]; of V + U: sqrt(min(z,1)) - sqrt(max(z-1/2,0)) over 1/2.
  double entropy = 0;
  constexpr int kSteps = 1000000;
  for (int i = 0; i < kSteps; ++i) {
    const double z = 1.5 * (i + 0.5) / kSteps;
    const double density = 2 * (std::sqrt(std::min(z, 1.0)) - std::sqrt(std::max(z - 0.5, 0.0)));
    if (density > 0) entropy -= density * std::log(density) * 1.5 / kSteps;
  }
  const double truth = entropy + std::numbers::ln2;
  EXPECT_GT(truth, 0.5);
  EXPECT_NEAR(ksg_information(x, x.array().square() + u.array()).nats, truth, 0.05);
}

TEST(Ksg, Distributions) {
  SeededRandom random(4);
  const Matrix<double> x = normal(5000, 1, random);
  const Matrix<double> z = x + normal(5000, 1, random);
  const double information = ksg_information(x, z).nats;
  EXPECT_NEAR(ksg_information(z, x).nats, information, 1e-3) << "symmetry, up to the jitter";
  EXPECT_NEAR(ksg_information((1e6 * x).array() + 3e6, -1e-3 * z).nats, information, 1e-3) << "scales";
  // A curved bijection moves the neighbours, not the information: within 0.05 nats.
  EXPECT_NEAR(ksg_information(x.array().exp(), z.array().cube()).nats, information, 0.05);
  const Matrix<double> noisier = z + normal(5000, 1, random);
  EXPECT_LT(ksg_information(x, noisier).nats, information) << "data processing";
  Matrix<double> padded(5000, 3);
  padded << Matrix<double>::Constant(5000, 1, 7), z, Matrix<double>::Constant(5000, 1, 0.1);
  EXPECT_NEAR(ksg_information(x, padded).nats, information, 1e-3) << "constant columns";
}

int hits(double rho, double shift, int trials) {
  int inside = 0;
  const SeededRandom root(5);
  for (int trial = 0; trial < trials; ++trial) {
    SeededRandom random = root.fork("trial", static_cast<std::uint64_t>(trial));
    const Records<double> records = GaussianScalarWorld{rho}.sample(1000, random);
    const Interval interval = *ksg_information(records.sensitive[0].value, records.useful.value).interval95;
    const double truth = -0.5 * std::log1p(-rho * rho) + shift;
    inside += interval.low <= truth && truth <= interval.high ? 1 : 0;
  }
  return inside;
}

// 400 trials at coverage 0.95: P(hits <= 355) = 4.6e-7, so a failure means a defect.
TEST(Ksg, IntervalCovers) {
  for (const double rho : {0.0, 0.6}) EXPECT_GT(hits(rho, 0, 400), 355) << rho;
  EXPECT_LT(hits(0.6, 0.1, 400), 355) << "the test can see a bias of 0.1 nats";
}

TEST(Ksg, TiesAreBroken) {
  SeededRandom random(6);
  // Rounded to a tenth, thousands of records coincide; the information is that of the unrounded pair, nearly.
  const Matrix<double> x = normal(4000, 1, random);
  const Matrix<double> z = x + normal(4000, 1, random);
  const Matrix<double> rounded_x = (10 * x).array().round() / 10;
  const Matrix<double> rounded_z = (10 * z).array().round() / 10;
  EXPECT_NEAR(ksg_information(rounded_x, rounded_z).nats, 0.5 * std::numbers::ln2, 0.1);
  // Independent coins and dice: no information, whatever the ties.
  Matrix<double> coin(4000, 1);
  Matrix<double> die(4000, 1);
  for (Index i = 0; i < 4000; ++i) {
    coin(i) = static_cast<double>(random.index(2));
    die(i) = static_cast<double>(random.index(6));
  }
  EXPECT_NEAR(ksg_information(coin, die).nats, 0, 0.1);
}

TEST(Ksg, IsReproducibleOnAnyNumberOfThreads) {
  SeededRandom random(7);
  const Matrix<double> x = normal(3000, 2, random);
  const Matrix<double> z = x + normal(3000, 2, random);
  const Estimate one = ksg_information(x, z, {.threads = 1});
  const Estimate two = ksg_information(x, z, {.threads = 3});
  EXPECT_EQ(one.nats, two.nats);
  EXPECT_EQ(one.interval95->low, two.interval95->low);
}

TEST(Ksg, RefusesBadInput) {
  SeededRandom random(8);
  const Matrix<double> x = normal(100, 1, random);
  EXPECT_THROW(ksg_information(x, x.topRows(99)), Error);
  EXPECT_THROW(ksg_information(x.topRows(59), x.topRows(59)), Error);
  Matrix<double> bad = x;
  bad(0) = INFINITY;
  EXPECT_THROW(ksg_information(bad, x), Error);
  EXPECT_EQ(ksg_information(Matrix<double>::Constant(100, 1, 0.1), x).nats, 0);
  EXPECT_THAT((KsgOptions{.neighbours = 0, .jitter = -1, .blocks = 1, .threads = -1}.check()), SizeIs(4));
}

}  // namespace
}  // namespace ppan
