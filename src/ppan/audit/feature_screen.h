#pragma once

// Which features attackers are given: all values, and those traces of how a cell is written that by
// themselves have anything to do with the attribute. Many features that say nothing drown the few that do.

#include <vector>

#include "ppan/audit/attack_split.h"
#include "ppan/audit/suite_input.h"

namespace ppan {

struct ScreenedFeatures {
  std::vector<Index> kept;            ///< Positions among all features.
  std::vector<FeatureSource> source;  ///< Of those.
  std::vector<Index> values;          ///< Those that measure closeness, positions among the kept ones.
};

/// `every_trace`: screen every kind of trace. False: only those of which there are many, such as digits and
/// repeats.
ScreenedFeatures screen_features(const SuiteInput& input, const AttackTarget& target,
                                 const AttackSplit& split, bool every_trace);

}  // namespace ppan
