#pragma once

// Known-answer worlds: distributions that can be sampled and whose information is known exactly. Every
// trainer and every estimator is tested on them.

#include <concepts>

#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/core/records.h"
#include "ppan/theory/finite_distribution.h"
#include "ppan/theory/observation.h"

namespace ppan {

template <typename World>
concept KnownWorld = requires(const World& world, RandomSource& random) {
  { world.check() } -> std::same_as<Problems>;
  /// I(X;Y), nats (infinite where Y determines a continuous X).
  { world.mutual_information() } -> std::same_as<double>;
  { world.sample(Index{}, random) } -> std::same_as<Records<double>>;
};

/// A world whose least leakage is known: optimum(D) is the least I(X;Z), nats, at distortion D (for a
/// bottleneck, at useful information D).
template <typename World>
concept KnownOptimum = KnownWorld<World> && requires(const World& world) {
  { world.optimum(double{}) } -> std::same_as<double>;
};

/// A finite world gives its distribution, for exact scoring and for the convex baseline.
template <typename World>
concept FiniteWorld = KnownWorld<World> && requires(const World& world) {
  { world.distribution() } -> std::same_as<theory::FiniteDistribution>;
};

}  // namespace ppan
