#include "ppan/table/table_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "ppan/audit/joint_attack.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr SplitShares kShares{.train = 0.45, .selection = 0.15};
constexpr std::int64_t kLeastRows = 20;

// Columns as a reader of the released file would have them.
AuditColumn audit_column(const EncodedRows& rows, std::size_t position, const Encoding& encoding) {
  const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(rows.which[position])];
  const EncodedColumn& from = rows.columns[position];
  if (!column.numeric()) return column_of_codes(column.name, from.code, column.width());
  Vector<double> number(rows.rows);
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    number[r] =
        from.code[row] == 1 ? std::numeric_limits<double>::quiet_NaN() : column.decode(from.value[row]);
  }
  return column_of_numbers(column.name, number);
}

AuditTable audit_table(const EncodedRows& rows, const Encoding& encoding) {
  AuditTable table;
  for (std::size_t c = 0; c < rows.which.size(); ++c)
    table.columns.push_back(audit_column(rows, c, encoding));
  return table;
}

SuiteOptions suite_options(const LeakageOptions& options) {
  SuiteOptions suite;
  suite.attackers = {AttackerKind::kTrees, AttackerKind::kSmallMlp, AttackerKind::kLogistic,
                     AttackerKind::kPrior};
  suite.effort.epochs = options.epochs;
  suite.effort.trees = options.trees;
  suite.learning_curve = false;
  suite.sources = false;
  suite.threads = 1;
  suite.seed = options.seed;
  return suite;
}

}  // namespace

Problems LeakageOptions::check() const {
  ProblemList list;
  list.require_at_least("epochs", epochs, 1);
  list.require_at_least("trees", trees, 1);
  list.require_between("training_releases", training_releases, 1, 100);
  list.require_at_least("most_rows", static_cast<double>(most_rows), 1);
  return list.take();
}

TableChange measure_change(const EncodedRows& original, const EncodedRows& released,
                           const Encoding& encoding) {
  TableChange out;
  double weights = 0;
  for (std::size_t c = 0; c < released.which.size(); ++c) {
    const ColumnEncoding& column = encoding.columns[static_cast<std::size_t>(released.which[c])];
    const EncodedColumn& before = original.columns[original.position_of(released.which[c])];
    const EncodedColumn& after = released.columns[c];
    ColumnChange change{column.name, column.numeric(), column.weight};
    std::int64_t changed = 0;
    std::int64_t appeared = 0;  // or disappeared
    std::int64_t both = 0;
    double squares = 0;
    for (std::size_t r = 0; r < after.code.size(); ++r) {
      if (!column.numeric()) {
        if (before.code[r] != after.code[r]) ++changed;
        continue;
      }
      if (before.code[r] != after.code[r]) {
        ++changed;
        ++appeared;
      } else if (before.code[r] == 0) {
        ++both;
        const double written = column.decode(after.value[r]);
        if (written == column.decode(before.value[r])) continue;
        ++changed;
        const double error = column.encode(written) - before.value[r];
        squares += error * error;
      }
    }
    const auto rows = static_cast<double>(std::max<std::int64_t>(1, released.rows));
    change.changed = static_cast<double>(changed) / rows;
    change.distortion = change.changed;
    if (column.numeric()) {
      change.distortion = (squares + static_cast<double>(appeared)) / rows;
      change.rms_error = both > 0 ? std::sqrt(squares / static_cast<double>(both)) : 0;
    }
    weights += column.weight;
    out.distortion += column.weight * change.distortion;
    out.changed += change.changed / static_cast<double>(released.which.size());
    out.columns.push_back(std::move(change));
  }
  if (weights > 0) out.distortion /= weights;
  return out;
}

LeakageReport measure_leakage(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                              const std::function<EncodedRows(std::int64_t)>& release,
                              const LeakageOptions& options, const Units& unit) {
  require_none(options.check(), "leakage cannot be measured:");
  if (rows.rows < kLeastRows) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows are too few to measure leakage on; at least {} are needed", rows.rows,
                            kLeastRows),
                "use a larger table, or set split.test higher");
  }
  // Every use of the same rows has the same subset and split, so that differences between releases are not
  // differences between rows.
  const std::int64_t used = std::min(rows.rows, options.most_rows);
  std::vector<std::int32_t> which(static_cast<std::size_t>(rows.rows));
  std::iota(which.begin(), which.end(), 0);
  SeededRandom random = SeededRandom(options.seed).fork("attack-rows");
  if (used < rows.rows) {
    shuffle(random, which);
    which.resize(static_cast<std::size_t>(used));
    std::sort(which.begin(), which.end());
  }
  const EncodedRows hidden_rows = used < rows.rows ? take_rows(rows, which) : rows;
  const auto draw = [&](std::int64_t number) {
    EncodedRows drawn = release(number);
    return audit_table(used < rows.rows ? take_rows(drawn, which) : drawn, encoding);
  };
  Units used_unit = unit;
  if (used < rows.rows && !unit.empty()) {
    used_unit.clear();
    for (const std::int32_t row : which) used_unit.push_back(unit[static_cast<std::size_t>(row)]);
  }
  const AttackSplit split = make_split(used, options.seed, used_unit, kShares);
  const AuditTable released = draw(0);
  std::vector<AuditTable> again;
  for (int i = 1; i < options.training_releases; ++i) again.push_back(draw(i));
  const FeatureMap map(released, {.row_position = false, .trace_columns = 0});

  LeakageReport report;
  std::vector<AttackTarget> targets;
  for (const std::int32_t column : encoding.indices_of(schema.hidden_columns())) {
    const AuditColumn hidden = audit_column(hidden_rows, hidden_rows.position_of(column), encoding);
    targets.push_back(target_of(hidden, split.train, {.bins = 10, .least_class_rows = 2}));
    report.names.push_back(hidden.name);
  }
  if (map.width() == 0) {  // every row is released alike: there is nothing to look at
    for (std::size_t a = 0; a <= targets.size(); ++a) {
      Estimate none{.nats = 0,
                    .interval95 = Interval{0, 0},
                    .bound = Bound::kLower,
                    .method = "every row is released alike",
                    .samples = static_cast<std::int64_t>(split.test.size())};
      if (a == 0) {
        report.joint = std::move(none);
      } else {
        report.each.push_back(std::move(none));
      }
    }
    report.attacker = "none";
    return report;
  }
  const SuiteInput input = suite_input(map, released, again);
  SuiteResult first;
  for (const AttackTarget& target : targets) {
    SuiteResult found = attack(input, target, split, suite_options(options));
    report.each.push_back(lower_bound(found.gain, found.entropy,
                                      fmt::format("held-out log loss, {}", found.winner), split.test_unit));
    if (report.each.size() == 1) first = std::move(found);
  }
  report.joint = report.each.front();
  report.entropy = first.entropy;
  report.attacker = first.winner;
  if (targets.size() > 1) {
    const JointAttack joint = joint_attack(input, targets, first, split,
                                           [&](const AttackTarget&) { return suite_options(options); });
    report.joint = joint.leakage;
    report.entropy = joint.entropy;
  }
  return report;
}

EncodedRows take_rows(const EncodedRows& rows, std::span<const std::int32_t> which) {
  EncodedRows out;
  out.rows = static_cast<std::int64_t>(which.size());
  out.which = rows.which;
  out.columns.resize(rows.columns.size());
  out.bad.assign(which.size(), 0);
  for (std::size_t c = 0; c < rows.columns.size(); ++c) {
    const EncodedColumn& from = rows.columns[c];
    EncodedColumn& to = out.columns[c];
    for (const std::int32_t row : which) {
      to.code.push_back(from.code[static_cast<std::size_t>(row)]);
      if (!from.value.empty()) to.value.push_back(from.value[static_cast<std::size_t>(row)]);
    }
  }
  return out;
}

}  // namespace ppan
