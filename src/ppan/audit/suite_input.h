#pragma once

// What the attackers of one attribute are given, beside the attribute itself.

#include <cstdint>
#include <string>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/attack_target.h"

namespace ppan {

/// What the attackers of one attribute are given.
struct SuiteInput {
  AttackFeatures released;
  std::vector<AttackFeatures> again;          ///< Further releases of the same rows: more to learn from.
  std::vector<FeatureSource> source;          ///< Of each feature.
  std::vector<Index> values;                  ///< Features that measure closeness.
  std::vector<std::int32_t> key_values{};     ///< Different values of each key.
  std::vector<FeatureSource> key_source{};    ///< Of each key.
  std::vector<std::int32_t> coarse_values{};  ///< Different values of each coarse code.
  std::vector<std::string> coarse_column{};   ///< Its column.
  std::vector<bool> coarse_in_threes{};       ///< Whether it is counted by in threes; empty: all are.
  std::vector<NumberColumn> number{};         ///< Of each column of numbers that relations are made of.
};
/// Without further releases.
SuiteInput suite_input(const FeatureMap& map, const AuditTable& released);
/// Tells the attackers the value of another attribute as well (chain rule).
void add_known(SuiteInput& input, const AttackTarget& known);

}  // namespace ppan
