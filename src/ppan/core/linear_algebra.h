#pragma once

// Factorisations of small dense matrices. They are instantiated once, here, because each costs seconds of
// compile time. Include this header instead of Eigen's.

#include "ppan/core/matrix.h"

namespace ppan {

/// A = vectors diag(values) vectors^T of a symmetric A; its lower triangle is read. Values ascend. Not finite
/// where A is not.
struct SymmetricEigen {
  Vector<double> values;
  Matrix<double> vectors;
};
SymmetricEigen symmetric_eigen(const Matrix<double>& a);

/// The same without the vectors.
Vector<double> symmetric_eigenvalues(const Matrix<double>& a);

/// A^-1 B for a symmetric, semi-definite A, by A = L D L^T.
Matrix<double> solve_symmetric(const Matrix<double>& a, const Matrix<double>& b);

/// A^-1 B for a square A, by elimination with partial pivoting. Not finite where A is singular.
Matrix<double> solve_square(const Matrix<double>& a, const Matrix<double>& b);

double determinant(const Matrix<double>& a);

/// L of A = L L^T for a symmetric, positive definite A.
Matrix<double> cholesky_factor(const Matrix<double>& a);

/// L^-1 B, and (L L^T)^-1 B, for a lower triangle L.
Matrix<double> solve_lower(const Matrix<double>& lower, const Matrix<double>& b);
Matrix<double> solve_cholesky(const Matrix<double>& lower, const Matrix<double>& b);

/// A = U diag(values) V^T: values descend, V is square.
struct RightSingular {
  Vector<double> values;
  Matrix<double> v;
};
RightSingular right_singular(const Matrix<double>& a);

}  // namespace ppan
