#pragma once

// What an audit was given, checked and made ready: rows enough, columns of one length, attributes as targets,
// persons as units.

#include "ppan/audit/attack_split.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/audit.h"

namespace ppan {

/// Throws Error for what cannot be audited.
void check_input(const AuditInput& input, const AuditOptions& options);
/// Throws Error(kBadInput) if there are too few rows for so many categories.
AttackTarget target_for(const AuditColumn& column, const AttackSplit& split, const AuditOptions& options);
/// Rows with the same value are one unit; a row without a value is its own. Numbered from 0.
Units units_of(const AuditColumn& column, const AuditOptions& options);

}  // namespace ppan
