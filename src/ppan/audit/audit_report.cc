// What a report says as a whole.

#include <fmt/format.h>

#include <algorithm>

#include "ppan/audit/audit.h"

namespace ppan {

std::string_view to_string(AuditVerdict verdict) {
  switch (verdict) {
    case AuditVerdict::kNothingFound:
      return "nothing seen";
    case AuditVerdict::kLeakFound:
      return "leak found";
    case AuditVerdict::kInconclusive:
      return "inconclusive";
  }
  return "?";
}

const Estimate& AuditReport::leakage() const {
  return joint ? joint->leakage : attributes.front().leakage;
}

double AuditReport::entropy() const {
  return joint ? joint->entropy : attributes.front().entropy;
}

std::optional<Estimate> AuditReport::upper_bound() const {
  const std::vector<Estimate>& upper = joint ? joint->upper : attributes.front().upper;
  return upper.empty() ? std::nullopt : std::optional(upper.front());
}

bool AuditReport::inconclusive() const {
  return (joint && joint->still_rising) ||
         std::any_of(attributes.begin(), attributes.end(), [](const AttributeAudit& attribute) {
           return attribute.verdict == AuditVerdict::kInconclusive;
         });
}

std::optional<double> AuditReport::power() const {
  std::optional<double> worst;
  for (const AttributeAudit& a : attributes) {
    if (a.power) worst = std::max(worst.value_or(0), a.power->nats);
  }
  return worst;
}

double AuditReport::upper_end() const {
  return joint ? joint->upper_end : attributes.front().upper_end;
}

std::vector<std::string> AuditReport::over_limit() const {
  std::vector<std::string> over;
  if (!limit) return over;
  for (const AttributeAudit& a : attributes) {
    if (a.upper_end > *limit || a.verdict == AuditVerdict::kInconclusive) over.push_back(a.name);
  }
  if (joint && (joint->upper_end > *limit || joint->still_rising)) {
    over.push_back(fmt::format("{} jointly", fmt::join(joint->names, " and ")));
  }
  return over;
}

bool AuditReport::within_limit() const {
  return over_limit().empty();
}

}  // namespace ppan
