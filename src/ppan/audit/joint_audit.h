#pragma once

// Several attributes as one: each may be well hidden, and all of them given away together.

#include <vector>

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// All attributes as one, as far as upper bounds look at it.
AttackTarget joint_target(const std::vector<AttackTarget>& targets);

/// `first` is the result on the first target.
JointAudit joint_audit(const AuditInput& audited, const SuiteInput& input,
                       const std::vector<AttackTarget>& targets, const SuiteResult& first,
                       const AttackSplit& split, const AuditOptions& options);

}  // namespace ppan
