#include "ppan/audit/upper_end.h"

#include <fmt/format.h>

#include <algorithm>

namespace ppan {

double wide_end(const Estimate& found) {
  constexpr Index kComparisons = 5;
  if (!found.interval95) return found.nats;
  const double error = (found.interval95->high - found.nats) / normal_multiple();
  return found.nats + normal_multiple(kComparisons) * error;
}

double wide_end(const Rate& rate) {
  constexpr Index kComparisons = 5;
  return rate.value + normal_multiple(kComparisons) / normal_multiple() * (rate.interval95.high - rate.value);
}

void judge_side(SideInformation side, AttributeAudit& attribute) {
  if (side.additional.interval95.low > 0 && attribute.verdict == AuditVerdict::kNothingFound)
    attribute.verdict = AuditVerdict::kLeakFound;
  attribute.side = std::move(side);
}

void judge_power(const AttackPower& power, const std::optional<double>& limit, AttributeAudit& attribute) {
  attribute.power = power;
  // That one part of a leak was found says nothing about another: what is too small to be seen comes on top.
  attribute.upper_end = std::max(attribute.upper_end, attribute.leakage.nats + power.nats);
  if (attribute.side) {
    const double added = std::max(0.0, attribute.side->additional.value);
    attribute.side->upper_end = std::max(attribute.side->upper_end, added + power.nats);
  }
  if (limit && power.nats > *limit && attribute.leakage.interval95->low <= *limit) {
    attribute.verdict = AuditVerdict::kInconclusive;
    attribute.notes.push_back(fmt::format(
        "this audit would have missed a leak of the size of the limit: it finds {:.3g} nats and more "
        "with probability 0.9; more rows are needed",
        power.nats));
  }
}

void cap_by_upper_bound(const std::vector<Estimate>& upper, double& upper_end) {
  for (const Estimate& bound : upper)
    upper_end =
        std::min(upper_end, bound.interval95 ? std::max(bound.nats, bound.interval95->high) : bound.nats);
}

void allow_for_side(AttributeAudit& attribute) {
  if (!attribute.side) return;
  if (!attribute.continuous && !attribute.upper.empty())
    cap_by_upper_bound({attribute.upper.back()}, attribute.side->upper_end);
  attribute.upper_end = std::max(attribute.upper_end, attribute.side->upper_end);
}

}  // namespace ppan
