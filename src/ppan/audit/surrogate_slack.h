#pragma once

// A surrogate S stands for a sensitive attribute X that no column holds. What a release tells about X beyond
// what it tells about S is at most what the job says (privacy.surrogate_slack):
//     I(X;Z) <= I(S;Z) + slack,
// so every upper bound on the one, with the slack added, is an upper bound on the other. Where X - S - Z is a
// Markov chain the slack is 0.

#include "ppan/audit/audit.h"
#include "ppan/core/estimate.h"

namespace ppan {

/// `bound` with the slack added, and the formula in its method; as it is for a slack of 0.
Estimate with_surrogate_slack(Estimate bound, double slack);
/// The same for every upper bound of a report and for what its findings allow for
/// (AttributeAudit::upper_end).
void add_surrogate_slack(AuditReport& report, double slack);

}  // namespace ppan
