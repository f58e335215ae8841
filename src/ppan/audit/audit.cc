#include "ppan/audit/audit.h"

#include <algorithm>

#include "ppan/audit/attribute_audit.h"
#include "ppan/audit/audit_input.h"
#include "ppan/audit/audit_suites.h"
#include "ppan/audit/joint_audit.h"
#include "ppan/audit/repeated_releases.h"
#include "ppan/audit/side_information.h"
#include "ppan/audit/trace_screen.h"
#include "ppan/audit/undeclared_scan.h"
#include "ppan/audit/upper_end.h"
#include "ppan/nn/blas.h"

namespace ppan {
namespace {

constexpr Index kLevelShare = 10;  // of the least rows, one part for each category

// Where more can be drawn, of few rows more than of many; and of a wide table no more than can be learned
// from.
void add_releases(const AuditInput& input, const FeatureMap& map, const SuiteOptions& suite,
                  const AuditOptions& options, SuiteInput& suite_in) {
  constexpr Index kEnough = 20'000;  // released rows to learn from
  constexpr Index kMost = 12;
  if (!input.draw_again) return;
  const Index rows = std::max<Index>(1, input.released.rows());
  const Index few = std::min(kMost, kEnough / rows);
  const auto wanted =
      options.quick ? options.training_releases : std::max<Index>(options.training_releases, few);
  const Index room = std::max<Index>(2, 1 + suite.most_cells / (rows * std::max<Index>(1, map.width())));
  for (Index r = 1; r < std::min(wanted, room); ++r) suite_in.again.push_back(map.apply(input.draw_again(r)));
}

AuditReport start_report(const AuditInput& input, const AttackSplit& split, const Units& unit,
                         const SuiteOptions& suite, const AuditOptions& options) {
  AuditReport report;
  report.rows = input.held_out_rows();
  report.training_rows = std::min<Index>(static_cast<Index>(split.train.size()), suite.most_training_rows);
  report.trained_rows = std::min<Index>(static_cast<Index>(split.trained.size()),
                                        suite.most_training_rows - report.training_rows);
  report.selection_rows = static_cast<Index>(split.selection.size());
  report.test_rows = static_cast<Index>(split.test.size());
  report.quick = options.quick;
  report.released = input.released.names();
  report.limit = options.limit;
  if (input.together) {
    report.together = input.together->name;
    report.units = *std::max_element(unit.begin(), unit.end()) + 1;
  }
  return report;
}

void report_nothing(const std::vector<AttackTarget>& targets, const AttackSplit& split, AuditReport& report) {
  for (const AttackTarget& target : targets) report.attributes.push_back(describe_nothing(target, split));
  if (targets.size() < 2) return;
  const AttackTarget all = joint_target(targets);
  report.joint = JointAudit{{},
                            nothing_released(Bound::kLower, report.test_rows),
                            empirical_entropy(all.code, all.levels),
                            false,
                            {nothing_released(Bound::kUpper, report.test_rows)}};
  for (const AttackTarget& target : targets) report.joint->names.push_back(target.name);
}

}  // namespace

Problems AuditOptions::check() const {
  ProblemList list;
  list.add("target", target.check());
  list.add("features", features.check());
  if (suite) list.add("suite", suite->check());
  list.require_between("training_releases", training_releases, 1, 100);
  for (const int count : repeats) list.require_between("repeats", count, 2, 64);
  for (const Problem& problem : LeakageMeasureOptions{.alpha = alpha}.check(1))
    list.require(false, problem.field, problem.what);
  if (limit) list.require_at_least("limit", *limit, 0);
  list.require_at_least("least_group_rows", static_cast<double>(least_group_rows), 2);
  list.require_at_least("least_rows", static_cast<double>(least_rows), 20);
  list.require_at_least("threads", threads, 0);
  return list.take();
}

Index rows_needed(std::int32_t levels, const AuditOptions& options) {
  return std::max(options.least_rows, options.least_rows / kLevelShare * levels);
}

AuditReport audit(const AuditInput& input, const AuditOptions& options) {
  require_none(options.check(), "an audit with these options cannot be made:");
  check_input(input, options);
  const BlasThreads one(1);  // attackers run side by side instead
  const Index rows = input.held_out_rows();
  Units unit = input.together ? units_of(*input.together, options) : Units{};
  if (!unit.empty()) unit.resize(static_cast<std::size_t>(rows));
  const AttackSplit split = make_split(rows, options.seed, unit, input.trained_rows);
  std::vector<AttackTarget> targets;
  for (const AuditColumn& column : input.sensitive) targets.push_back(target_for(column, split, options));

  const std::vector<bool> traced =
      traced_columns(input.released, targets, split, options.features, options.threads);
  const FeatureMap map(input.released, options.features, input.trained_rows, traced);
  SuiteOptions suite = suite_options(options);
  suite.most_training_rows = std::min(suite.most_training_rows, room_for_rows(suite, map.width()));
  SuiteInput suite_in = suite_input(map, input.released);
  add_releases(input, map, suite, options, suite_in);
  AuditReport report = start_report(input, split, unit, suite, options);
  report.releases_per_training_row = static_cast<int>(suite_in.again.size()) + 1;
  if (map.width() == 0) {
    report_nothing(targets, split, report);
    return report;
  }
  std::optional<SuiteResult> first;
  double powers = 0;
  double greatest_power = 0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    const AttackTarget& target = targets[t];
    SuiteOptions own = suite;
    if (options.quick && own.attackers.empty()) own.attackers = quick_attackers(target.continuous);
    SuiteResult result = attack(suite_in, target, split, own);
    AttributeAudit attribute = describe(input, suite_in, target, split, result, options);
    if (std::string note = left_out_note(traced); !note.empty()) attribute.notes.push_back(std::move(note));
    if (!input.side.empty())
      judge_side(side_information(input, target, split, attribute.leakage, options), attribute);
    if (input.draw_again)
      attribute.repeats = repeated_releases(input, target, split, options, attribute.notes);
    if (t < options.known_power.size()) {
      judge_power(options.known_power[t], options.limit, attribute);
    } else if (options.measure_power) {
      judge_power(attack_power(suite_in, target, split, own), options.limit, attribute);
    }
    cap_by_upper_bound(attribute.upper, attribute.upper_end);
    allow_for_side(attribute);
    const double power = attribute.power ? attribute.power->nats : 0;
    powers += power;
    greatest_power = std::max(greatest_power, power);
    report.attributes.push_back(std::move(attribute));
    if (!first) first = std::move(result);
  }
  if (targets.size() > 1) {
    report.joint = joint_audit(input, suite_in, targets, *first, split, options);
    report.joint->upper_end =
        std::max({report.joint->upper_end, powers, report.joint->leakage.nats + greatest_power});
    // All attributes together are given away no less than each of them.
    for (const AttributeAudit& attribute : report.attributes)
      report.joint->upper_end = std::max(report.joint->upper_end, attribute.upper_end);
    cap_by_upper_bound(report.joint->upper, report.joint->upper_end);
  }
  scan_undeclared(input, suite_in, split, options, report);
  return report;
}

}  // namespace ppan
