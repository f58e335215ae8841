#pragma once

// Jointly Gaussian vectors, distortion ||y - z||^2; the mechanism sees Y (Proposition 2 of the paper) or X
// and Y, to which the argument of Proposition 3 carries over pair by pair (docs/theory.md).

#include <optional>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan::theory {

/// X and Y in canonical coordinates, in which every component of X depends on one component of Y at most.
struct GaussianVector {
  Vector<double> rho;  ///< Correlation of each pair of components: |rho_i| < 1, at least one component.
  double scale = 1;    ///< Variance c of every component of Y, greater than 0.

  [[nodiscard]] Problems check() const;
};

struct GaussianVectorOptimum {
  double leakage = 0;                   ///< Least I(X;Z), nats.
  Vector<double> component_distortion;  ///< delta'_i in [0, 1]: share of component i's variance that is lost.
  double level = 0;                     ///< t, the water level; with full data the common slope.
};

/// I(X;Y) = -1/2 sum_i log(1 - rho_i^2), nats.
double mutual_information(const GaussianVector& pair);

/// Least leakage for E||Y-Z||^2 <= distortion:
///     delta'_i = max(0, min(1, t - (rho_i^-2 - 1))),  t from sum_i delta'_i = distortion / c,
///     I = sum_i -1/2 log(1 - rho_i^2 + rho_i^2 delta'_i),
/// attained by Z_i = (1 - delta'_i) Y_i + U_i, U_i ~ N(0, c delta'_i (1 - delta'_i)). The paper's statement
/// lacks the max(0, .), its proof has it. A component with rho_i = 0 costs nothing and is never distorted.
/// From distortion = c * (number of rho_i != 0) on the leakage is 0.
GaussianVectorOptimum least_leakage(const GaussianVector& pair, double distortion);

/// The same where the mechanism sees X and Y. Pairs are independent, so I(X;Z) >= sum_i I(X_i;Z_i), and the
/// budget is shared between scalar pairs. With |rho_i| = cos f_i and delta'_i = sin^2 p_i a pair leaks -log
/// sin(f_i + p_i), and its slope in delta'_i is the same for all pairs:
///     cot(f_i + p_i) / sin 2 p_i = level,  level from sum_i delta'_i = distortion / c.
/// Attained by best_release_full_data() of every pair. From distortion = c sum_i rho_i^2 on it is 0.
GaussianVectorOptimum least_leakage_full_data(const GaussianVector& pair, double distortion);

/// Canonical coordinates of a Gaussian distribution: with P = Sx^-1/2 Sxy Sy^-1/2 = U L V^T, x' = U^T Sx^-1/2
/// x and y' = V^T Sy^-1/2 y have identity covariances and cross-covariance L.
struct CanonicalForm {
  Vector<double> rho;  ///< Singular values of P, largest first; min(dim X, dim Y) of them.
  double scale = 0;    ///< c, the mean of the diagonal of V^T Sy V.
  /// Largest absolute entry of V^T Sy V - c I, relative to c. The proposition needs 0; since V is orthogonal
  /// that is the same as Sy = c I, however X is distributed.
  double departure = 0;

  /// The proposition's problem, or nothing when V^T Sy V is not c I (to relative 1e-9) or some rho is 1.
  [[nodiscard]] std::optional<GaussianVector> solvable() const;
};

/// Throws Error(kBadInput) if shapes disagree or a covariance is not positive definite.
CanonicalForm canonical_form(const MatrixRef<double>& covariance_x, const MatrixRef<double>& covariance_y,
                             const MatrixRef<double>& covariance_xy);

}  // namespace ppan::theory
