#pragma once

// Gaussian worlds with squared error (summed over the components) as distortion. X is one sensitive attribute
// of as many dimensions as the world has.

#include "ppan/theory/gaussian_scalar.h"
#include "ppan/theory/gaussian_vector.h"
#include "ppan/theory/rate_distortion.h"
#include "ppan/worlds/known_world.h"

namespace ppan {

/// Scalars of unit variance with correlation rho. With full data W = (X, Y), X in the first column.
struct GaussianScalarWorld {
  double rho = 0.85;                                   ///< |rho| < 1.
  Observation observation = Observation::kUsefulOnly;  ///< kUsefulOnly or kFullData.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double distortion) const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<GaussianScalarWorld>);

/// Vectors of independent pairs (X_i, Y_i) of unit variance with correlation rho_i. W = Y.
struct GaussianVectorWorld {
  Vector<double> rho;  ///< |rho_i| < 1; at least one.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double distortion) const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<GaussianVectorWorld>);

/// W = X = Y, independent components with the given variances. mutual_information() is infinite.
struct GaussianRateDistortionWorld {
  Vector<double> variances;  ///< Greater than 0; at least one.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double distortion) const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<GaussianRateDistortionWorld>);

}  // namespace ppan
