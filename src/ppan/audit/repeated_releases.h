#pragma once

// What several independent releases of the same record tell together.

#include <string>
#include <vector>

#include "ppan/audit/attack_split.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// For each number of releases that the options name.
std::vector<RepeatedRelease> repeated_releases(const AuditInput& input, const AttackTarget& target,
                                               const AttackSplit& split, const AuditOptions& options,
                                               std::vector<std::string>& notes);

}  // namespace ppan
