#pragma once

// Columns that tell something only together: of two or three, each may be independent of the attribute, and
// so may every two of three, while all of them say it outright. No learner that splits or sums column by
// column finds its way there from few rows. So coarse codes of every two and every three columns (as many as
// a bound on the work allows) are held against the attribute directly, and the tuples that stand out become
// keys.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/audit/attacker.h"

namespace ppan {

struct KeyTuple {
  std::vector<Index> part;  ///< Two or three coarse codes.
  std::int32_t values = 0;  ///< Of all of them together.
  double deviations = 0;    ///< Of what they tell beyond smaller tuples of them, above chance.

  /// The code of one row; -1 if one of its parts has none.
  [[nodiscard]] std::int32_t code(const KeyMatrix& coarse, std::span<const std::int32_t> part_values,
                                  Index row) const;
};

/// The tuples that stand out by more than the many that are looked at do by chance, first the clearest; few
/// of them. `part_values`: different values of each coarse code (column of `coarse`). `in_threes`: which of
/// them are looked at in threes as well as in pairs; empty: all.
std::vector<KeyTuple> informative_tuples(const KeyMatrix& coarse, std::span<const std::int32_t> part_values,
                                         const Symbols& x, std::span<const std::int32_t> rows,
                                         std::int32_t levels, const std::vector<bool>& in_threes = {});

}  // namespace ppan
