#pragma once

// Several sensitive attributes together, by the chain rule: each is attacked with the release and the
// attributes before it known, so that no joint dependence is missed.

#include <functional>
#include <optional>
#include <vector>

#include "ppan/audit/attack_suite.h"

namespace ppan {

struct JointAttack {
  /// I(X1,X2,...;Z). A lower bound where the joint alphabet is small; otherwise an estimate.
  Estimate leakage;
  double entropy = 0;         ///< H(X1,X2,...) as the attackers see it, nats.
  bool still_rising = false;  ///< One of the attacks was still getting stronger with more rows.
  /// The upper ends of what ten times the rows would find in each attack, added up, nats; absent without
  /// learning curves.
  std::optional<double> forecast_end;
};

/// `first` is the attack on the first of `targets` from `input`. `options` says how hard to try for each of
/// the others.
///
/// What is known without the release is, for a small joint alphabet, the shares of its cells among the test
/// rows. A large one has about as many cells as there are rows, and their shares say nothing; then the
/// attributes are attacked without the release too, and the difference, of two quantities that each err on
/// the same side, is an estimate.
JointAttack joint_attack(SuiteInput input, const std::vector<AttackTarget>& targets, const SuiteResult& first,
                         const AttackSplit& split,
                         const std::function<SuiteOptions(const AttackTarget&)>& options);

}  // namespace ppan
