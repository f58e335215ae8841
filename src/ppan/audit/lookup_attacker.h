#pragma once

#include "ppan/audit/attacker.h"

namespace ppan {

/// Q(x|z) = (n(x,z) + a P(x)) / (n(z) + a), n counting training rows released exactly like this one; a chosen
/// on the selection rows. Exact for finite releases as rows grow; a row never seen gets the prior.
class LookupAttacker final : public Attacker {
 public:
  explicit LookupAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  Matrix<float> with_weight(const AttackRows& rows, double weight) const;
  Matrix<float> count_;  // cells x levels; only cells seen more than once matter, so float is ample
  double weight_ = 1;
};

}  // namespace ppan
