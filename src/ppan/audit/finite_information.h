#pragma once

#include <cstdint>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// I(X;Z) of the empirical distribution of two finite attributes, codes 0..levels-1, one per row, corrected
/// for its bias (G. Miller, W. Madow 1955):
///     I = I(counts) - (|XZ| - |X| - |Z| + 1) / (2 n),
/// |.| the number of values (pairs) that occur. Clipped to [0, H(X)].
///
/// Which side it errs on: neither for certain. The correction is right to first order when every pair that
/// can occur has occurred several times; with fewer than about 5 rows for each, believe the attackers
/// instead. Interval: bootstrap over the rows, its spread put around the corrected value. Near independence
/// it is wider than need be, because resampled counts carry the bias twice. Throws Error(kBadInput) when rows
/// differ in number or there are fewer than 2.
Estimate finite_information(const Symbols& x, std::int32_t x_levels, const Symbols& z, std::int32_t z_levels,
                            std::uint64_t seed = 1);

}  // namespace ppan
