#include "ppan/table/table_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr Index kLeastRows = 20;

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

AuditColumn take_rows(const AuditColumn& column, std::span<const std::int32_t> which) {
  AuditColumn out;
  out.name = column.name;
  out.level = column.level;
  if (column.numeric()) out.number.resize(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i) {
    const auto row = static_cast<std::size_t>(which[i]);
    out.missing.push_back(column.missing[row]);
    if (column.has_text()) out.code.push_back(column.code[row]);
    if (column.numeric()) out.number[static_cast<Index>(i)] = column.number[which[i]];
  }
  return out;
}

AuditOptions audit_options(const LeakageOptions& options, LeakageDetail detail) {
  AuditOptions out;
  out.quick = options.quick;
  out.target.least_class_rows = 2;
  out.features = {.row_position = false, .trace_columns = 0};
  out.training_releases = options.training_releases;
  out.repeats.clear();
  out.least_rows = kLeastRows;
  out.details = detail == LeakageDetail::kWhole;
  if (!out.details && !out.quick) {
    out.suite = SuiteOptions{};
    out.suite->attackers = {AttackerKind::kTrees,    AttackerKind::kDensity, AttackerKind::kSmallMlp,
                            AttackerKind::kLogistic, AttackerKind::kLookup,  AttackerKind::kPrior};
  }
  out.threads = 1;  // points are measured side by side
  out.seed = options.seed;
  return out;
}

// Released categories go to the attackers as codes; a report calls them by their names. Kept columns have
// them.
void name_levels(const Encoding& encoding, const std::vector<AuditColumn>& kept, AttributeAudit& attribute) {
  for (GroupLeakage& group : attribute.groups) {
    if (std::any_of(kept.begin(), kept.end(), [&](const AuditColumn& k) { return k.name == group.column; }))
      continue;
    for (const ColumnEncoding& column : encoding.columns) {
      if (column.name != group.column || column.name == attribute.name || column.numeric()) continue;
      const auto code = static_cast<std::size_t>(std::stoul(group.level));
      group.level = column.levels.at(code);
    }
  }
}

}  // namespace

Problems LeakageOptions::check() const {
  ProblemList list;
  list.require_between("training_releases", training_releases, 1, 100);
  list.require_at_least("most_rows", static_cast<double>(most_rows), static_cast<double>(kLeastRows));
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

AuditReport measure_leakage(const LeakageInput& input, const LeakageOptions& options, LeakageDetail detail) {
  require_none(options.check(), "leakage cannot be measured:");
  const EncodedRows& rows = input.rows;
  if (rows.rows < kLeastRows) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows are too few to measure leakage on; at least {} are needed", rows.rows,
                            kLeastRows),
                "use a larger table, or set split.test higher");
  }
  // Every use of the same rows has the same subset and split, so that differences between releases are not
  // differences between rows.
  const bool some = rows.rows > options.most_rows;
  std::vector<std::int32_t> which(static_cast<std::size_t>(rows.rows));
  std::iota(which.begin(), which.end(), 0);
  if (some) {
    SeededRandom random = SeededRandom(options.seed).fork("attack-rows");
    shuffle(random, which);
    which.resize(static_cast<std::size_t>(options.most_rows));
    std::sort(which.begin(), which.end());
  }
  const EncodedRows used = some ? take_rows(rows, which) : rows;
  std::vector<AuditColumn> kept;
  for (const AuditColumn& column : input.kept) kept.push_back(take_rows(column, which));
  const auto draw = [&](std::int64_t number) {
    const EncodedRows drawn = input.release(number);
    AuditTable table = audit_table(some ? take_rows(drawn, which) : drawn, input.encoding);
    table.columns.insert(table.columns.end(), kept.begin(), kept.end());
    return table;
  };

  AuditInput audited;
  audited.released = draw(0);
  audited.draw_again = draw;
  const auto columns = [&](const std::vector<std::string>& names, bool named) {
    std::vector<AuditColumn> out;
    for (const std::int32_t column : input.encoding.indices_of(names)) {
      out.push_back(audit_column(used, used.position_of(column), input.encoding));
      const ColumnEncoding& encoding = input.encoding.columns[static_cast<std::size_t>(column)];
      if (named && !encoding.numeric()) out.back().level = encoding.levels;
    }
    return out;
  };
  audited.sensitive = columns(input.schema.hidden_columns(), true);
  if (detail == LeakageDetail::kWhole) audited.side = columns(input.schema.side, false);
  if (!input.unit.empty()) {
    Vector<double> unit(static_cast<Index>(which.size()));
    for (std::size_t i = 0; i < which.size(); ++i)
      unit[static_cast<Index>(i)] = input.unit[static_cast<std::size_t>(which[i])];
    audited.together = column_of_numbers(input.schema.group.value_or("group"), unit);
  }
  if (input.upper_bounds) {
    audited.upper_bounds = [&](const AttackTarget& target) { return input.upper_bounds(used, target); };
  }
  AuditReport report = audit(audited, audit_options(options, detail));
  for (AttributeAudit& attribute : report.attributes) name_levels(input.encoding, input.kept, attribute);
  return report;
}

AuditColumn audit_column(const TableColumn& column, std::span<const std::int32_t> which) {
  std::vector<std::string> cells;
  cells.reserve(which.size());
  for (const std::int32_t row : which) {
    const std::int32_t code = column.code[static_cast<std::size_t>(row)];
    cells.push_back(code == kMissingCode ? column.missing_text
                                         : column.level[static_cast<std::size_t>(code)]);
  }
  const std::vector<std::string> markers{column.missing_text};
  return column_of_cells(column.name, cells, column.missing > 0 ? markers : std::vector<std::string>{});
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
