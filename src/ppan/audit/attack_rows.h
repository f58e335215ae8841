#pragma once

// Some of the rows, as attackers take them.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/attacker.h"

namespace ppan {

/// Normal scores of a continuous attribute by the empirical distribution of the training rows, and of its bin
/// edges.
struct NormalScores {
  Vector<float> row;  ///< NaN where missing.
  std::vector<double> edge;
};
NormalScores normal_scores(const AttackTarget& target, std::span<const std::int32_t> training);

/// Rows `rows` of every matrix.
AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows);
/// The features `kept` alone.
AttackRows attack_rows(const AttackFeatures& features, const Symbols& x, const Vector<float>& score,
                       std::span<const std::int32_t> rows, std::span<const Index> kept);

}  // namespace ppan
