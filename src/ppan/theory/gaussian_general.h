#pragma once

// Jointly Gaussian X and Y with any covariances and any numbers of components, squared error, and a mechanism
// that sees a W jointly Gaussian with them such that X - W - Z is a Markov chain; W is informative about Y
// only through U = E[Y|W].
//
// E||Y - Z||^2 = E||Y - U||^2 + E||U - Z||^2, so the problem is to release U within the remaining budget. For
// given second moments a Gaussian Z leaks least, because X is Gaussian; it is determined by the error
// covariance E = Cov(U|Z), and
//     I(X;Z) = 1/2 log det Cov(X) - 1/2 log det(Cov(X|U) + A E A^T),   A = Cov(X,U) Cov(U)^-1.
// What remains is to maximise a concave function of E over 0 <= E <= Cov(U), tr E <= budget. Proposition 2 of
// the paper is the case Cov(U) = c I, where the eigenvectors are known and only a water level remains.
//
// X must depend on W through U alone, as it does whenever U determines W: W = Y, W = Y + independent noise, W
// a part of the components of Y. With W = (X,Y) it does not. There U = (X,Y) is used instead, and only Y
// counts towards the distortion: Cov(X|U) = 0, A selects X, and E = Cov((X,Y)|Z) must satisfy tr E_Y <=
// budget.

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan::theory {

/// Second moments of zero-mean Gaussian vectors X and Y.
struct GaussianCovariance {
  Matrix<double> x;   ///< Cov(X), positive definite.
  Matrix<double> y;   ///< Cov(Y), positive definite.
  Matrix<double> xy;  ///< Cov(X,Y), a row per component of X.

  /// Shapes, symmetry, positive definite blocks, a positive semi-definite whole.
  [[nodiscard]] Problems check() const;
};

/// Largest number of components of X and Y together in a covariance read from a file: every point of a curve
/// computes eigenvalues of it many times.
inline constexpr Index kMostComponents = 64;
/// Why a matrix is not a covariance of (X,Y), with the rows of X first: every problem at once.
Problems check_covariance(const MatrixRef<double>& whole, Index sensitive);
/// Cov of (X,Y) stacked in one matrix, the first `sensitive` rows and columns X's. Throws Error(kBadInput)
/// listing every problem of check_covariance().
GaussianCovariance split_covariance(const MatrixRef<double>& whole, Index sensitive);

/// I(X;Y) in nats; infinite where Y determines a component of X.
double mutual_information(const GaussianCovariance& covariance);

struct GaussianGeneralOptimum {
  double leakage = 0;      ///< Of the release found, nats: an upper bound on the optimum.
  double lower_bound = 0;  ///< No mechanism within the budget leaks less, nats.
  Matrix<double> error;    ///< E = Cov(U|Z).
  Matrix<double> gain;     ///< The release is Z = gain U + N(0, noise), gain = 1 - E Cov(U)^-1,
  Matrix<double> noise;    ///< noise = E - E Cov(U)^-1 E.
  int iterations = 0;

  /// Certified: at most this far from the optimum, nats.
  [[nodiscard]] double gap() const { return leakage - lower_bound; }
};

struct GaussianGeneralOptions {
  double gap = 1e-7;  ///< Stop when the certified gap is at most this, nats. At least 1e-12.
  int iterations = 5000;
};

/// Least I(X;Z) for E||U - Z||^2 <= distortion; `covariance` is that of X and U. Directions in which U does
/// not vary are released unchanged. Throws Error(kUsage) for a negative distortion.
GaussianGeneralOptimum least_leakage(const GaussianCovariance& covariance, double distortion,
                                     const GaussianGeneralOptions& options = {});

/// Least I(X;Z) for E||Y - Z||^2 <= distortion where the mechanism sees X and Y. `error` is Cov((X,Y)|Z), and
/// the release Z = gain (X,Y) + N(0, noise). Propositions 1 and 3 of the paper are the scalar cases.
GaussianGeneralOptimum least_leakage_full_data(const GaussianCovariance& covariance, double distortion,
                                               const GaussianGeneralOptions& options = {});

}  // namespace ppan::theory
