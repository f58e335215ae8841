#pragma once

#include <memory>

#include "ppan/audit/attacker.h"
#include "ppan/audit/level_indicators.h"
#include "ppan/audit/network_attacker.h"

namespace ppan {

/// Multinomial logistic regression on the steps of all columns: any function of each, added up. It needs
/// fewer rows than trees for a leak that is spread over many columns, whose levels need not be in any order.
/// The selection rows choose how much it decays.
class AdditiveAttacker final : public Attacker {
 public:
  explicit AdditiveAttacker(const AttackTask& task) : Attacker(task) {}
  void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) override;
  Matrix<float> log_probability(const AttackRows& rows) override;

 private:
  [[nodiscard]] AttackRows steps_of(const AttackRows& rows) const;

  LevelIndicators steps_;
  std::unique_ptr<NetworkAttacker> chosen_;
};

}  // namespace ppan
