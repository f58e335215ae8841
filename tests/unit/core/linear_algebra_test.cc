#include "ppan/core/linear_algebra.h"

#include <gtest/gtest.h>

#include "ppan/core/random.h"

namespace ppan {
namespace {

// Positive definite: A A^T + 1.
Matrix<double> some_covariance(Index size, SeededRandom& random) {
  Matrix<double> a(size, size);
  for (double& v : a.reshaped()) v = random.uniform() - 0.5;
  return a * a.transpose() + Matrix<double>::Identity(size, size);
}

TEST(LinearAlgebra, EigenvaluesOfAMatrixWorkedOutByHand) {
  Matrix<double> a(2, 2);
  a << 2, 1, 1, 2;  // 1 along (1, -1), 3 along (1, 1)
  const SymmetricEigen eigen = symmetric_eigen(a);
  EXPECT_NEAR(eigen.values[0], 1, 1e-14);
  EXPECT_NEAR(eigen.values[1], 3, 1e-14);
  EXPECT_NEAR(eigen.vectors(0, 1), eigen.vectors(1, 1), 1e-14);
  EXPECT_NEAR((symmetric_eigenvalues(a) - eigen.values).norm(), 0, 1e-14);
  EXPECT_NEAR(determinant(a), 3, 1e-14);
}

TEST(LinearAlgebra, FactorsGiveTheMatrixBack) {
  SeededRandom random(1);
  for (const Index size : {1, 3, 17}) {
    const Matrix<double> a = some_covariance(size, random);
    const SymmetricEigen eigen = symmetric_eigen(a);
    EXPECT_LT((eigen.vectors * eigen.values.asDiagonal() * eigen.vectors.transpose() - a).norm(), 1e-12);
    const Matrix<double> lower = cholesky_factor(a);
    EXPECT_LT((lower * lower.transpose() - a).norm(), 1e-12);
    const Matrix<double> b = some_covariance(size, random);
    EXPECT_LT((a * solve_symmetric(a, b) - b).norm(), 1e-12);
    EXPECT_LT((a * solve_square(a, b) - b).norm(), 1e-12);
    EXPECT_LT((a * solve_cholesky(lower, b) - b).norm(), 1e-12);
    EXPECT_LT((lower * solve_lower(lower, b) - b).norm(), 1e-12);
  }
}

TEST(LinearAlgebra, SingularValuesOfAWideMatrixHaveASquareV) {
  Matrix<double> a(1, 3);
  a << 0, 3, 4;
  const RightSingular svd = right_singular(a);
  ASSERT_EQ(svd.values.size(), 1);
  EXPECT_NEAR(svd.values[0], 5, 1e-14);
  ASSERT_EQ(svd.v.cols(), 3);
  EXPECT_NEAR(std::abs(svd.v(1, 0)), 0.6, 1e-14);
  EXPECT_LT((svd.v.transpose() * svd.v - Matrix<double>::Identity(3, 3)).norm(), 1e-14);
}

}  // namespace
}  // namespace ppan
