#pragma once

// Upper bounds on leakage, for mechanisms whose distribution P(z|w) is known: finite ones, and those whose
// release is a function of something with a Gaussian-mixture density given the record (gaussian, mixture, and
// noisy code through its code c). No attacker is involved, so none can be too weak.

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/records.h"
#include "ppan/game/mechanism.h"

namespace ppan {

/// p(c|w_i) for each of n records: m Gaussians, c = mean + scale u. Component l of record i is row l * n + i.
struct ReleaseDensity {
  Index records = 0;
  Index components = 1;
  Matrix<double> mean;  ///< components * records rows, a column per dimension of c.
  std::vector<Matrix<double>>
      scale;                  ///< Lower-triangular, one per row of `mean`; a single one: shared by all.
  Matrix<double> log_weight;  ///< records x components.

  [[nodiscard]] Index dimensions() const { return mean.cols(); }
};

/// The density of what the adversary of the game sees. Absent for mechanisms that have none (noise-input,
/// gumbel) and for finite ones, whose distribution is release_distribution().
std::optional<ReleaseDensity> release_density(Mechanism<double>& mechanism,
                                              const Attribute<double>& observed);
/// P(z|w_i) of a finite mechanism, records x alphabet.
Matrix<double> release_distribution(Mechanism<double>& mechanism, const Attribute<double>& observed);

struct DensityBoundOptions {
  Index draws = 2000;      ///< Monte Carlo draws. 100 to 1,000,000.
  Index records = 20'000;  ///< Records whose densities are summed, at most. At least 100.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

/// I(X;Z) on the empirical distribution of (w_i, x_i) with the known distribution of z: P(z|x) is the mean of
/// P(z|w_i) over the rows of x. Information is convex in P(z|x), so for given shares of x it is in
/// expectation above the leakage on the population; it comes down to it as records grow. Bound::kUpper.
/// Interval: variance over the records of their contribution sum_z P(z|w_i) log(P(z|x_i)/P(z)).
Estimate finite_upper_bound(const Matrix<double>& distribution, const Symbols& x, std::int32_t levels);

/// The same for a density: mean over records i and draws c from p(c|w_i) of log p(c|x_i) - log p(c), p(c|x)
/// the mean of p(c|w_j) over the records of x, i among them. Clipped to [0, H(X)].
Estimate density_upper_bound(const ReleaseDensity& density, const Symbols& x, std::int32_t levels,
                             const DensityBoundOptions& options = {});

/// I(W;C) <= E KL(p(c|w) || q(c)), for whatever is sensitive: q is fitted on one half of the records (the
/// mean of their densities, widened by a factor chosen there, with a broad normal mixed in) and the
/// expectation taken on the other. Since X - W - C - Z, this bounds I(X;Z) for every X. Interval: normal,
/// over the records of the second half.
Estimate observed_upper_bound(const ReleaseDensity& density, const DensityBoundOptions& options = {});

/// Every upper bound that this mechanism allows for an attribute with codes `x` (of `levels` values) on
/// the observed records: none for mechanisms without a known distribution. With `whole` false the codes are
/// bins of something finer, for which only the bounds that hold for whatever is sensitive are given. A noisy
/// code adds m/2 log(1 + R^2), which holds for every distribution of the records.
std::vector<Estimate> mechanism_upper_bounds(Mechanism<double>& mechanism, const Attribute<double>& observed,
                                             const Symbols& x, std::int32_t levels, bool whole,
                                             const DensityBoundOptions& options = {});

}  // namespace ppan
