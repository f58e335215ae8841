#include "ppan/core/linear_algebra.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/SVD>

namespace ppan {

template <typename Scalar>
SymmetricEigen<Scalar> symmetric_eigen(const Matrix<Scalar>& a) {
  const Eigen::SelfAdjointEigenSolver<Matrix<Scalar>> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}
template SymmetricEigen<float> symmetric_eigen(const Matrix<float>& a);
template SymmetricEigen<double> symmetric_eigen(const Matrix<double>& a);

Vector<double> symmetric_eigenvalues(const Matrix<double>& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix<double>>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Matrix<double> solve_symmetric(const Matrix<double>& a, const Matrix<double>& b) {
  return Eigen::LDLT<Matrix<double>>(a).solve(b);
}

Matrix<double> cholesky_factor(const Matrix<double>& a) {
  return Eigen::LLT<Matrix<double>>(a).matrixL();
}

Matrix<double> solve_lower(const Matrix<double>& lower, const Matrix<double>& b) {
  return lower.triangularView<Eigen::Lower>().solve(b);
}

Matrix<double> solve_cholesky(const Matrix<double>& lower, const Matrix<double>& b) {
  return lower.transpose().triangularView<Eigen::Upper>().solve(solve_lower(lower, b));
}

RightSingular right_singular(const Matrix<double>& a) {
  const Eigen::JacobiSVD<Matrix<double>> svd(a, Eigen::ComputeFullV);
  return {svd.singularValues(), svd.matrixV()};
}

}  // namespace ppan
