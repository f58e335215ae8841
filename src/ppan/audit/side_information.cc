#include "ppan/audit/side_information.h"

#include <algorithm>

#include "ppan/audit/audit_suites.h"
#include "ppan/audit/trace_screen.h"
#include "ppan/audit/upper_end.h"

namespace ppan {
namespace {

AuditTable with_columns(const AuditTable& table, const std::vector<AuditColumn>& more) {
  AuditTable joined = table;
  joined.columns.insert(joined.columns.end(), more.begin(), more.end());
  return joined;
}

}  // namespace

SideInformation side_information(const AuditInput& input, const AttackTarget& target,
                                 const AttackSplit& split, const Estimate& leakage,
                                 const AuditOptions& options) {
  SuiteOptions suite = side_suite(options, target.continuous);
  FeatureOptions alone = options.features;
  alone.row_position = false;  // position belongs to the release, not to what is known beside it
  const AuditTable known{input.side};
  const FeatureMap side_map = screened_map(known, {&target, 1}, split, alone, options.threads);
  const SuiteResult side = attack(suite_input(side_map, known), target, split, suite);
  const AuditTable all = with_columns(input.released, input.side);
  const FeatureMap both_map = screened_map(all, {&target, 1}, split, options.features, options.threads);
  suite.learning_curve = options.details;
  const SuiteResult both = attack(suite_input(both_map, all), target, split, suite);
  SideInformation out;
  out.side = lower_bound(side.gain, side.entropy, "held-out log loss, side columns only", split.test_unit);
  out.both =
      lower_bound(both.gain, both.entropy, "held-out log loss, release and side columns", split.test_unit);
  out.additional = mean_rate(both.score - side.score, split.test_unit);
  out.bound = std::min(both.entropy, leakage.nats + out.side.nats);
  out.upper_end = std::max(0.0, wide_end(out.additional));
  if (both.forecast)
    out.upper_end = std::max(out.upper_end, forecast_end(*both.forecast, both.still_rising) - out.side.nats);
  return out;
}

}  // namespace ppan
