#pragma once

// The conventional approach: with the distribution known (or estimated from samples, see plug_in_pair) the
// problem
//     minimise I(X;Z) over P(z|w)  subject to  E d(Y,Z) <= budget
// is convex and is solved exactly, here by a barrier method. The answer carries a
// certificate. As a function of P(x,z), I is convex and homogeneous of degree 1, so it lies above its tangent
// at any point q:
//     I(P') >= sum_{w,z} g(w,z) P'(z|w),   g(w,z) = sum_x P(w,x) log( q(x,z) / (P(x) q(z)) ).
// The least value of that linear function over the feasible mechanisms is, by duality, for every s >= 0 at
// least
//     sum_w min_z ( g(w,z) + s D(w,z) ) - s * budget,    D(w,z) = sum_y P(w,y) d(y,z),
// and the greatest of these over s is `lower_bound`: no mechanism within the budget leaks less.

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/theory/finite_distribution.h"

namespace ppan::theory {

struct ConvexOptions {
  double gap = 1e-7;     ///< Stop when leakage - lower_bound is at most this, nats. At least 1e-10.
  int iterations = 200;  ///< Newton steps at most. At least 1.

  [[nodiscard]] Problems check() const;
};

struct ConvexSolution {
  Matrix<double> mechanism;  ///< P(z|w), a row per w. Within the budget.
  double leakage =
      0;  ///< I(X;Z) of `mechanism` under the given distribution, nats: an upper bound on the optimum.
  double lower_bound = 0;  ///< No mechanism within the budget leaks less, nats.
  double distortion = 0;   ///< E d(Y,Z) of `mechanism` under the given distribution.
  double multiplier = 0;   ///< s: nats of leakage saved per unit of distortion added.
  int iterations = 0;

  /// Certified: the mechanism is at most this far from the optimum, nats.
  [[nodiscard]] double gap() const { return leakage - lower_bound; }
};

/// The least E d(Y,Z) any mechanism can have.
double least_distortion(const FiniteDistribution& distribution, const MatrixRef<double>& distortion);

/// Solves the problem. Cells and whole rows of probability 0 are allowed; a w of probability 0 releases a
/// draw from P(z), which is independent of it. Throws Error(kUsage) when the budget is below least_distortion
/// or an argument is malformed.
ConvexSolution solve_convex(const FiniteDistribution& distribution, const MatrixRef<double>& distortion,
                            double budget, const ConvexOptions& options = {});

}  // namespace ppan::theory
