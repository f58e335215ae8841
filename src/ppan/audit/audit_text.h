#pragma once

// An audit for people and for programs. The words claim what was found, not what cannot be.

#include <string>

#include "ppan/audit/audit.h"
#include "ppan/core/estimate.h"

namespace ppan {

/// "no attacker in this suite found more than 0.123 nats about "marital" (95 % interval 0.110 to 0.136; 1.320
/// to be known)". Where another attacker than the chosen one found more, the interval is said to be the
/// chosen one's.
std::string headline(const AttributeAudit& attribute, InformationUnit unit);

/// Tables and sentences for a terminal, lines ending in '\n'.
std::string to_text(const AuditReport& report, InformationUnit unit);

/// Everything in the report. Information is in nats whatever the display unit; docs/attack_model.md lists the
/// fields.
std::string to_json(const AuditReport& report);

}  // namespace ppan
