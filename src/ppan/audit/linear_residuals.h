#pragma once

// What a number is beyond what the others of its row make of it on average. Totals, areas and rates are
// worked out from other columns; a group in which they are exact, or off by more, is told by how far off they
// are, in whatever direction, and no column and no two of them may show it.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/audit/relation.h"
#include "ppan/core/records.h"

namespace ppan {

/// Of every one of `columns` (of `number`) what a regression on the others leaves: fitted on all of `rows`,
/// and on those of each of the most frequent levels, because what holds in one group alone is blurred in all.
/// Of logarithms as well where numbers are positive. `x`: the level of each of `rows`.
std::vector<Relation> linear_residuals(const Matrix<double>& number, std::span<const Index> columns,
                                       std::span<const NumberColumn> names,
                                       std::span<const std::int32_t> rows, const Symbols& x,
                                       std::int32_t levels);

}  // namespace ppan
