#include "ppan/audit/attribute_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ppan/audit/audit_suites.h"
#include "ppan/audit/continuous_attribute.h"
#include "ppan/audit/finite_information.h"
#include "ppan/audit/group_leakage.h"
#include "ppan/audit/upper_end.h"

namespace ppan {
namespace {

constexpr Index kRowsPerCell = 20;  // for counts to be believed
// Standard errors: by chance rows in random order are said to tell something in one audit of 4,000.
constexpr double kClearOrder = 3.5;

LeakageMeasureOptions measure_options(const AttackTarget& target, const AuditOptions& options) {
  LeakageMeasureOptions out{.alpha = options.alpha};
  if (options.gain) out.gain = gain_for(*options.gain, target.level);
  return out;
}

// Bins hold no more than the logarithm of their number, however exactly a value is given away. Estimates that
// do not go through bins count as well; where nearly all of the bins may be known, nothing here says how much
// of the value is, and what so many different values can hold is allowed for.
void allow_for_values(const AttackTarget& held_out, AttributeAudit& out) {
  constexpr double kNearlyAll = 0.9;  // of the entropy of the bins
  for (const Estimate& other : out.others) out.upper_end = std::max(out.upper_end, wide_end(other));
  if (out.upper_end < kNearlyAll * out.entropy) return;
  std::set<double> different;
  for (const double value : held_out.value) {
    if (!std::isnan(value)) different.insert(value);
  }
  out.upper_end = std::max(out.upper_end, std::log(static_cast<double>(different.size() + 1)));
  out.notes.emplace_back(
      "the release may give away nearly all of the bins: how much finer it tells the value is not measured, "
      "and "
      "all that so many different values can hold is allowed for");
}

}  // namespace

AttackTarget held_out_part(AttackTarget target, Index rows) {
  target.code.resize(static_cast<std::size_t>(rows));
  if (target.continuous) target.value.conservativeResize(rows);
  return target;
}

Estimate entropy_bound(double nats, const AttackTarget& held_out, const char* method) {
  const Rate rate = mean_rate(-log_share(held_out.code, held_out.levels));
  const auto rows = static_cast<double>(held_out.code.size());
  const double high =
      rate.interval95.high + (held_out.levels - 1) / (2 * rows);  // sample shares are too uneven
  return {.nats = nats,
          .interval95 = Interval{std::min(nats, rate.interval95.low), std::max(nats, high)},
          .bound = Bound::kUpper,
          .method = method,
          .samples = static_cast<std::int64_t>(held_out.code.size())};
}

AttributeAudit describe(const AuditInput& input, const SuiteInput& suite_in, const AttackTarget& target,
                        const AttackSplit& split, const SuiteResult& result, const AuditOptions& options) {
  const Symbols x = codes_at(target, split.test);
  AttributeAudit out;
  out.name = target.name;
  out.continuous = target.continuous;
  out.level = target.level;
  out.entropy = result.entropy;
  const Units& unit = split.test_unit;
  out.leakage = lower_bound(result.gain, result.entropy, "held-out log loss, " + result.winner, unit);
  out.winner = result.winner;
  out.attackers = result.attackers;
  out.learning = result.learning;
  out.forecast = result.forecast;
  out.learned_rows = result.learned_rows;
  out.upper_end = wide_end(out.leakage);
  if (out.forecast) out.upper_end = std::max(out.upper_end, forecast_end(*out.forecast, result.still_rising));
  out.verdict = result.still_rising               ? AuditVerdict::kInconclusive
                : out.leakage.interval95->low > 0 ? AuditVerdict::kLeakFound
                                                  : AuditVerdict::kNothingFound;
  out.accuracy = accuracy(result.log_probability, x, unit);
  out.prior_accuracy = std::exp(log_share(x, target.levels).maxCoeff());
  out.balanced_accuracy = balanced_accuracy(result.log_probability, x, target.levels, unit);
  out.auc = area_under_roc(result.log_probability, x, target.levels, unit);
  out.low_false_positive = low_false_positive(result.log_probability, x, target.levels, unit);
  if (!target.continuous)
    out.measures = held_out_leakage_measures(result.log_probability, x, result.prior, unit,
                                             measure_options(target, options));
  out.groups = group_leakage(input, target, split, result, options);
  out.sources = result.sources;
  out.notes = target.notes;
  for (const std::string& failure : result.failures)
    out.notes.push_back(fmt::format("an attacker could not be trained, and is left out: {}", failure));
  if (std::any_of(out.sources.begin(), out.sources.end(), [](const LeakSource& source) {
        return (source.where.aspect == "position" || source.where.aspect == "neighbours") &&
               source.deviations > kClearOrder;
      })) {
    out.notes.emplace_back(
        "the order of the rows tells part of this, whatever is written in them: shuffle them before they are "
        "released; what their cells tell by themselves is found with --ignore-order");
  }
  const Index rows = input.held_out_rows();
  const AttackTarget held_out = held_out_part(target, rows);
  if (options.details && !target.continuous && suite_in.released.cells <= rows / kRowsPerCell) {
    Symbols cell = suite_in.released.cell;
    cell.resize(static_cast<std::size_t>(rows));
    out.others.push_back(
        finite_information(held_out.code, target.levels, cell, suite_in.released.cells, options.seed));
  }
  if (options.details && target.continuous) {
    add_continuous(input, suite_in, target, split, suite_options(options), options, out);
    allow_for_values(held_out, out);
  }
  if (input.upper_bounds) out.upper = input.upper_bounds(held_out);
  const bool distribution_known = !out.upper.empty();
  std::stable_sort(out.upper.begin(), out.upper.end(),
                   [](const Estimate& a, const Estimate& b) { return a.nats < b.nats; });
  if (!target.continuous) {
    out.upper.push_back(
        entropy_bound(result.entropy, held_out, "entropy of the attribute: all there is to know"));
  }
  if (!unit.empty() && (!out.others.empty() || !out.upper.empty())) {
    out.notes.emplace_back(
        "intervals of further estimates and of upper bounds take every row as independent of the "
        "others");
  }
  if (!distribution_known) {
    out.notes.emplace_back(
        target.continuous
            ? "no upper bound: this release has no density known to the audit, and a continuous attribute "
              "has no "
              "finite entropy to fall back on"
            : "this release has no density known to the audit, so the only upper bound is the entropy");
  }
  return out;
}

Estimate nothing_released(Bound bound, Index rows) {
  return {.nats = 0,
          .interval95 = Interval{0, 0},
          .bound = bound,
          .method = "every row is released alike",
          .samples = rows};
}

AttributeAudit describe_nothing(const AttackTarget& target, const AttackSplit& split) {
  const Symbols x = codes_at(target, split.test);
  const auto rows = static_cast<Index>(x.size());
  AttributeAudit out;
  out.name = target.name;
  out.continuous = target.continuous;
  out.level = target.level;
  out.entropy = empirical_entropy(x, target.levels);
  out.leakage = nothing_released(Bound::kLower, rows);
  out.upper = {nothing_released(Bound::kUpper, rows)};
  out.winner = to_string(AttackerKind::kPrior);
  out.prior_accuracy = std::exp(log_share(x, target.levels).maxCoeff());
  out.accuracy = {out.prior_accuracy, {out.prior_accuracy, out.prior_accuracy}};
  const double chance = 1.0 / target.levels;
  out.balanced_accuracy = {chance, {chance, chance}};
  out.auc = {0.5, {0.5, 0.5}};
  out.notes = target.notes;
  return out;
}

}  // namespace ppan
