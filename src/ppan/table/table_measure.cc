#include "ppan/table/table_measure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <unordered_map>

#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr Index kLeastRows = 20;

// A column as a reader of the released file would have it: its cells as text, and the numbers they say.
AuditColumn audit_column(const EncodedRows& rows, std::size_t position, const Encoder& encoder) {
  const std::int32_t index = rows.which[position];
  const ColumnEncoding& column = encoder.encoding().columns[static_cast<std::size_t>(index)];
  const EncodedColumn& from = rows.columns[position];
  AuditColumn out;
  out.name = column.name;
  const auto count = static_cast<std::size_t>(rows.rows);
  out.missing.resize(count);
  if (!column.numeric()) {
    out.category = true;
    out.level = column.levels;
    out.code = from.code;
    for (std::size_t r = 0; r < count; ++r) out.missing[r] = from.code[r] == column.missing_level;
    return out;
  }
  out.form = column.format.form;
  out.number.resize(rows.rows);
  out.code.resize(count);
  std::unordered_map<std::string, std::int32_t> known;
  std::string cell;
  for (std::size_t r = 0; r < count; ++r) {
    cell.clear();
    encoder.append_cell(index, from.value[r], from.code[r], cell);
    out.missing[r] = from.code[r] == 1;
    out.number[static_cast<Index>(r)] =
        out.missing[r] ? std::numeric_limits<double>::quiet_NaN() : column.decode(from.value[r]);
    const auto [at, added] = known.try_emplace(cell, static_cast<std::int32_t>(out.level.size()));
    if (added) out.level.push_back(cell);
    out.code[r] = at->second;
  }
  return out;
}

AuditTable audit_table(const EncodedRows& rows, const Encoder& encoder) {
  AuditTable table;
  for (std::size_t c = 0; c < rows.which.size(); ++c) table.columns.push_back(audit_column(rows, c, encoder));
  return table;
}

// Points are measured side by side, many in a curve: rows and releases that attackers learn from are fewer
// than in an audit by itself.
AuditOptions audit_options(const LeakageOptions& options, LeakageDetail detail) {
  AuditOptions out;
  out.quick = options.quick;
  out.target.least_class_rows = 2;
  out.features.row_position = false;
  out.training_releases = options.training_releases;
  out.repeats.clear();
  out.least_rows = kLeastRows;
  out.details = detail == LeakageDetail::kWhole;
  out.measure_power = options.measure_power;
  out.known_power = options.known_power;
  if (!out.quick) {
    out.suite = SuiteOptions{};
    out.suite->screen_traces = true;
    out.suite->most_training_rows = 25'000;
    out.suite->most_releases = 25'000;
    out.suite->effort = {.epochs = 15, .patience = 2, .trees = 400, .neighbours = 4'000};
    if (!out.details) {
      out.suite->held_out_learners = false;
      out.suite->attackers = {AttackerKind::kTrees,    AttackerKind::kDensity,  AttackerKind::kRegression,
                              AttackerKind::kForest,   AttackerKind::kSmallMlp, AttackerKind::kKeys,
                              AttackerKind::kLogistic, AttackerKind::kAdditive, AttackerKind::kLookup,
                              AttackerKind::kPrior};
    }
  }
  out.threads = 1;
  out.seed = options.seed;
  return out;
}

// So many of the rows, the same ones whatever is measured on them, so that differences between releases are
// not differences between rows.
std::vector<std::int32_t> some_rows(std::int64_t rows, std::int64_t most, std::uint64_t seed,
                                    std::string_view stream) {
  std::vector<std::int32_t> which(static_cast<std::size_t>(rows));
  std::iota(which.begin(), which.end(), 0);
  if (rows <= most) return which;
  SeededRandom random = SeededRandom(seed).fork(stream);
  shuffle(random, which);
  which.resize(static_cast<std::size_t>(most));
  std::sort(which.begin(), which.end());
  return which;
}

// Rows that are attacked or learned from, and what is released of them. Where that is all of them, nothing is
// copied: a wide table takes hundreds of megabytes.
struct Part {
  const EncodedRows* all = nullptr;
  std::vector<std::int32_t> which;
  std::optional<EncodedRows> some;
  std::vector<AuditColumn> kept;

  [[nodiscard]] const EncodedRows& rows() const { return some ? *some : *all; }
};

Part make_part(const EncodedRows& rows, const std::vector<AuditColumn>& kept,
               std::vector<std::int32_t> which) {
  Part part{&rows, std::move(which), {}, {}};
  if (static_cast<std::int64_t>(part.which.size()) < rows.rows) part.some = take_rows(rows, part.which);
  for (const AuditColumn& column : kept) part.kept.push_back(take_rows(column, part.which));
  return part;
}

AuditTable released_part(const Part& part, const EncodedRows& drawn, const Encoder& encoder) {
  AuditTable table =
      part.some ? audit_table(take_rows(drawn, part.which), encoder) : audit_table(drawn, encoder);
  table.columns.insert(table.columns.end(), part.kept.begin(), part.kept.end());
  return table;
}

}  // namespace

Problems LeakageOptions::check() const {
  ProblemList list;
  list.require_between("training_releases", training_releases, 1, 100);
  list.require_at_least("most_rows", static_cast<double>(most_rows), static_cast<double>(kLeastRows));
  list.require_at_least("most_trained_rows", static_cast<double>(most_trained_rows), 0);
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
        const bool same = written == column.decode(before.value[r]);
        if (!same) ++changed;
        // A cell that stays where it was on the grid still costs what the grid took from it.
        if (same && before.exact.empty()) continue;
        const double error =
            column.encode(written) - (before.exact.empty() ? before.value[r] : before.exact[r]);
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
  const Encoder encoder(input.encoding);
  const Part held_out =
      make_part(rows, input.kept, some_rows(rows.rows, options.most_rows, options.seed, "attack-rows"));
  std::optional<Part> trained;
  if (input.trained != nullptr && options.most_trained_rows > 0) {
    trained = make_part(
        input.trained->rows, input.trained->kept,
        some_rows(input.trained->rows.rows, options.most_trained_rows, options.seed, "trained-rows"));
  }
  const auto draw = [&](std::int64_t number) {
    AuditTable table = released_part(held_out, input.release(number), encoder);
    if (trained) append_rows(table, released_part(*trained, input.trained->release(number), encoder));
    return table;
  };

  AuditInput audited;
  audited.released = draw(0);
  audited.draw_again = draw;
  audited.trained_rows = trained ? trained->rows().rows : 0;
  const auto columns = [&](const std::vector<std::string>& names) {
    std::vector<AuditColumn> out;
    for (const std::int32_t column : input.encoding.indices_of(names)) {
      out.push_back(audit_column(held_out.rows(), held_out.rows().position_of(column), encoder));
      if (trained)
        append_rows(out.back(), audit_column(trained->rows(), trained->rows().position_of(column), encoder));
    }
    return out;
  };
  audited.sensitive = columns(input.schema.hidden_columns());
  if (detail == LeakageDetail::kWhole) audited.side = columns(input.schema.side);
  if (!input.unit.empty()) {
    // Rows that trained the mechanism are in no part that is split.
    Vector<double> unit = Vector<double>::Constant(audited.released.rows(), -1);
    for (std::size_t i = 0; i < held_out.which.size(); ++i)
      unit[static_cast<Index>(i)] = input.unit[static_cast<std::size_t>(held_out.which[i])];
    audited.together = column_of_numbers(input.schema.group.value_or("group"), unit);
  }
  if (input.upper_bounds) {
    audited.upper_bounds = [&](const AttackTarget& target) {
      return input.upper_bounds(held_out.rows(), target);
    };
  }
  return audit(audited, audit_options(options, detail));
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
    to.code.reserve(which.size());
    if (!from.value.empty()) to.value.reserve(which.size());
    if (!from.exact.empty()) to.exact.reserve(which.size());
    for (const std::int32_t row : which) {
      to.code.push_back(from.code[static_cast<std::size_t>(row)]);
      if (!from.value.empty()) to.value.push_back(from.value[static_cast<std::size_t>(row)]);
      if (!from.exact.empty()) to.exact.push_back(from.exact[static_cast<std::size_t>(row)]);
    }
  }
  return out;
}

}  // namespace ppan
