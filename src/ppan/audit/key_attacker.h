#pragma once

#include <vector>

#include "ppan/audit/attacker.h"

namespace ppan {

/// Tables of counts by single keys of a row: the last digits of a number, its first ones, its exact text. A
/// leak that depends on which of a hundred endings a number has is no smooth function of anything, and lost
/// on trees and networks. The keys that help on the selection rows are multiplied, as if they were
/// independent given the attribute.
class KeyAttacker final : public Attacker {
 public:
  explicit KeyAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  struct Table {
    Index key = 0;
    Matrix<float> log_ratio;  ///< log P(x|key) / P(x), values of the key x levels.
  };
  std::vector<Table> used_;
};

}  // namespace ppan
