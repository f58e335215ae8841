#pragma once

#include "ppan/worlds/known_world.h"

namespace ppan {

/// X a label, Y given X = k normal with mean row k of `means` and covariance sigma^2 I. W = Y. The release
/// optimum is not known in closed form, but I(X;Y) is exact: h(Y) - h(Y|X), the first by quadrature over the
/// affine hull of the means (outside it Y is noise that does not depend on X), which must have dimension 2 at
/// most.
///     Defaults (two classes at -1 and 1, sigma 1): I(X;Y) = 0.336831 nats.
struct GaussianMixtureWorld {
  Vector<double> weights = Vector<double>::Constant(2, 0.5);          ///< P(X = k): positive, sum 1.
  Matrix<double> means = (Matrix<double>(2, 1) << -1, 1).finished();  ///< A row per class.
  double sigma = 1;                                                   ///< Greater than 0.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownWorld<GaussianMixtureWorld>);

}  // namespace ppan
