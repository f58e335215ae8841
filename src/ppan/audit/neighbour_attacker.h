#pragma once

#include "ppan/audit/attacker.h"

namespace ppan {

/// Q(x|z) = (n_k(x) + P(x)) / (k + 1), n_k counting the k nearest training rows (Euclidean, standardised
/// value features); k chosen on the selection rows. Neighbours are found exactly, by products of matrices,
/// which for the tens of features of a table beats trees of boxes.
class NeighbourAttacker final : public Attacker {
 public:
  explicit NeighbourAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  Matrix<float> values_of(const AttackRows& rows) const;
  /// Calls take(row, labels of the `most` nearest reference rows, nearest first if `in_order`), for rows up
  /// to `last`.
  template <typename Take>
  void visit(const AttackRows& rows, Index last, Index most, bool in_order, const Take& take) const;

  Matrix<float> reference_;       // rows x value features
  Vector<float> reference_norm_;  // squared
  Symbols label_;
  Index k_ = 0;  // 0: nothing to measure closeness by
};

}  // namespace ppan
