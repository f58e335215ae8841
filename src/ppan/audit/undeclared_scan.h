#pragma once

// What else is given away: every column that nobody declared sensitive, attacked briefly.

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/audit.h"

namespace ppan {

void scan_undeclared(const AuditInput& input, const SuiteInput& suite_in, const AttackSplit& split,
                     const AuditOptions& options, AuditReport& report);

}  // namespace ppan
