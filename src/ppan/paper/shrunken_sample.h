#pragma once

// A sample of a finite world as training data with less sampling noise: records in the proportions of its
// shrunken counts (theory/cell_shrinkage.h) instead of the counts themselves.

#include "ppan/core/records.h"
#include "ppan/paper/world.h"

namespace ppan {

/// Twice as many records as `sample`, so that a cell can have a fraction of a record; each pair (x, y) as
/// often as its shrunken count says, to the nearest whole number. `sample` itself where W is not a function
/// of (x, y), because a cell would not determine what was observed.
Records<double> shrunken_sample(const World& world, const Records<double>& sample);

}  // namespace ppan
