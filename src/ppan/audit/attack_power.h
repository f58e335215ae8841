#pragma once

// What this audit would have found. "Nothing was found" says little on few rows, so leaks of known size are
// planted into the very rows that are audited and attacked in the same way:
//
//   the released rows are first permuted, so that they tell nothing about X; sorted by a score h(z) and cut
//   into as many parts as X has levels, of the same shares, each part stands for a level; a share s of the
//   records is then given released rows of the part of their own level, the others keep theirs.
//
// Rows of the same score v may lie in several parts; with q_v their shares and p_x those of the levels, the
// planted leakage is
//
//   I(s) = sum_v P(v) sum_x P(x|v) log(P(x|v) / p_x),   P(x|v) = s q_v(x) + (1-s) p_x.
//
// Two scores are planted, as hard to learn as leaks in real tables are: a random combination of all columns
// (spread thinly) and the sum of the products of two pairs of columns (two interactions, the second with half
// the weight; one product where there are fewer than four columns). The power is the least planted leakage
// that is found (its 95 % interval stays above 0) with probability 0.9, for the harder of the two.

#include <cstdint>
#include <string>
#include <vector>

#include "ppan/audit/attack_suite.h"

namespace ppan {

struct PlantedLeakage {
  std::string score;   ///< "all columns", "two pairs of columns" or "two columns".
  double planted = 0;  ///< Nats.
  Rate found;          ///< Nats, not clipped.
};

struct AttackPower {
  double nats = 0;  ///< The least leakage found with probability 0.9. The entropy if none is.
  std::vector<PlantedLeakage> planted;  ///< By score, then by rising leakage.
};

/// `options` are those of the attack; attackers and effort are replaced by a light part of the suite, so the
/// whole suite finds no less.
AttackPower attack_power(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                         const SuiteOptions& options);

/// I(s), nats, of a score that takes as many values as `share` has columns: P(v) q_v(x), levels x values.
double planted_leakage(const Matrix<double>& share, double s);

}  // namespace ppan
