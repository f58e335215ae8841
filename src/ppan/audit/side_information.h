#pragma once

// What the release adds to what attackers know from side columns.

#include "ppan/audit/attack_split.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// `leakage` is what the release tells by itself.
SideInformation side_information(const AuditInput& input, const AttackTarget& target,
                                 const AttackSplit& split, const Estimate& leakage,
                                 const AuditOptions& options);

}  // namespace ppan
