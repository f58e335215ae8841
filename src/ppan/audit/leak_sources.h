#pragma once

// Where a leak is: each side of each column is shuffled among the test rows, and what the attacker loses by
// that is what it had from there.

#include <vector>

#include "ppan/audit/trained_attacker.h"

namespace ppan {

/// Greatest first; those clearly above 0 and above 1 % of what was found. `base` is log P(x_i) of the test
/// rows.
std::vector<LeakSource> find_sources(const AttackData& data, std::vector<TrainedAttacker>& trained,
                                     const Vector<double>& base);

}  // namespace ppan
