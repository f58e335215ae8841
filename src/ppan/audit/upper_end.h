#pragma once

// What a finding allows for: the greatest leakage that is compatible with what the audit saw and with what it
// may have missed.

#include <optional>
#include <vector>

#include "ppan/audit/audit.h"

namespace ppan {

/// Upper end of the 99 % interval. The 95 % one holds what these attackers would find on all rows, not what
/// better ones would: of 200 audits of an interaction in 1,000 rows, its upper end, the power and the
/// forecast together missed the truth in 12 (bench_audit-coverage).
double wide_end(const Estimate& found);
double wide_end(const Rate& rate);

/// Adds what the release tells those who know the side columns.
void judge_side(SideInformation side, AttributeAudit& attribute);
/// Adds the power. A limit that this audit could not have seen exceeded says nothing when it is kept.
void judge_power(const AttackPower& power, const std::optional<double>& limit, AttributeAudit& attribute);
/// No attacker finds more than an upper bound allows, whatever this audit may have missed.
void cap_by_upper_bound(const std::vector<Estimate>& upper, double& upper_end);
/// Attackers who know the side columns learn I(X;Z|U) from the release, which may be all of X where I(X;Z) is
/// 0: a bit enciphered by a known one. Limits are therefore held against both. Upper bounds are of I(X;Z); of
/// them only the entropy, the last, bounds I(X;Z|U) as well.
void allow_for_side(AttributeAudit& attribute);

}  // namespace ppan
