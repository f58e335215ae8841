#pragma once

#include "ppan/core/estimate.h"

namespace ppan {

/// Whether no leak was seen: the interval of what was found reaches 0. Attackers may have missed one, so it
/// is shown as "not seen" and not as 0.
inline bool not_seen(const Estimate& leakage) {
  const bool found = leakage.bound == Bound::kLower || leakage.bound == Bound::kEstimate;
  return found && leakage.interval95 && leakage.interval95->low <= 0;
}

}  // namespace ppan
