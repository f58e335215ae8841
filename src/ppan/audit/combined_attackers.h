#pragma once

// Several trained attackers as one: a mixture, which averages their probabilities, and a pool, which adds up
// their evidence (attacker_pool.h). Both are fitted on the selection rows.

#include <string>
#include <vector>

#include "ppan/audit/trained_attacker.h"

namespace ppan {

struct CombinedAttacker {
  Matrix<float> on_test;       ///< No rows: there is nothing to combine.
  double selection_score = 0;  ///< mean_i log Q(x_i|z_i) on the selection rows.
  std::string parts;           ///< With their weights, for people.
};

CombinedAttacker mixture_of(const AttackData& data, const std::vector<TrainedAttacker>& trained);
/// `single` is the strongest of them.
CombinedAttacker pool_of(const AttackData& data, const std::vector<TrainedAttacker>& trained,
                         std::size_t single);

}  // namespace ppan
