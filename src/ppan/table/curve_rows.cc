#include "ppan/table/curve_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/model/row_rules.h"
#include "ppan/table/table_family.h"
#include "ppan/table/table_measure.h"

namespace ppan {
namespace {

constexpr std::int64_t kReleasedAtOnce = 4096;
// Columns from which on fewer rows are released at once: heads hold a probability of every cell of every
// column, 100 MB for so many columns and rows.
constexpr std::int64_t kWideColumns = 100;
constexpr std::int64_t kLeastAtOnce = 256;

std::vector<ColumnSpec> modelled_specs(const Schema& schema) {
  std::vector<ColumnSpec> specs;
  for (const std::string& name : schema.modelled_columns()) {
    if (const ColumnSpec* spec = schema.find(name)) specs.push_back(*spec);
  }
  return specs;
}

// Rows of a column of numbers as an attacker reads them.
AuditColumn number_column(const TableColumn& column, const std::vector<std::int32_t>& which) {
  Vector<double> number(static_cast<Index>(which.size()));
  for (std::size_t i = 0; i < which.size(); ++i)
    number[static_cast<Index>(i)] = column.number[static_cast<std::size_t>(which[i])];
  return column_of_numbers(column.name, number);
}

void check_constraints(const EncodedRows& rows, const CurveRows& curve, ProblemList& problems,
                       std::vector<std::string>& notices) {
  const Schema& schema = curve.schema;
  const ConstraintCount count = count_constraints(rows, schema, curve.encoding);
  for (std::size_t i = 0; i < count.each.size(); ++i) {
    problems.require(count.each[i] > 0, "release.constraints",
                     fmt::format("no row meets '{}'", schema.constraints[i]));
    if (count.each[i] < count.rows && count.each[i] > 0) {
      notices.push_back(fmt::format("{} of {} rows break '{}'; released rows will not",
                                    count.rows - count.each[i], count.rows, schema.constraints[i]));
    }
  }
  problems.require(count.all > 0, "release.constraints", "no row meets all of them");
}

// What the rows of the table do not allow, all of it at once.
void check_rows(const EncodedRows& rows, CurveRows& curve) {
  ProblemList of_data;
  check_constraints(rows, curve, of_data, curve.notices);
  Problems problems = of_data.take();
  const ErrorCode code = problems.empty() ? ErrorCode::kUsage : ErrorCode::kBadInput;
  if (curve.codebook()) {
    for (Problem& problem :
         check_codewords(static_cast<Index>(curve.split.train.size()), curve.options.codebook))
      problems.push_back(std::move(problem));
  }
  require_none(problems, "this table and this job do not go together:", code);
}

Units units_at(const Units& unit, const std::vector<std::int32_t>& which) {
  Units out;
  if (unit.empty()) return out;
  for (const std::int32_t row : which) out.push_back(unit[static_cast<std::size_t>(row)]);
  return out;
}

std::vector<AuditColumn> kept_at(const CurveRows& rows, const Table& table,
                                 const std::vector<std::int32_t>& which) {
  std::vector<AuditColumn> out;
  for (const std::string& name : rows.schema.kept_columns()) {
    const TableColumn* column = table.find(name);
    if (column == nullptr) continue;
    out.push_back(is_numeric(column->type) ? number_column(*column, which) : audit_column(*column, which));
  }
  return out;
}

CurvePart part_of(const CurveRows& rows, const Table& table, const EncodedRows& all, const Units& unit,
                  const std::vector<std::int32_t>& which) {
  return {take_rows(all, which), units_at(unit, which), kept_at(rows, table, which)};
}

// What the game is played on.
void make_players(CurveRows& rows) {
  rows.recipient = RecipientMeasure(rows.train, rows.held_out.rows,
                                    rows.encoding.indices_of(rows.schema.useful), rows.encoding);
  if (rows.heads()) {
    rows.heads_fit = fit_heads(rows.train, rows.schema, rows.encoding, rows.options.heads.levels,
                               rows.options.heads.least_rows);
    rows.heads_train = heads_rows(rows.train, rows.schema, rows.encoding, rows.heads_fit);
    const bool joined = std::any_of(rows.heads_fit.heads.begin(), rows.heads_fit.heads.end(),
                                    [](const Head& head) { return head.member.size() > 1; });
    if (joined && rows.options.redrawn > 0) {
      rows.single_heads = fit_heads(rows.train, rows.schema, rows.encoding, rows.options.heads.levels,
                                    rows.options.heads.least_rows, false);
    }
    return;
  }
  if (!rows.codebook()) {
    rows.game = make_game(rows.train, rows.schema, rows.encoding, rows.options.training);
    return;
  }
  rows.codebook_shape = codebook_shape(rows.train, rows.schema, rows.encoding, rows.options.codebook);
  rows.codebook_train = codebook_rows(rows.train, rows.schema, rows.encoding, rows.codebook_shape);
  rows.codebook_held_out =
      codebook_rows(rows.validation.rows, rows.schema, rows.encoding, rows.codebook_shape);
}

}  // namespace

bool CurveRows::observes_useful() const {
  const auto& observed = schema.observed_columns();
  return std::all_of(schema.useful.begin(), schema.useful.end(), [&](const std::string& name) {
    return std::find(observed.begin(), observed.end(), name) != observed.end();
  });
}

EncodedRows CurveRows::useful(const EncodedRows& from) const {
  EncodedRows out;
  out.rows = from.rows;
  out.bad.assign(static_cast<std::size_t>(from.rows), 0);
  for (const std::int32_t column : encoding.indices_of(schema.useful)) {
    out.which.push_back(column);
    out.columns.push_back(from.columns[from.position_of(column)]);
  }
  return out;
}

CurvePart CurveRows::train_sample() const {
  return {take_rows(train, sample), sample_unit, sample_kept};
}

std::string CurveRows::mechanism() const {
  return std::string(game ? to_string(game->kind) : to_string(options.training.family));
}

std::uint64_t CurveRows::seed_of(std::string_view what, std::uint64_t number) const {
  return SeededRandom(options.seed).fork(what, number).next();
}

CurveRows make_curve_rows(const Table& table, const Schema& schema, const EncodingOptions& encoding,
                          const TableCurveOptions& options) {
  require_none(options.check(), "this curve cannot be trained:");
  require_none(schema.check(), "these roles cannot be used:");
  require_none(encoding.check(), "this encoding cannot be made:");
  if (table.rows == 0) throw Error(ErrorCode::kBadInput, "the table has no rows");
  CurveRows out;
  out.options = options;
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns) names.push_back(column.name);
  out.schema = schema.in_order_of(names);
  out.rows = table.rows;
  out.encoding = fit_encoding(table, modelled_specs(out.schema), encoding);
  const FamilyChoice choice = choose_family(options, out.schema, out.encoding);
  out.options.training.family = choice.family;
  if (!choice.why_not_heads.empty())
    out.notices.push_back(
        fmt::format("the mechanism is noise-input instead of heads: {}", choice.why_not_heads));
  out.split = split_rows(table, out.schema, options.validation, options.test, out.seed_of("split"));
  std::vector<std::int32_t> every(out.encoding.columns.size());
  std::iota(every.begin(), every.end(), 0);
  EncodedRows all;
  Encoder(out.encoding).encode(table, every, UnknownRow::kNearest, all);
  check_rows(all, out);
  out.train = take_rows(all, out.split.train);
  // Rows that no choice was made on are as good as test rows.
  std::vector<std::int32_t> held_out = out.split.test;
  // A codebook is steered by the validation rows.
  const bool chosen = out.options.training.restarts > 1 || out.codebook();
  if (!chosen) {
    held_out.insert(held_out.end(), out.split.validation.begin(), out.split.validation.end());
    std::sort(held_out.begin(), held_out.end());
  }
  const Units unit = row_units(table, out.schema);
  out.held_out = part_of(out, table, all, unit, held_out);
  if (chosen) out.validation = part_of(out, table, all, unit, out.split.validation);
  out.train_kept = kept_at(out, table, out.split.train);
  out.sample.resize(out.split.train.size());
  std::iota(out.sample.begin(), out.sample.end(), 0);
  SeededRandom random(out.seed_of("training-sample"));
  shuffle(random, out.sample);
  out.sample.resize(std::min(out.sample.size(), held_out.size()));
  std::sort(out.sample.begin(), out.sample.end());
  std::vector<std::int32_t> sampled;
  for (const std::int32_t at : out.sample) sampled.push_back(out.split.train[static_cast<std::size_t>(at)]);
  out.sample_unit = units_at(unit, sampled);
  out.sample_kept = kept_at(out, table, sampled);
  out.grid_cost = measure_change(out.train, out.useful(out.train), out.encoding).distortion;
  out.constant = constant_model(out.schema, out.encoding, out.train);
  SeededRandom draws(1);
  out.most_distortion =
      measure_change(out.train, release_all(*out.constant, out.train, draws), out.encoding).distortion;
  make_players(out);
  return out;
}

EncodedRows release_all(const TableModel& model, const EncodedRows& rows, RandomSource& random) {
  TableReleaser releaser(model);
  EncodedRows out;
  EncodedRows part;
  std::vector<std::int32_t> which;
  const auto columns = std::max<std::int64_t>(kWideColumns, static_cast<std::int64_t>(rows.columns.size()));
  const std::int64_t at_once = std::max(kLeastAtOnce, kReleasedAtOnce * kWideColumns / columns);
  for (std::int64_t first = 0; first < rows.rows; first += at_once) {
    const std::int64_t end = std::min(rows.rows, first + at_once);
    which.resize(static_cast<std::size_t>(end - first));
    std::iota(which.begin(), which.end(), static_cast<std::int32_t>(first));
    releaser.release(take_rows(rows, which), random, part);
    if (first == 0) {
      out = part;
      continue;
    }
    out.rows += part.rows;
    out.bad.insert(out.bad.end(), part.bad.begin(), part.bad.end());
    for (std::size_t c = 0; c < out.columns.size(); ++c) {
      EncodedColumn& to = out.columns[c];
      to.code.insert(to.code.end(), part.columns[c].code.begin(), part.columns[c].code.end());
      to.value.insert(to.value.end(), part.columns[c].value.begin(), part.columns[c].value.end());
    }
  }
  return out;
}

Units row_units(const Table& table, const Schema& schema) {
  Units unit;
  if (!schema.group) return unit;
  const TableColumn& column = table.at(*schema.group);
  std::map<std::string, std::int32_t> known;
  std::int32_t count = 0;
  for (std::int64_t r = 0; r < table.rows; ++r) {
    const auto row = static_cast<std::size_t>(r);
    std::string key;
    if (is_numeric(column.type)) {
      key = std::isnan(column.number[row]) ? std::string() : fmt::format("{}", column.number[row]);
    } else if (column.code[row] != kMissingCode) {
      key = column.level[static_cast<std::size_t>(column.code[row])];
    }
    // A row that names no group stands alone.
    if (key.empty()) {
      unit.push_back(count++);
      continue;
    }
    const auto [at, added] = known.try_emplace(key, count);
    if (added) ++count;
    unit.push_back(at->second);
  }
  return unit;
}

TableSplit split_rows(const Table& table, const Schema& schema, double validation, double test,
                      std::uint64_t seed) {
  const Units unit = row_units(table, schema);
  std::vector<std::vector<std::int32_t>> units;
  for (std::int32_t row = 0; row < static_cast<std::int32_t>(table.rows); ++row) {
    const auto own = static_cast<std::size_t>(unit.empty() ? row : unit[static_cast<std::size_t>(row)]);
    if (own == units.size()) units.emplace_back();
    units[own].push_back(row);
  }
  std::vector<std::int32_t> order(units.size());
  std::iota(order.begin(), order.end(), 0);
  SeededRandom random(seed);
  shuffle(random, order);
  TableSplit split;
  const auto rows = static_cast<double>(table.rows);
  for (const std::int32_t next : order) {
    auto& part = static_cast<double>(split.test.size()) < test * rows               ? split.test
                 : static_cast<double>(split.validation.size()) < validation * rows ? split.validation
                                                                                    : split.train;
    const auto& members = units[static_cast<std::size_t>(next)];
    part.insert(part.end(), members.begin(), members.end());
  }
  for (auto* part : {&split.train, &split.validation, &split.test}) std::sort(part->begin(), part->end());
  if (split.train.empty() || split.test.empty()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows in {} groups cannot be split into training and test rows", table.rows,
                            units.size()),
                "use more rows, or no group column");
  }
  return split;
}

}  // namespace ppan
