#pragma once

// Information bottleneck: W = X, usefulness is I(Y;Z). Here optimum() takes the required useful information,
// nats, and returns the least I(X;Z); greatest_useful() is the inverse.

#include "ppan/theory/bottleneck.h"
#include "ppan/worlds/known_world.h"

namespace ppan {

/// Gaussian scalars of unit variance.
struct BottleneckGaussianWorld {
  double rho = 0.8;  ///< |rho| < 1.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double useful) const;
  [[nodiscard]] double greatest_useful(double rate) const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<BottleneckGaussianWorld>);

/// X a fair bit, Y = X with crossover p. Finite.
struct BottleneckBinaryWorld {
  double p = 0.1;  ///< In [0, 1].

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double useful) const;
  [[nodiscard]] double greatest_useful(double rate) const;
  [[nodiscard]] theory::FiniteDistribution distribution() const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<BottleneckBinaryWorld> && FiniteWorld<BottleneckBinaryWorld>);

}  // namespace ppan
