#pragma once

// Jointly Gaussian scalars X, Y with correlation rho; distortion (y - z)^2. Propositions 1 and 3 of the paper
// (docs/theory.md gives the argument). The variance of X does not matter: leakage is invariant to its scale.

#include "ppan/core/problem.h"

namespace ppan::theory {

struct GaussianScalar {
  double rho = 0.85;      ///< Correlation of X and Y, |rho| < 1.
  double variance_y = 1;  ///< Variance of Y, greater than 0.

  [[nodiscard]] Problems check() const;
};

/// A release Z = from_x X / sigma_X + from_y Y + U with U ~ N(0, noise_variance) independent of X and Y.
struct GaussianRelease {
  double from_x = 0;
  double from_y = 0;
  double noise_variance = 0;
};

/// I(X;Y) = -1/2 log(1 - rho^2), nats.
double mutual_information(const GaussianScalar& pair);

/// Least I(X;Z) over P(z|y) with E(Y-Z)^2 <= D, in nats, s = variance_y:
///     1/2 log 1/(1 - rho^2 + rho^2 D/s)  if D < s,  else 0.
/// At D = 0 it is I(X;Y). rho = 0.85, D = 0.5: 0.224121.
double least_leakage_useful_only(const GaussianScalar& pair, double distortion);
/// The release that attains it: Z = (1 - D/s) Y + U, U ~ N(0, D (1 - D/s)); Z = 0 from D = s on.
GaussianRelease best_release_useful_only(const GaussianScalar& pair, double distortion);

/// Least I(X;Z) over P(z|x,y) with E(Y-Z)^2 <= D, in nats, e = D/s:
///     1/2 log 1/(1 - (sqrt(rho^2 (1-e)) - sqrt((1-rho^2) e))^2)  if e < rho^2,  else 0.
/// At D = 0 it is I(X;Y). rho = 0.85, D = 0.5: 0.026824.
double least_leakage_full_data(const GaussianScalar& pair, double distortion);
/// The release that attains it: Z = (1-e) Y - sign(rho) (sigma_Y X/sigma_X - rho Y) sqrt(e(1-e)/(1-rho^2))
/// below e = rho^2; from there on Z = Y - rho sigma_Y X/sigma_X, which has distortion rho^2 s and no leakage.
GaussianRelease best_release_full_data(const GaussianScalar& pair, double distortion);

}  // namespace ppan::theory
