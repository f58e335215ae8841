#include "ppan/audit/surrogate_slack.h"

#include <fmt/format.h>

#include <utility>

namespace ppan {

Estimate with_surrogate_slack(Estimate bound, double slack) {
  if (slack == 0) return bound;
  bound.nats += slack;
  if (bound.interval95)
    bound.interval95 = Interval{bound.interval95->low + slack, bound.interval95->high + slack};
  bound.method += fmt::format(", plus {0:g} nats for the surrogate S: I(X;Z) <= I(S;Z) + {0:g}", slack);
  return bound;
}

void add_surrogate_slack(AuditReport& report, double slack) {
  const auto add = [&](std::vector<Estimate>& bounds, double& upper_end) {
    for (Estimate& bound : bounds) bound = with_surrogate_slack(std::move(bound), slack);
    upper_end += slack;
  };
  for (AttributeAudit& attribute : report.attributes) add(attribute.upper, attribute.upper_end);
  if (report.joint) add(report.joint->upper, report.joint->upper_end);
}

}  // namespace ppan
