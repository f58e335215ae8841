#pragma once

// From the result of the attack suite to what is reported on one attribute.

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// The same attribute of the first `rows` rows alone.
AttackTarget held_out_part(AttackTarget target, Index rows);

/// All there is to know, with the doubt that few rows leave about how frequent rare levels are: of 1,000 test
/// rows with ten of a level, the entropy is off by a fifth.
Estimate entropy_bound(double nats, const AttackTarget& held_out, const char* method);

/// Reports the suite's result on one attribute; `suite_in` are the released rows it ran on.
AttributeAudit describe(const AuditInput& input, const SuiteInput& suite_in, const AttackTarget& target,
                        const AttackSplit& split, const SuiteResult& result, const AuditOptions& options);

/// Where every row is released alike there is nothing to look at, and no attacker is needed to say so.
Estimate nothing_released(Bound bound, Index rows);
AttributeAudit describe_nothing(const AttackTarget& target, const AttackSplit& split);

}  // namespace ppan
