#pragma once

// The distribution of a finite world, as far as leakage and distortion depend on it. Given a mechanism
// P(z|w),
//     P(x,z) = sum_w P(w,x) P(z|w)     and     E d(Y,Z) = sum_{w,y,z} P(w,y) P(z|w) d(y,z),
// so the two margins P(w,x) and P(w,y) of P(w,x,y) say everything. Mechanisms are |W| x |Z| matrices, a row
// P(.|w) per w; distortions are |Y| x |Z|.

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/records.h"
#include "ppan/theory/observation.h"

namespace ppan::theory {

struct FiniteDistribution {
  Matrix<double> wx;  ///< P(w,x), a row per w.
  Matrix<double> wy;  ///< P(w,y), a row per w; P(w) must be the same as in `wx`.

  [[nodiscard]] Problems check() const;
};

/// The distribution of W, X, Y for a joint pmf P(x,y) (a row per x) seen through `observation`. With full
/// data the code of w = (x,y) is x |Y| + y. Rate-distortion takes X to be Y and uses P(y) alone.
FiniteDistribution distribution_of_pair(const MatrixRef<double>& pair, Observation observation);

/// Plug-in estimate of P(x,y): (n(x,y) + a) / (n + a |X| |Y|), `a` the pseudo-count of a symmetric Dirichlet
/// prior (0: relative frequencies). Uses the first sensitive attribute; both must be finite.
Matrix<double> plug_in_pair(const Records<double>& records, double pseudo_count = 0);

/// P(x,z) = sum_w P(w,x) P(z|w).
Matrix<double> released_joint(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism);
/// I(X;Z), exact.
double leakage(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism);
/// I(Y;Z), exact.
double useful_information(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism);
/// E d(Y,Z), exact.
double expected_distortion(const FiniteDistribution& distribution, const MatrixRef<double>& mechanism,
                           const MatrixRef<double>& distortion);
/// d(y,z) = 1(y != z).
Matrix<double> error_distortion(Index levels);

}  // namespace ppan::theory
