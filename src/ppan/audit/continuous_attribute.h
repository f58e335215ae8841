#pragma once

// What an audit says about a continuous attribute beyond its bins: a density network, regressors, and
// estimators on the numbers alone.

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// Adds to out.others, and sets out.r_squared and out.regressor.
void add_continuous(const AuditInput& input, const SuiteInput& suite_in, const AttackTarget& target,
                    const AttackSplit& split, const SuiteOptions& suite, const AuditOptions& options,
                    AttributeAudit& out);

}  // namespace ppan
