#include "ppan/core/linear_algebra.h"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/SVD>

namespace ppan {

SymmetricEigen symmetric_eigen(const Matrix<double>& a) {
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> solver(a);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

Vector<double> symmetric_eigenvalues(const Matrix<double>& a) {
  return Eigen::SelfAdjointEigenSolver<Matrix<double>>(a, Eigen::EigenvaluesOnly).eigenvalues();
}

Matrix<double> solve_symmetric(const Matrix<double>& a, const Matrix<double>& b) {
  return Eigen::LDLT<Matrix<double>>(a).solve(b);
}

Matrix<double> solve_square(const Matrix<double>& a, const Matrix<double>& b) {
  return Eigen::PartialPivLU<Matrix<double>>(a).solve(b);
}

double determinant(const Matrix<double>& a) {
  return a.determinant();
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
