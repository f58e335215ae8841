#pragma once

// How hard the attackers of an audit try: for its main question, and for the many smaller ones around it.

#include "ppan/audit/attack_suite.h"
#include "ppan/audit/audit.h"

namespace ppan {

SuiteOptions suite_options(const AuditOptions& options);
/// For side columns, repeated releases, several attributes together and undeclared ones.
SuiteOptions side_suite(const AuditOptions& options, bool continuous);

}  // namespace ppan
