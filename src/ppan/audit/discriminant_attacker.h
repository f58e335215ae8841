#pragma once

#include "ppan/audit/attacker.h"

namespace ppan {

/// Linear discriminant analysis: every class normal with a mean of its own and one covariance of all, which
/// is shrunk towards its diagonal (Friedman, 1989) by as much as the selection rows like best. It has no more
/// to learn than means and a covariance, so of many classes with few rows each it finds what trees and
/// networks would need many more rows for.
class DiscriminantAttacker final : public Attacker {
 public:
  explicit DiscriminantAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  Matrix<float> weight_;  // features x levels
  Vector<float> offset_;  // of each level
};

}  // namespace ppan
