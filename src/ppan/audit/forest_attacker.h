#pragma once

#include <cstdint>
#include <vector>

#include "ppan/audit/attacker.h"

namespace ppan {

enum class ForestKind {
  kRandom,      ///< Best split of a random part of the features, on a bootstrap sample (Breiman, 2001).
  kExtraTrees,  ///< Random threshold for each of them, on all rows (Geurts, Ernst, Wehenkel, 2006).
};

/// Averages of trees grown to the end. They need few rows and no tuning, and find what boosted trees and
/// networks miss in small tables with many classes. Leaves hold shares of the classes, smoothed by the prior;
/// small and large leaves are both tried, and the selection rows choose.
class ForestAttacker final : public Attacker {
 public:
  ForestAttacker(const AttackTask& task, ForestKind kind) : Attacker(task), kind_(kind) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

  /// Rows with a value below the threshold go to `below`, others to `below + 1`; a leaf has feature -1 and
  /// its class shares at `below`.
  struct Node {
    std::int32_t feature = -1;
    float threshold = 0;
    std::int32_t below = 0;
  };
  struct Tree {
    std::vector<Node> nodes;
    std::vector<float> shares;  ///< One row of class shares for each leaf.
  };

 private:
  ForestKind kind_;
  std::vector<Tree> trees_;
};

}  // namespace ppan
