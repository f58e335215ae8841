#include "ppan/audit/joint_audit.h"

#include <algorithm>

#include "ppan/audit/attribute_audit.h"
#include "ppan/audit/audit_suites.h"
#include "ppan/audit/joint_attack.h"
#include "ppan/audit/upper_end.h"

namespace ppan {

AttackTarget joint_target(const std::vector<AttackTarget>& targets) {
  AttackTarget joint;
  joint.code = targets.front().code;
  joint.levels = targets.front().levels;
  joint.continuous = targets.front().continuous;
  for (std::size_t a = 1; a < targets.size(); ++a) {
    joint.code = joint_code(joint.code, targets[a].code, targets[a].levels, joint.levels);
    joint.continuous = joint.continuous || targets[a].continuous;
  }
  return joint;
}

JointAudit joint_audit(const AuditInput& audited, const SuiteInput& input,
                       const std::vector<AttackTarget>& targets, const SuiteResult& first,
                       const AttackSplit& split, const AuditOptions& options) {
  const JointAttack found = joint_attack(input, targets, first, split, [&](const AttackTarget& target) {
    SuiteOptions suite = side_suite(options, target.continuous);
    suite.learning_curve = options.details;
    return suite;
  });
  JointAudit joint{{}, found.leakage, found.entropy, found.still_rising, {}};
  joint.upper_end = std::max(wide_end(found.leakage), found.forecast_end.value_or(0));
  const AttackTarget all = held_out_part(joint_target(targets), audited.held_out_rows());
  if (audited.upper_bounds) joint.upper = audited.upper_bounds(all);
  std::stable_sort(joint.upper.begin(), joint.upper.end(),
                   [](const Estimate& a, const Estimate& b) { return a.nats < b.nats; });
  if (!all.continuous) {
    joint.upper.push_back(entropy_bound(empirical_entropy(all.code, all.levels), all,
                                        "entropy of the attributes: all there is to know"));
  }
  for (const AttackTarget& target : targets) joint.names.push_back(target.name);
  return joint;
}

}  // namespace ppan
