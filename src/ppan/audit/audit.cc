#include "ppan/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <numeric>
#include <set>

#include "ppan/audit/continuous_attribute.h"
#include "ppan/audit/finite_information.h"
#include "ppan/audit/group_leakage.h"
#include "ppan/audit/joint_attack.h"
#include "ppan/audit/trace_screen.h"
#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/nn/blas.h"

namespace ppan {
namespace {

constexpr Index kLevelShare = 10;  // of the least rows, one part for each category
constexpr Index kRowsPerBin = 50;
constexpr Index kUnitShare = 3;                   // of the least rows, one part must be different units
constexpr Index kRowsPerCell = 20;                // for counts to be believed
constexpr std::size_t kMostRepeatedColumns = 64;  // of which single releases are attacked
// Standard errors: by chance rows in random order are said to tell something in one audit of 4,000.
constexpr double kClearOrder = 3.5;

SuiteOptions suite_options(const AuditOptions& options) {
  SuiteOptions suite = options.suite.value_or(SuiteOptions{});
  if (!options.suite && options.quick) {
    suite.effort = {.epochs = 12, .patience = 2, .trees = 200, .neighbours = 5'000};
    suite.most_training_rows = 10'000;
    suite.most_releases = 20'000;
    suite.screen_traces = true;
  }
  suite.learning_curve = suite.learning_curve && options.details;
  suite.sources = suite.sources && options.details;
  suite.threads = options.threads;
  suite.seed = options.seed;
  return suite;
}

// For the many smaller questions around the main one.
SuiteOptions side_suite(const AuditOptions& options, bool continuous) {
  SuiteOptions suite = suite_options(options);
  if (suite.attackers.empty()) suite.attackers = quick_attackers(continuous);
  suite.learning_curve = false;
  suite.sources = false;
  suite.effort.epochs = std::min(suite.effort.epochs, 20);
  suite.effort.trees = std::min(suite.effort.trees, 400);
  suite.most_training_rows = std::min<Index>(suite.most_training_rows, 20'000);
  suite.most_releases = std::min<Index>(suite.most_releases, 40'000);
  return suite;
}

AttackTarget held_out_part(AttackTarget target, Index rows) {
  target.code.resize(static_cast<std::size_t>(rows));
  if (target.continuous) target.value.conservativeResize(rows);
  return target;
}

void require_rows(Index rows, const AuditColumn& column) {
  if (column.rows() == rows) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("column \"{}\" has {} rows, the release has {}", column.name, column.rows(), rows),
              "The audit compares row by row: give tables of the same records in the same order.");
}

std::size_t different_values(const AuditColumn& column) {
  std::set<std::pair<std::int32_t, double>> values;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (column.missing[row]) continue;
    values.emplace(column.has_text() ? column.code[row] : 0, column.has_text() ? 0 : column.number[i]);
  }
  return values.size();
}

void check_input(const AuditInput& input, const AuditOptions& options) {
  if (input.released.columns.empty())
    throw Error(ErrorCode::kBadInput, "nothing is released: there is no column to audit");
  if (input.sensitive.empty()) {
    throw Error(ErrorCode::kUsage, "no sensitive column is named", "Name at least one: --sensitive COLUMN.");
  }
  const Index rows = input.released.rows();
  for (const AuditColumn& column : input.released.columns) require_rows(rows, column);
  for (const auto* columns : {&input.sensitive, &input.side, &input.undeclared, &input.groups}) {
    for (const AuditColumn& column : *columns) require_rows(rows, column);
  }
  if (input.together) require_rows(rows, *input.together);
  for (const AuditColumn& column : input.groups) {
    const std::size_t values = different_values(column);
    if (values <= static_cast<std::size_t>(kMostGroupLevels)) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" has {} different values, too many groups to report on (at most {})",
                            column.name, values, kMostGroupLevels),
                "If they name persons with several rows each, use --together instead of --group.");
  }
  if (input.trained_rows < 0 || input.trained_rows >= std::max<Index>(rows, 1))
    throw Error(ErrorCode::kUsage,
                fmt::format("of {} rows {} cannot have trained the mechanism", rows, input.trained_rows));
  if (input.held_out_rows() < options.least_rows) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows are too few to audit; at least {} are needed", input.held_out_rows(),
                            options.least_rows),
                "Hold more records out of training.");
  }
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::kBadInput, "more than 2^31 rows");
}

AttackTarget target_for(const AuditColumn& column, const AttackSplit& split, const AuditOptions& options) {
  const auto rows = column.rows() - static_cast<Index>(split.trained.size());
  TargetOptions wanted = options.target;
  wanted.bins =
      static_cast<std::int32_t>(std::clamp<Index>(rows / kRowsPerBin, 2, static_cast<Index>(wanted.bins)));
  AttackTarget target = target_of(column, split.train, wanted);
  const Index needed = rows_needed(target.levels, options);
  if (!target.continuous && rows < needed) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} rows are too few to audit \"{}\" with its {} categories; at least {} are needed",
                    rows, column.name, target.levels, needed),
        "Hold more records out of training, or put categories together.");
  }
  return target;
}

// Rows with the same value are one unit; a row without a value is its own. Numbered from 0.
Units units_of(const AuditColumn& column, const AuditOptions& options) {
  Units unit;
  std::map<std::pair<std::int32_t, double>, std::int32_t> known;
  std::int32_t count = 0;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (column.missing[row]) {
      unit.push_back(count++);
      continue;
    }
    const auto [at, added] = known.try_emplace(
        {column.has_text() ? column.code[row] : 0, column.has_text() ? 0 : column.number[i]}, count);
    if (added) ++count;
    unit.push_back(at->second);
  }
  const Index least = options.least_rows / kUnitShare;
  if (count < least) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" has {} different values; at least {} persons (or other units) are "
                            "needed to hold some of them back",
                            column.name, count, least),
                "Groups to report on are named with --group.");
  }
  return unit;
}

// What those who attack these targets are given of a table.
FeatureMap map_for(const AuditTable& table, std::span<const AttackTarget> targets, const AttackSplit& split,
                   const FeatureOptions& features, const AuditOptions& options) {
  return {table, features, 0, traced_columns(table, targets, split, features, options.threads)};
}

AuditTable with_columns(const AuditTable& table, const std::vector<AuditColumn>& more) {
  AuditTable joined = table;
  joined.columns.insert(joined.columns.end(), more.begin(), more.end());
  return joined;
}

// Upper end of the 99 % interval. The 95 % one holds what these attackers would find on all rows, not what
// better ones would: of 200 audits of an interaction in 1,000 rows, its upper end, the power and the forecast
// together missed the truth in 12 (bench_audit-coverage).
double wide_end(const Estimate& found) {
  constexpr Index kComparisons = 5;
  if (!found.interval95) return found.nats;
  const double error = (found.interval95->high - found.nats) / normal_multiple();
  return found.nats + normal_multiple(kComparisons) * error;
}

// The same of a rate.
double wide_end(const Rate& rate) {
  constexpr Index kComparisons = 5;
  return rate.value + normal_multiple(kComparisons) / normal_multiple() * (rate.interval95.high - rate.value);
}

SideInformation side_information(const AuditInput& input, const AttackTarget& target,
                                 const AttackSplit& split, const Estimate& leakage,
                                 const AuditOptions& options) {
  SuiteOptions suite = side_suite(options, target.continuous);
  FeatureOptions alone = options.features;
  alone.row_position = false;  // position belongs to the release, not to what is known beside it
  const AuditTable known{input.side};
  const FeatureMap side_map = map_for(known, {&target, 1}, split, alone, options);
  const SuiteResult side = attack(suite_input(side_map, known), target, split, suite);
  const AuditTable all = with_columns(input.released, input.side);
  const FeatureMap both_map = map_for(all, {&target, 1}, split, options.features, options);
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

// Several releases of each row as one table, and the mean of each number over them. Of a wide table single
// releases of the columns `single` alone: of the others the mean.
AuditTable several_releases(const AuditInput& input, int releases, const std::vector<std::size_t>& single) {
  AuditTable all;
  std::vector<bool> whole(input.released.columns.size(), false);
  for (const std::size_t c : single) whole[c] = true;
  std::vector<Vector<double>> sum;
  for (int r = 0; r < releases; ++r) {
    AuditTable again = r == 0 ? input.released : input.draw_again(r);
    for (std::size_t c = 0; c < again.columns.size(); ++c) {
      AuditColumn& column = again.columns[c];
      if (r == 0) {
        sum.push_back(column.number);
      } else if (column.numeric() && sum[c].size() > 0) {
        sum[c] += column.number;
      }
      // What is no number has no mean.
      if (!whole[c] && column.numeric()) continue;
      if (r > 0) column.name = fmt::format("{} (release {})", column.name, r + 1);
      all.columns.push_back(std::move(column));
    }
  }
  for (std::size_t c = 0; c < sum.size(); ++c) {
    if (sum[c].size() == 0) continue;
    const Vector<double> average = sum[c] / releases;
    all.columns.push_back(column_of_numbers(input.released.columns[c].name + " (mean of releases)", average));
  }
  return all;
}

std::vector<RepeatedRelease> repeated_releases(const AuditInput& input, const AttackTarget& target,
                                               const AttackSplit& split, const AuditOptions& options,
                                               std::vector<std::string>& notes) {
  std::vector<RepeatedRelease> out;
  const std::size_t columns = input.released.columns.size();
  std::vector<std::size_t> single(columns);
  std::iota(single.begin(), single.end(), std::size_t{0});
  if (columns > kMostRepeatedColumns && !options.repeats.empty()) {
    single = telling_columns(input.released, {&target, 1}, split, kMostRepeatedColumns, options.threads);
    notes.push_back(fmt::format(
        "{} columns are too many to attack each of several releases: of all numbers their mean over the "
        "releases was attacked, and the single releases of the {} columns that tell most",
        columns, single.size()));
  }
  for (const int releases : options.repeats) {
    const AuditTable all = several_releases(input, releases, single);
    const FeatureMap map = map_for(all, {&target, 1}, split, options.features, options);
    const SuiteResult result =
        attack(suite_input(map, all), target, split, side_suite(options, target.continuous));
    out.push_back({releases, lower_bound(result.gain, result.entropy,
                                         fmt::format("held-out log loss, {} releases of each row", releases),
                                         split.test_unit)});
  }
  return out;
}

LeakageMeasureOptions measure_options(const AttackTarget& target, const AuditOptions& options) {
  LeakageMeasureOptions out{.alpha = options.alpha};
  if (options.gain) out.gain = gain_for(*options.gain, target.level);
  return out;
}

// All there is to know, with the doubt that few rows leave about how frequent rare levels are: of 1,000 test
// rows with ten of a level, the entropy is off by a fifth.
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

// Reports the suite's result on one attribute; `known` are the released rows it ran on.
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

// Where every row is released alike there is nothing to look at, and no attacker is needed to say so.
Estimate nothing(Bound bound, Index rows) {
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
  out.leakage = nothing(Bound::kLower, rows);
  out.upper = {nothing(Bound::kUpper, rows)};
  out.winner = to_string(AttackerKind::kPrior);
  out.prior_accuracy = std::exp(log_share(x, target.levels).maxCoeff());
  out.accuracy = {out.prior_accuracy, {out.prior_accuracy, out.prior_accuracy}};
  const double chance = 1.0 / target.levels;
  out.balanced_accuracy = {chance, {chance, chance}};
  out.auc = {0.5, {0.5, 0.5}};
  out.notes = target.notes;
  return out;
}

// All attributes as one, as far as upper bounds look at it.
AttackTarget joint_target(const std::vector<AttackTarget>& targets) {
  AttackTarget joint;
  joint.code = targets.front().code;
  joint.levels = targets.front().levels;
  joint.continuous = targets.front().continuous;
  for (std::size_t a = 1; a < targets.size(); ++a) {
    joint.code = joint_code(joint.code, targets[a].code, targets[a].levels, joint.levels);
    joint.continuous = joint.continuous || targets[a].continuous;
  }
  return joint;
}

JointAudit joint_audit(const AuditInput& audited, const SuiteInput& input,
                       const std::vector<AttackTarget>& targets, const SuiteResult& first,
                       const AttackSplit& split, const AuditOptions& options) {
  const JointAttack found = joint_attack(input, targets, first, split, [&](const AttackTarget& target) {
    SuiteOptions suite = side_suite(options, target.continuous);
    suite.learning_curve = options.details;
    return suite;
  });
  JointAudit joint{{}, found.leakage, found.entropy, found.still_rising, {}};
  joint.upper_end = std::max(wide_end(found.leakage), found.forecast_end.value_or(0));
  const AttackTarget all = held_out_part(joint_target(targets), audited.held_out_rows());
  if (audited.upper_bounds) joint.upper = audited.upper_bounds(all);
  std::stable_sort(joint.upper.begin(), joint.upper.end(),
                   [](const Estimate& a, const Estimate& b) { return a.nats < b.nats; });
  if (!all.continuous) {
    joint.upper.push_back(entropy_bound(empirical_entropy(all.code, all.levels), all,
                                        "entropy of the attributes: all there is to know"));
  }
  for (const AttackTarget& target : targets) joint.names.push_back(target.name);
  return joint;
}

void scan_undeclared(const AuditInput& input, const SuiteInput& suite_in, const AttackSplit& split,
                     const AuditOptions& options, AuditReport& report) {
  const double widen = normal_multiple(static_cast<Index>(input.undeclared.size())) / normal_multiple();
  for (const AuditColumn& column : input.undeclared) {
    try {
      const AttackTarget target = target_for(column, split, options);
      SuiteOptions suite = side_suite(options, target.continuous);
      suite.most_training_rows = std::min<Index>(suite.most_training_rows, 10'000);
      if (!options.suite) {
        suite.attackers = {AttackerKind::kTrees, AttackerKind::kLogistic, AttackerKind::kLookup,
                           AttackerKind::kPrior};
        suite.effort.trees = 200;
        suite.effort.epochs = 10;
      }
      const SuiteResult result = attack(suite_in, target, split, suite);
      const Rate mean = mean_rate(result.gain, split.test_unit);
      const double low = mean.value - widen * (mean.value - mean.interval95.low);
      report.undeclared.push_back(
          {column.name, result.entropy,
           lower_bound(result.gain, result.entropy, "held-out log loss, " + result.winner, split.test_unit),
           low > 0});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadInput) throw;
      report.not_audited.push_back(fmt::format("{}: {}", column.name, error.what()));
    }
  }
  std::stable_sort(report.undeclared.begin(), report.undeclared.end(),
                   [](const UndeclaredLeak& a, const UndeclaredLeak& b) {
                     return a.leakage.nats * b.entropy > b.leakage.nats * a.entropy;
                   });
}

}  // namespace

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

namespace {

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

void judge_side(SideInformation side, AttributeAudit& attribute) {
  if (side.additional.interval95.low > 0 && attribute.verdict == AuditVerdict::kNothingFound)
    attribute.verdict = AuditVerdict::kLeakFound;
  attribute.side = std::move(side);
}

// A limit that this audit could not have seen exceeded says nothing when it is kept.
void judge_power(const AttackPower& power, const std::optional<double>& limit, AttributeAudit& attribute) {
  attribute.power = power;
  attribute.upper_end = std::max(attribute.upper_end, power.nats);
  if (attribute.side) attribute.side->upper_end = std::max(attribute.side->upper_end, power.nats);
  if (limit && power.nats > *limit && attribute.leakage.interval95->low <= *limit) {
    attribute.verdict = AuditVerdict::kInconclusive;
    attribute.notes.push_back(fmt::format(
        "this audit would have missed a leak of the size of the limit: it finds {:.3g} nats and more "
        "with probability 0.9; more rows are needed",
        power.nats));
  }
}

// No attacker finds more than an upper bound allows, whatever this audit may have missed.
void cap_by_upper_bound(const std::vector<Estimate>& upper, double& upper_end) {
  for (const Estimate& bound : upper)
    upper_end =
        std::min(upper_end, bound.interval95 ? std::max(bound.nats, bound.interval95->high) : bound.nats);
}

// Attackers who know the side columns learn I(X;Z|U) from the release, which may be all of X where I(X;Z) is
// 0: a bit enciphered by a known one. Limits are therefore held against both. Upper bounds are of I(X;Z); of
// them only the entropy, the last, bounds I(X;Z|U) as well.
void allow_for_side(AttributeAudit& attribute) {
  if (!attribute.side) return;
  if (!attribute.continuous && !attribute.upper.empty())
    cap_by_upper_bound({attribute.upper.back()}, attribute.side->upper_end);
  attribute.upper_end = std::max(attribute.upper_end, attribute.side->upper_end);
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
                            nothing(Bound::kLower, report.test_rows),
                            empirical_entropy(all.code, all.levels),
                            false,
                            {nothing(Bound::kUpper, report.test_rows)}};
  for (const AttackTarget& target : targets) report.joint->names.push_back(target.name);
}

}  // namespace

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
    powers += attribute.power ? attribute.power->nats : 0;
    report.attributes.push_back(std::move(attribute));
    if (!first) first = std::move(result);
  }
  if (targets.size() > 1) {
    report.joint = joint_audit(input, suite_in, targets, *first, split, options);
    report.joint->upper_end = std::max(report.joint->upper_end, powers);
    // All attributes together are given away no less than each of them.
    for (const AttributeAudit& attribute : report.attributes)
      report.joint->upper_end = std::max(report.joint->upper_end, attribute.upper_end);
    cap_by_upper_bound(report.joint->upper, report.joint->upper_end);
  }
  scan_undeclared(input, suite_in, split, options, report);
  return report;
}

}  // namespace ppan
