#pragma once

// A small dense linear program by the simplex method, for problems of some hundreds of rows whose answer is
// certified separately: the caller checks it by duality instead of trusting it.

#include <vector>

#include "ppan/core/matrix.h"

namespace ppan::theory {

/// minimise cost . x  subject to  rows x = right,  x >= 0.
struct LinearProgram {
  Matrix<double> rows;
  Vector<double> right;
  Vector<double> cost;
};

struct LinearSolution {
  Vector<double> x;
  Vector<double> reduced;  ///< Reduced costs; that of a slack column is the dual variable of its row.
  int pivots = 0;
  bool optimal = false;  ///< False: stopped at the limit of pivots, or unbounded.
};

/// From a basis: a column for each row that together give an x >= 0. The entering column has the least
/// reduced cost; after a run of steps that gain nothing Bland's rule takes over, under which the method ends.
/// Throws Error(kUsage) when shapes do not fit, or the basis is singular or not feasible.
LinearSolution solve_linear(const LinearProgram& program, std::vector<Index> basis, int most_pivots = 20000);

}  // namespace ppan::theory
