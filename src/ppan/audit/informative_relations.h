#pragma once

// Which relations between the cells of a row tell something that its columns by themselves do not. Many are
// worked out on rows that attackers learn from and held against what a sum of single columns explains
// (additive_fit.h); the few that stand out become features and keys. Rows that anything is chosen or reported
// on are not looked at.

#include <span>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/relation.h"

namespace ppan {

struct RelationInput {
  RelationRows rows;                     ///< All released rows.
  std::span<const NumberColumn> number;  ///< Of each column of numbers.
  std::span<const FeatureSource> key_source;
  std::span<const std::int32_t> key_values;
};

/// First the one that tells most, then what tells most beyond it; few of them.
std::vector<Relation> informative_relations(const RelationInput& input, const Symbols& x,
                                            std::span<const std::int32_t> rows, std::int32_t levels,
                                            int threads);

}  // namespace ppan
