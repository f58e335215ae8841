#pragma once

// An audit for people and for programs. The words claim what was found, not what cannot be.

#include <string>

#include "ppan/audit/audit.h"
#include "ppan/core/estimate.h"

namespace ppan {

/// "leakage of "marital" is at least 0.123 nats (95 % interval 0.110 to 0.136), found by boosted trees; 1.320
/// nats to be known", or that nothing was seen and from which size on it would have been.
std::string headline(const AttributeAudit& attribute, InformationUnit unit);

/// Tables and sentences for a terminal, lines ending in '\n'.
std::string to_text(const AuditReport& report, InformationUnit unit);

/// Everything in the report. Information is in nats whatever the display unit; docs/attack_model.md lists the
/// fields.
std::string to_json(const AuditReport& report);

}  // namespace ppan
