#include "ppan/theory/gaussian_general.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <cmath>

#include "ppan/core/random.h"
#include "ppan/theory/gaussian_scalar.h"
#include "ppan/theory/gaussian_vector.h"
#include "ppan/theory/rate_distortion.h"

namespace ppan::theory {
namespace {

Matrix<double> random_matrix(Index rows, Index cols, SeededRandom& random) {
  Matrix<double> m(rows, cols);
  fill_normal(random, m);
  return m;
}

GaussianCovariance random_covariance(Index x, Index y, std::uint64_t seed) {
  SeededRandom random(seed);
  const Matrix<double> root = random_matrix(x + y, x + y, random);
  return split_covariance(root * root.transpose() + 0.3 * Matrix<double>::Identity(x + y, x + y), x);
}

// I(X;Z) and E||Y - Z||^2 of Z = gain Y + N(0, noise), from scratch.
double leakage_of(const GaussianCovariance& c, const Matrix<double>& gain, const Matrix<double>& noise) {
  const Matrix<double> z =
      gain * c.y * gain.transpose() + noise + 1e-13 * Matrix<double>::Identity(gain.rows(), gain.rows());
  const Matrix<double> xz = c.xy * gain.transpose();
  const Matrix<double> rest = c.x - xz * z.ldlt().solve(xz.transpose());
  return 0.5 * std::log(c.x.determinant() / rest.determinant());
}
double distortion_of(const GaussianCovariance& c, const Matrix<double>& gain, const Matrix<double>& noise) {
  const Matrix<double> lost = Matrix<double>::Identity(gain.rows(), gain.cols()) - gain;
  return (lost * c.y * lost.transpose()).trace() + noise.trace();
}

TEST(GaussianGeneral, AgreesWithTheScalarAndTheVectorProposition) {
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  for (const double d : {0.0, 0.1, 0.5, 0.9, 1.0, 1.5}) {
    EXPECT_NEAR(least_leakage({one, one, 0.85 * one}, d).leakage,
                least_leakage_useful_only(GaussianScalar{.rho = 0.85}, d), 1e-6);
  }
  const Vector<double> rho = (Vector<double>(5) << 0.47, 0.24, 0.85, 0.07, 0.66).finished();
  const Matrix<double> identity = Matrix<double>::Identity(5, 5);
  for (const double d : {0.23, 1.0, 2.5, 4.5}) {
    const GaussianGeneralOptimum found = least_leakage({identity, identity, rho.asDiagonal()}, d);
    EXPECT_NEAR(found.leakage, least_leakage(GaussianVector{.rho = rho}, d).leakage, 2e-6) << d;
    EXPECT_LE(found.gap(), 1e-5) << d;
  }
}

// m != n, no structure: what is promised is attained by the release returned, and the certificate holds.
TEST(GaussianGeneral, AnyCovarianceIsCertifiedAndAttained) {
  for (const auto& [x, y] : {std::pair<Index, Index>{2, 3}, {3, 2}, {1, 4}}) {
    const GaussianCovariance c = random_covariance(x, y, static_cast<std::uint64_t>(10 * x + y));
    ASSERT_TRUE(c.check().empty());
    double before = mutual_information(c) + 1e-9;
    for (const double share : {0.0, 0.1, 0.3, 0.6, 1.0}) {
      const double budget = share * c.y.trace();
      const GaussianGeneralOptimum found = least_leakage(c, budget);
      EXPECT_LE(found.gap(), 1e-4) << x << y << share;
      EXPECT_LE(found.leakage, before);
      before = found.leakage + 1e-9;
      EXPECT_LE(distortion_of(c, found.gain, found.noise), budget + 1e-8);
      EXPECT_NEAR(leakage_of(c, found.gain, found.noise), found.leakage, 1e-6);
    }
    EXPECT_NEAR(least_leakage(c, c.y.trace()).leakage, 0, 1e-9);
    EXPECT_NEAR(least_leakage(c, 0).leakage, mutual_information(c), 1e-9);
  }
}

// No random release within the budget goes below the certified bound.
TEST(GaussianGeneral, NothingGoesBelowTheBound) {
  const GaussianCovariance c = random_covariance(2, 3, 77);
  const double budget = 0.3 * c.y.trace();
  const double bound = least_leakage(c, budget).lower_bound;
  SeededRandom random(5);
  int tried = 0;
  for (int t = 0; t < 5000; ++t) {
    const Matrix<double> gain =
        Matrix<double>::Identity(3, 3) - 0.5 * random.uniform() * random_matrix(3, 3, random);
    const Matrix<double> root = random.uniform() * random_matrix(3, 3, random);
    const Matrix<double> noise = root * root.transpose();
    if (distortion_of(c, gain, noise) > budget) continue;
    ++tried;
    EXPECT_GE(leakage_of(c, gain, noise), bound - 1e-9);
  }
  EXPECT_GT(tried, 100);
}

// Z = gain (X,Y) + noise.
double full_data_distortion(const GaussianCovariance& c, const Matrix<double>& gain,
                            const Matrix<double>& noise) {
  Matrix<double> whole(c.x.rows() + c.y.rows(), c.x.rows() + c.y.rows());
  whole << c.x, c.xy, c.xy.transpose(), c.y;
  Matrix<double> missed = gain;
  missed.rightCols(c.y.rows()) -= Matrix<double>::Identity(c.y.rows(), c.y.rows());
  return (missed * whole * missed.transpose()).trace() + noise.trace();
}
double full_data_leakage(const GaussianCovariance& c, const Matrix<double>& gain,
                         const Matrix<double>& noise) {
  Matrix<double> whole(c.x.rows() + c.y.rows(), c.x.rows() + c.y.rows());
  whole << c.x, c.xy, c.xy.transpose(), c.y;
  const Matrix<double> z = gain * whole * gain.transpose() + noise;
  return mutual_information({c.x, z, whole.topRows(c.x.rows()) * gain.transpose()});
}

TEST(GaussianGeneralFullData, AgreesWithTheScalarPropositionAndWithPairs) {
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  for (const double d : {0.0, 0.1, 0.5, 0.7, 0.8, 1.5}) {
    const GaussianGeneralOptimum found =
        least_leakage_full_data(GaussianCovariance{one, 2 * one, 1.2 * one}, d);
    EXPECT_NEAR(found.leakage,
                least_leakage_full_data(GaussianScalar{.rho = 1.2 / std::sqrt(2), .variance_y = 2}, d), 1e-5)
        << d;
  }
  const Vector<double> rho = (Vector<double>(3) << 0.47, 0.85, 0.66).finished();
  const Matrix<double> identity = Matrix<double>::Identity(3, 3);
  for (const double d : {0.1, 0.5, 1.0, 1.3}) {
    const GaussianGeneralOptimum found =
        least_leakage_full_data(GaussianCovariance{identity, identity, rho.asDiagonal()}, d);
    EXPECT_NEAR(found.leakage, least_leakage_full_data(GaussianVector{.rho = rho}, d).leakage, 1e-5) << d;
  }
}

TEST(GaussianGeneralFullData, AnyCovarianceIsCertifiedAndAttained) {
  for (const auto& [x, y] : {std::pair<Index, Index>{2, 3}, {3, 2}, {1, 4}}) {
    const GaussianCovariance c = random_covariance(x, y, static_cast<std::uint64_t>(10 * x + y));
    double before = mutual_information(c) + 1e-9;
    for (const double share : {0.0, 0.02, 0.1, 0.3}) {
      const double budget = share * c.y.trace();
      const GaussianGeneralOptimum found = least_leakage_full_data(c, budget);
      EXPECT_LE(found.gap(), 1e-3) << x << y << share;
      EXPECT_LE(found.leakage, before);
      before = found.leakage + 1e-9;
      EXPECT_LE(found.leakage, least_leakage(c, budget).leakage + 1e-6) << "X is seen beside Y";
      EXPECT_LE(full_data_distortion(c, found.gain, found.noise), budget + 1e-8);
      if (share > 0) {
        EXPECT_LE(full_data_leakage(c, found.gain, found.noise), found.leakage + 1e-5);
      }
    }
    EXPECT_NEAR(least_leakage_full_data(c, 0).leakage, mutual_information(c), 1e-9);
    // Y less what X tells of it.
    const Matrix<double> told = c.xy.transpose() * c.x.inverse() * c.xy;
    EXPECT_NEAR(least_leakage_full_data(c, told.trace() + 1e-9).leakage, 0, 1e-4);
  }
}

TEST(GaussianGeneralFullData, NothingGoesBelowTheBound) {
  const GaussianCovariance c = random_covariance(2, 3, 77);
  const double budget = 0.1 * c.y.trace();
  const GaussianGeneralOptimum found = least_leakage_full_data(c, budget);
  SeededRandom random(5);
  int tried = 0;
  for (int t = 0; t < 20'000; ++t) {
    const Matrix<double> gain = found.gain + 0.3 * random.uniform() * random_matrix(3, 5, random);
    const Matrix<double> root = 0.3 * random.uniform() * random_matrix(3, 3, random);
    const Matrix<double> noise = found.noise + root * root.transpose();
    if (full_data_distortion(c, gain, noise) > budget) continue;
    ++tried;
    EXPECT_GE(full_data_leakage(c, gain, noise), found.lower_bound - 1e-9);
  }
  EXPECT_GT(tried, 20);
}

TEST(GaussianGeneral, BadCovariancesAreRefused) {
  const auto problems = [](const GaussianCovariance& c) { return c.check().size(); };
  const Matrix<double> one = Matrix<double>::Ones(1, 1);
  EXPECT_EQ(problems({one, one, 0.5 * one}), 0U);
  EXPECT_EQ(problems({-one, one, 0.5 * one}), 1U);
  EXPECT_EQ(problems({one, one, 1.5 * one}), 1U);  // a correlation above 1
  EXPECT_EQ(problems({one, one, Matrix<double>::Zero(2, 1)}), 1U);
  EXPECT_EQ(problems({(Matrix<double>(2, 2) << 1, 0.5, 0.1, 1).finished(), -one, Matrix<double>::Zero(2, 1)}),
            2U);
  EXPECT_THROW(split_covariance(Matrix<double>::Identity(3, 3), 3), Error);
  EXPECT_TRUE(check_covariance(Matrix<double>::Identity(3, 3), 1).empty());
  EXPECT_EQ(check_covariance((Matrix<double>(2, 2) << 1, 2, 3, 1).finished(), 2).size(),
            3U);  // sensitive, even, definite
  EXPECT_EQ(check_covariance(Matrix<double>::Identity(2, 3), 1).size(), 1U);
  EXPECT_EQ(check_covariance(Matrix<double>::Identity(kMostComponents + 1, kMostComponents + 1), 1).size(),
            1U);
  EXPECT_THROW(least_leakage(GaussianCovariance{one, one, 0.5 * one}, -1), Error);
}

}  // namespace
}  // namespace ppan::theory
