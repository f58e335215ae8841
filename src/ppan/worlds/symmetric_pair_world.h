#pragma once

#include "ppan/theory/symmetric_pair.h"
#include "ppan/worlds/known_world.h"

namespace ppan {

/// The symmetric pair of theory/symmetric_pair.h. Finite attributes; with full data W is the code x m + y of
/// m^2 levels. Distortion: probability of error.
struct SymmetricPairWorld {
  theory::SymmetricPair pair;
  Observation observation = Observation::kUsefulOnly;  ///< kUsefulOnly or kFullData.

  [[nodiscard]] Problems check() const;
  [[nodiscard]] double mutual_information() const;
  [[nodiscard]] double optimum(double distortion) const;
  [[nodiscard]] theory::FiniteDistribution distribution() const;
  [[nodiscard]] Records<double> sample(Index count, RandomSource& random) const;
};
static_assert(KnownOptimum<SymmetricPairWorld> && FiniteWorld<SymmetricPairWorld>);

}  // namespace ppan
