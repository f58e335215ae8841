#pragma once

#include "ppan/audit/attacker.h"
#include "ppan/audit/tree_attacker.h"

namespace ppan {

/// Guesses a continuous attribute as a number: its normal score by ridge regression, what that leaves by
/// boosted trees, and how far off the guess is by trees again. The probability of a bin is the normal
/// probability between its edges. Where a number has a bin for every few dozen rows, attackers of the bins
/// have to learn twenty classes from what this one learns two functions from.
class RegressionAttacker final : public Attacker {
 public:
  explicit RegressionAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  void fit_line(const AttackRows& train, const AttackRows& selection);
  void fit_spread(const AttackRows& train, const AttackRows& selection, const Vector<float>& left,
                  RandomSource& random);
  [[nodiscard]] Vector<float> line(const AttackRows& rows) const;

  Vector<float> weight_;  ///< Of each feature; empty: no line.
  float mean_ = 0;
  RegressionTrees location_;
  RegressionTrees spread_;   ///< Of the logarithm of the squared error.
  double spread_share_ = 0;  ///< How much of what `spread_` says is believed; 0: the same everywhere.
  double log_variance_ = 0;
};

/// log of the probability of each level, where the normal score of the attribute is normal about `mean`.
/// Missing values keep their share.
Matrix<float> bin_log_probability(const AttackTask& task, const Matrix<float>& mean_and_log_variance);

}  // namespace ppan
