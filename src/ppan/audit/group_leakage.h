#pragma once

// Leakage within groups of records: an average over all may hide a few who are fully exposed.

#include <cstdint>
#include <vector>

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// A column with more levels makes no groups.
inline constexpr std::int32_t kMostGroupLevels = 20;

/// Of the levels of the attribute, of every column of input.groups and of the release, and of the rows about
/// which the attackers claim to know most; the most exposed first. Intervals hold for all groups at once.
std::vector<GroupLeakage> group_leakage(const AuditInput& input, const AttackTarget& target,
                                        const AttackSplit& split, const SuiteResult& result,
                                        const AuditOptions& options);

}  // namespace ppan
