#include "ppan/theory/gaussian_vector.h"

#include <gmock/gmock.h>

#include <Eigen/LU>
#include <Eigen/QR>
#include <cmath>

#include "ppan/core/random.h"
#include "ppan/theory/gaussian_scalar.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

Vector<double> paper_rho() {
  return (Vector<double>(5) << 0.47, 0.24, 0.85, 0.07, 0.66).finished();
}

TEST(GaussianVector, KnownValues) {
  const GaussianVector pair{paper_rho()};
  // mpmath, 30 digits, the level found by bisection of the filled volume.
  EXPECT_NEAR(mutual_information(pair), 1.08388989344514299, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 0).leakage, 1.08388989344514299, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 0.23).leakage, 0.849254203828073, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 1).leakage, 0.442378335343206, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 1.5).leakage, 0.279749099375942, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 2.5).leakage, 0.090638536273594, 1e-14);
  EXPECT_NEAR(least_leakage(pair, 4.5).leakage, 0.00122650308053343, 1e-14);
  EXPECT_EQ(least_leakage(pair, 5).leakage, 0);
  EXPECT_NEAR(least_leakage(pair, 1).level, 1.33988357942432, 1e-13);
  const Vector<double> at_one = least_leakage(pair, 1).component_distortion;
  EXPECT_NEAR(at_one[2], 0.955800534442, 1e-11);
  EXPECT_NEAR(at_one[4], 0.0441994655584, 1e-11);
  EXPECT_EQ(at_one[0] + at_one[1] + at_one[3], 0) << "the clamp at 0 that the paper's statement lacks";
}

TEST(GaussianVector, ScalarIsTheSpecialCase) {
  for (const double d : {0.0, 0.7, 3.9, 4.0, 9.0})
    EXPECT_NEAR(least_leakage({Vector<double>::Constant(1, -0.6), 4}, d).leakage,
                least_leakage_useful_only(GaussianScalar{-0.6, 4}, d), 1e-14);
}

TEST(GaussianVectorFullData, ScalarIsTheSpecialCase) {
  for (const double d : {0.0, 1e-6, 0.7, 1.43, 1.44, 3.9, 9.0})
    EXPECT_NEAR(least_leakage_full_data({Vector<double>::Constant(1, -0.6), 4}, d).leakage,
                least_leakage_full_data(GaussianScalar{-0.6, 4}, d), 1e-12)
        << d;
  // Pairs that are alike share the budget.
  EXPECT_NEAR(least_leakage_full_data({Vector<double>::Constant(3, 0.8), 1}, 0.9).leakage,
              3 * least_leakage_full_data(GaussianScalar{0.8, 1}, 0.3), 1e-12);
}

TEST(GaussianVectorFullData, BeginsAtTheInformationAndEndsWhereNoneIsLeft) {
  const GaussianVector pair{(Vector<double>(6) << 0.47, 0.24, -0.85, 0, 0.07, 0.66).finished(), 2};
  EXPECT_NEAR(least_leakage_full_data(pair, 0).leakage, mutual_information(pair), 1e-14);
  const double free = pair.scale * pair.rho.squaredNorm();
  EXPECT_EQ(least_leakage_full_data(pair, free).leakage, 0);
  EXPECT_EQ(least_leakage_full_data(pair, 100).leakage, 0);
  double before = mutual_information(pair);
  for (double d = 0.05; d < free; d += 0.05) {
    const GaussianVectorOptimum optimum = least_leakage_full_data(pair, d);
    EXPECT_NEAR(pair.scale * optimum.component_distortion.sum(), d, 1e-9);
    EXPECT_EQ(optimum.component_distortion[3], 0) << "nothing to hide there";
    EXPECT_LT(optimum.leakage, before);
    EXPECT_LE(optimum.leakage, least_leakage(pair, d).leakage + 1e-12) << "X is seen beside Y";
    before = optimum.leakage;
  }
}

// Z = A X + B Y + noise, neither diagonal nor without noise: none does better at the distortion it has.
TEST(GaussianVectorFullData, NoLinearReleaseDoesBetter) {
  SeededRandom random(5);
  const GaussianVector pair{(Vector<double>(3) << 0.85, 0.4, 0.66).finished()};
  const Matrix<double> one = Matrix<double>::Identity(3, 3);
  Matrix<double> both(6, 6);  // of X and Y
  both << one, Matrix<double>(pair.rho.asDiagonal()), Matrix<double>(pair.rho.asDiagonal()), one;
  const auto some = [&](double size) {
    Matrix<double> m(3, 3);
    for (double& v : m.reshaped()) v = size * (2 * random.uniform() - 1);
    return m;
  };
  double nearest = 1;
  for (int trial = 0; trial < 3000; ++trial) {
    // Around the best release of a random budget, or anywhere.
    const double budget = 0.05 + 1.2 * random.uniform();
    const Vector<double> lost = least_leakage_full_data(pair, budget).component_distortion;
    const double size = trial % 3 == 0 ? 1 : 0.2 * random.uniform();
    Matrix<double> linear(3, 6);
    linear << some(size), some(size);
    for (Index i = 0; trial % 3 != 0 && i < 3; ++i) {
      const GaussianRelease z = best_release_full_data({.rho = pair.rho[i]}, lost[i]);
      linear(i, i) += z.from_x;
      linear(i, 3 + i) += z.from_y;
    }
    const Matrix<double> root = some(0.3 * random.uniform());
    const Matrix<double> noise = root * root.transpose() + 1e-9 * one;
    Matrix<double> missed = linear;
    missed.rightCols(3) -= one;
    const double distortion = (missed * both * missed.transpose()).trace() + noise.trace();
    const Matrix<double> z = linear * both * linear.transpose() + noise;
    const Matrix<double> xz = linear * both.leftCols(3);
    const double leakage = 0.5 * std::log(z.determinant() / (z - xz * xz.transpose()).determinant());
    const double optimum = least_leakage_full_data(pair, distortion).leakage;
    ASSERT_GE(leakage, optimum - 1e-6) << distortion;
    nearest = std::min(nearest, leakage - optimum);
  }
  EXPECT_LT(nearest, 0.01) << "some were near enough to tell";
}

TEST(GaussianVector, SpendsTheBudgetAndNoAllocationDoesBetter) {
  SeededRandom random(3);
  const GaussianVector pair{paper_rho(), 2};
  for (const double budget : {0.1, 0.9, 2.2, 5.0, 8.0}) {
    const GaussianVectorOptimum optimum = least_leakage(pair, budget);
    EXPECT_NEAR(pair.scale * optimum.component_distortion.sum(), budget, 1e-12);
    for (int trial = 0; trial < 2000; ++trial) {
      // Another allocation of the same budget: random, or the optimum disturbed.
      Vector<double> share(5);
      for (double& s : share) s = random.uniform();
      if (trial % 2 == 0) share = optimum.component_distortion + 0.05 * share;
      share = (share * (budget / pair.scale / share.sum())).cwiseMin(1).eval();
      const double leakage = -0.5 * (-pair.rho.array().square() * (1 - share.array())).log1p().sum();
      ASSERT_GE(leakage, optimum.leakage - 1e-12);
    }
  }
}

TEST(GaussianVector, CurveObeysTheLaws) {
  std::vector<double> leakage;
  const GaussianVector pair{(Vector<double>(4) << 0.9, 0, -0.5, 0.5).finished(), 0.5};
  for (int i = 0; i <= 200; ++i) leakage.push_back(least_leakage(pair, 2.0 * i / 200).leakage);
  EXPECT_THAT(ppan::testing::broken_properties(leakage, -1), IsEmpty());
  EXPECT_EQ(leakage.back(), 0);
  EXPECT_EQ(least_leakage(pair, 1.5).leakage, 0) << "the component that tells nothing is left alone";
  EXPECT_GT(least_leakage(pair, 1.49).leakage, 0);
  EXPECT_EQ(least_leakage({Vector<double>::Zero(2), 1}, 0.3).leakage, 0);
}

TEST(GaussianVector, CanonicalFormOfARotatedLaw) {
  SeededRandom random(8);
  Matrix<double> draws(5, 5);
  fill_normal(random, draws);
  const Matrix<double> turn_x = Eigen::HouseholderQR<Matrix<double>>(draws).householderQ();
  fill_normal(random, draws);
  const Matrix<double> turn_y = Eigen::HouseholderQR<Matrix<double>>(draws).householderQ();
  fill_normal(random, draws);
  const Matrix<double> mix = draws + 3 * Matrix<double>::Identity(5, 5);  // any invertible map of X
  const Matrix<double> covariance_x = mix * mix.transpose();
  const Matrix<double> cross = std::sqrt(2.0) * mix * turn_x * paper_rho().asDiagonal() * turn_y;
  const Matrix<double> isotropic = 2 * Matrix<double>::Identity(5, 5);

  const CanonicalForm form = canonical_form(covariance_x, isotropic, cross);
  const Vector<double> sorted = (Vector<double>(5) << 0.85, 0.66, 0.47, 0.24, 0.07).finished();
  EXPECT_LT((form.rho - sorted).cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_NEAR(form.scale, 2, 1e-12);
  EXPECT_LT(form.departure, 1e-12);
  ASSERT_TRUE(form.solvable());
  EXPECT_NEAR(least_leakage(*form.solvable(), 2).leakage, 0.442378335343206, 1e-12);

  Matrix<double> stretched = isotropic;
  stretched(0, 0) = 2.5;
  const CanonicalForm other = canonical_form(covariance_x, stretched, cross);
  EXPECT_GT(other.departure, 0.01);
  EXPECT_FALSE(other.solvable());
}

TEST(GaussianVector, RefusesWhatIsNotACovariance) {
  const Matrix<double> one = Matrix<double>::Identity(2, 2);
  EXPECT_THROW(canonical_form(-one, one, one), Error);
  EXPECT_THROW(canonical_form(one, one, Matrix<double>::Zero(3, 2)), Error);
  EXPECT_THAT((GaussianVector{(Vector<double>(2) << 1, -2).finished(), -1}.check()), SizeIs(3));
  EXPECT_THAT((GaussianVector{}.check()), SizeIs(1));
}

}  // namespace
}  // namespace ppan::theory
