#include "ppan/worlds/symmetric_pair_world.h"

#include <utility>

#include "ppan/worlds/sampling.h"

namespace ppan {

Problems SymmetricPairWorld::check() const {
  ProblemList problems;
  for (const Problem& p : pair.check()) problems.require(false, p.field, p.what);
  problems.require(observation == Observation::kUsefulOnly || observation == Observation::kFullData,
                   "observation", "must be useful-only or full-data");
  return problems.take();
}

double SymmetricPairWorld::mutual_information() const {
  return theory::mutual_information(pair);
}

double SymmetricPairWorld::optimum(double distortion) const {
  return observation == Observation::kFullData ? least_leakage_full_data(pair, distortion)
                                               : least_leakage_useful_only(pair, distortion);
}

theory::FiniteDistribution SymmetricPairWorld::distribution() const {
  return theory::distribution_of_pair(theory::joint(pair), observation);
}

Records<double> SymmetricPairWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "symmetric pair");
  Symbols x(static_cast<std::size_t>(count));
  Symbols y(x.size());
  Symbols w(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = static_cast<std::int32_t>(random.index(pair.m));
    x[i] = y[i];
    if (random.uniform() < pair.p) {
      const auto other = static_cast<std::int32_t>(random.index(pair.m - 1));
      x[i] = other < y[i] ? other : other + 1;
    }
    w[i] = observation == Observation::kFullData ? x[i] * pair.m + y[i] : y[i];
  }
  const std::int32_t levels = observation == Observation::kFullData ? pair.m * pair.m : pair.m;
  return {finite(std::move(w), levels), {finite(std::move(x), pair.m)}, finite(std::move(y), pair.m)};
}

}  // namespace ppan
