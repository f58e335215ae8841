#pragma once

// Information bottleneck: W = X, and usefulness is I(Y;Z). Computes the largest useful information U = I(Y;Z)
// for a rate R = I(X;Z), and the inverse, the least R for a required U. All in nats.
//
// Sources: G. Chechik, A. Globerson, N. Tishby, Y. Weiss, "Information bottleneck for Gaussian variables",
// JMLR 6 (2005); A. D. Wyner, J. Ziv, "A theorem on the entropy of certain binary sequences" (Mrs. Gerber's
// lemma), IEEE Trans. Inf. Theory 19 (1973).

#include "ppan/core/problem.h"

namespace ppan::theory {

/// Jointly Gaussian scalars.
struct BottleneckGaussian {
  double rho = 0.8;  ///< Correlation, |rho| < 1.

  [[nodiscard]] Problems check() const;
};

/// I(X;Y) = -1/2 log(1 - rho^2): the supremum of U, not attained at any finite rate.
double mutual_information(const BottleneckGaussian& pair);
/// U(R) = -1/2 log(1 - rho^2 (1 - exp(-2R))), R >= 0.
double greatest_useful(const BottleneckGaussian& pair, double rate);
/// R(U) = -1/2 log(1 - (1 - exp(-2U)) / rho^2), U >= 0; infinite from U = I(X;Y) on.
double least_rate(const BottleneckGaussian& pair, double useful);

/// Doubly symmetric binary source: X a fair bit, Y = X with crossover p.
struct BottleneckBinary {
  double p = 0.1;  ///< Pr[X != Y], in [0, 1].

  [[nodiscard]] Problems check() const;
};

/// I(X;Y) = log 2 - h2(p): the greatest U, reached at R = log 2.
double mutual_information(const BottleneckBinary& pair);
/// Z = X with crossover b: R = log 2 - h2(b), U = log 2 - h2(b(1-p) + (1-b)p). From R = log 2 on, U = I(X;Y).
double greatest_useful(const BottleneckBinary& pair, double rate);
/// The inverse, U >= 0; infinite above U = I(X;Y).
double least_rate(const BottleneckBinary& pair, double useful);

}  // namespace ppan::theory
