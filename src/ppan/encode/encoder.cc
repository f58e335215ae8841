#include "ppan/encode/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ppan/core/suggest.h"
#include "ppan/encode/encode_all.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

// Up to this many levels are compared one by one, which takes less time than a hash of the cell.
constexpr std::size_t kFewLevels = 12;

// The first eight bytes of a text, or all of a shorter one, as a number: texts of one length that differ
// there have different heads.
std::uint64_t head_of(std::string_view text) {
  const auto load = [&]<typename Word>(Word word, std::size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return static_cast<std::uint64_t>(word);
  };
  const std::size_t n = text.size();
  if (n >= 8) return load(std::uint64_t{}, 0);
  if (n >= 4) return load(std::uint32_t{}, 0) | load(std::uint32_t{}, n - 4) << 32U;  // they may overlap
  if (n >= 2) return load(std::uint16_t{}, 0) | load(std::uint16_t{}, n - 2) << 16U;
  return n == 1 ? load(std::uint8_t{}, 0) : 0;
}

constexpr double kFarthest = 1e100;  // of a number that is encoded

constexpr std::string_view kUnexpectedMissing = "the value is missing, but in training none was";

// Collects what goes wrong with the cells of one column.
class Judge {
 public:
  Judge(std::int32_t column, UnknownRow policy, EncodedRows& out)
      : column_(column), policy_(policy), out_(&out) {}
  template <typename What>
  void fault(std::int64_t row, std::int64_t line, const What& what) {
    if (policy_ == UnknownRow::kNearest) {
      ++out_->replaced;
      return;
    }
    out_->bad[static_cast<std::size_t>(row)] = 1;
    out_->faults.push_back({row, line, column_, what()});
  }

 private:
  std::int32_t column_;
  UnknownRow policy_;
  EncodedRows* out_;
};

void start(std::int64_t rows, std::size_t columns, EncodedRows& out) {
  out.rows = rows;
  out.first_row = 0;
  out.which.resize(columns);
  out.columns.resize(columns);
  out.faults.clear();
  out.bad.assign(static_cast<std::size_t>(rows), 0);
  out.replaced = 0;
}

// Numbers become what is encoded; those that there are not, 0.
void encode_values(const ColumnEncoding& column, const std::vector<std::size_t>& valueless,
                   EncodedColumn& to) {
  encode_all(column, to.value);
  for (const std::size_t r : valueless) to.value[r] = 0;
}

// Codes of the levels of cells that are codes themselves, or booleans: each is looked up once. Empty: for
// others.
template <typename Find>
std::vector<std::int32_t> find_codes(const RowColumn& from, const RowCells& cells, std::size_t rows,
                                     const Find& find) {
  if (from.storage == CellStorage::kInteger && from.meaning == CellMeaning::kBoolean)
    return {find("false"), find("true")};
  if (cells.code == nullptr || cells.levels->size() > rows) return {};
  std::vector<std::int32_t> out;
  out.reserve(cells.levels->size());
  for (const std::string& level : *cells.levels) out.push_back(find(level));
  return out;
}

// "true" or "false" in any case; they differ in length.
bool is_boolean(std::string_view text) {
  const std::string_view word = text.size() == 4 ? "true" : "false";
  return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

// The level that a boolean is, or -1. True and TRUE are true, which typed sources have: programs write
// booleans as text in their own ways.
std::int32_t find_boolean(const ColumnEncoding& column, std::string_view cell) {
  if (!is_boolean(cell)) return -1;
  const auto known = std::find_if(column.levels.begin(), column.levels.end(), [&](const std::string& level) {
    return is_boolean(level) && level.size() == cell.size();
  });
  return known == column.levels.end() ? -1 : static_cast<std::int32_t>(known - column.levels.begin());
}

// All cells as numbers; what missing ones give means nothing.
void take_numbers(const ColumnSource& source, const RowCells& cells, NumberForm form,
                  std::vector<double>& out) {
  const bool scaled = form == NumberForm::kTimestamp && source.from.meaning == CellMeaning::kDate;
  if (source.from.storage == CellStorage::kReal) {
    std::copy_n(cells.real, out.size(), out.begin());
  } else if (scaled) {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = typed_number(source.from, cells, r, form).value;
  } else if (source.from.meaning == CellMeaning::kDecimal) {
    for (std::size_t r = 0; r < out.size(); ++r) out[r] = number_at(source.from, cells, r);
  } else {
    std::transform(cells.integer, cells.integer + out.size(), out.begin(),
                   [](std::int64_t value) { return static_cast<double>(value); });
  }
}

// Whether every number is one that can be encoded, none of which stands for "no value". Every step runs over
// all of them, so that it vectorises.
bool all_plain(const std::vector<double>& values, const std::vector<double>& markers, bool whole) {
  bool odd = false;
  for (const double x : values) odd |= !(std::abs(x) <= kFarthest);
  if (whole) {
    for (const double x : values) odd |= std::nearbyint(x) != x;
  }
  for (const double marker : markers) {
    for (const double x : values) odd |= x == marker;
  }
  return !odd;
}

std::string unknown_level(std::string_view cell) {
  return fmt::format("{} is an unknown level", show_cell(cell));
}

}  // namespace

std::string_view to_string(UnknownRow policy) {
  switch (policy) {
    case UnknownRow::kFail:
      return "fail";
    case UnknownRow::kReject:
      return "reject";
    case UnknownRow::kNearest:
      break;
  }
  return "nearest";
}

std::size_t EncodedRows::position_of(std::int32_t column) const {
  const auto at = std::find(which.begin(), which.end(), column);
  if (at == which.end()) throw Error(ErrorCode::kInternal, fmt::format("column {} was not encoded", column));
  return static_cast<std::size_t>(at - which.begin());
}

void append_rows(EncodedRows& rows, const EncodedRows& more) {
  if (rows.which.empty()) {
    rows.which = more.which;
    rows.columns.resize(more.columns.size());
  }
  if (rows.which != more.which) throw Error(ErrorCode::kInternal, "rows of other columns cannot be appended");
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (std::size_t i = 0; i < more.columns.size(); ++i) {
    append(rows.columns[i].value, more.columns[i].value);
    append(rows.columns[i].code, more.columns[i].code);
    append(rows.columns[i].exact, more.columns[i].exact);
  }
  append(rows.bad, more.bad);
  rows.rows += more.rows;
  rows.replaced += more.replaced;
}

std::vector<ColumnSource> bind_columns(const Encoding& encoding, std::span<const std::string> names,
                                       const RowSource& source) {
  std::vector<ColumnSource> bound;
  ProblemList problems;
  ProblemList unfit;
  for (const std::string& name : names) {
    if (const auto at = source.find(name)) {
      const std::int32_t column = encoding.index_of(name);
      const RowColumn& from = source.columns()[*at];
      const std::string why = unfit_type(from, encoding.columns[static_cast<std::size_t>(column)].type);
      unfit.require(why.empty(), name, why);
      bound.push_back({column, *at, from});
    } else {
      problems.require(false, name, unknown_name("column", name, source.column_names()));
    }
  }
  require_none(problems.take(), fmt::format("{} lacks columns that the model needs", source.name()),
               ErrorCode::kBadInput);
  require_none(unfit.take(), fmt::format("{} does not hold what the model was trained on", source.name()),
               ErrorCode::kBadInput);
  return bound;
}

Encoder::Encoder(Encoding encoding, char decimal) : encoding_(std::move(encoding)), decimal_(decimal) {
  require_none(encoding_.check(), "encoding", ErrorCode::kBadInput);
  for (ColumnEncoding& column : encoding_.columns) {
    LevelCodes codes;
    std::vector<LevelKey> keys;
    for (std::size_t i = 0; i < column.levels.size(); ++i) {
      const auto code = static_cast<std::int32_t>(i);
      if (code == column.missing_level) continue;
      codes.emplace(column.levels[i], code);
      if (column.levels.size() <= kFewLevels)
        keys.push_back({column.levels[i].size(), head_of(column.levels[i]), code});
    }
    codes_.push_back(std::move(codes));
    keys_.push_back(std::move(keys));
    missing_numbers_.push_back(number_markers(column.missing));
    column.format.mark = decimal;
  }
}

std::int32_t Encoder::find_level(std::size_t column, std::string_view level) const {
  if (!keys_[column].empty()) {
    const std::uint64_t head = head_of(level);
    if (level.size() <= sizeof head) {  // all keys: levels come in any order, which no branch foresees
      std::int32_t found = -1;
      for (const LevelKey& key : keys_[column])
        found = static_cast<int>(key.size == level.size()) & static_cast<int>(key.head == head) ? key.code
                                                                                                  : found;
      return found;
    }
    for (const LevelKey& key : keys_[column]) {
      if (key.size != level.size() || key.head != head) continue;
      if (encoding_.columns[column].levels[static_cast<std::size_t>(key.code)] == level) return key.code;
    }
    return -1;
  }
  const auto known = codes_[column].find(level);
  return known != codes_[column].end() ? known->second : -1;
}

std::int32_t Encoder::code_of(std::int32_t column, std::string_view level) const {
  const auto c = static_cast<std::size_t>(column);
  std::int32_t known = find_level(c, level);
  if (known < 0) known = find_boolean(encoding_.columns[c], level);
  return known >= 0 ? known : encoding_.columns[c].other_level.value_or(-1);
}

void Encoder::encode_levels(const RowChunk& chunk, const ColumnSource& source, UnknownRow policy,
                            EncodedColumn& to, EncodedRows& out) const {
  const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(source.column)];
  const RowCells& cells = chunk.cells(source.source);
  const bool text = source.from.storage == CellStorage::kText;
  Judge judge(source.column, policy, out);
  std::string scratch;
  const auto cell_at = [&](std::size_t r) -> std::string_view {
    if (text) return cells.text_at(r);
    scratch.clear();
    append_text(source.from, cells, r, scratch);
    return scratch;
  };
  const auto find = [&](std::string_view cell) {
    const std::int32_t known = find_level(static_cast<std::size_t>(source.column), cell);
    return known >= 0 ? known : find_boolean(column, cell);
  };
  const std::vector<std::int32_t> known_by_code =
      find_codes(source.from, cells, static_cast<std::size_t>(out.rows), find);
  for (std::size_t r = 0; r < static_cast<std::size_t>(out.rows); ++r) {
    const bool flagged = cells.is_missing(r);
    std::int32_t known = -1;
    std::string_view cell;
    if (!flagged && !known_by_code.empty())
      known = known_by_code[text ? static_cast<std::size_t>(cells.code[r]) : cells.integer[r] != 0 ? 1 : 0];
    if (!flagged && (known < 0 || known == column.other_level)) {
      cell = cell_at(r);
      if (known_by_code.empty()) known = find(cell);
    }
    // A known level is never a marker of "no value", so most cells are compared with no marker.
    if (known >= 0 && known != column.other_level) {
      to.code[r] = known;
      continue;
    }
    const bool missing = flagged || (!text && cell.empty()) || is_missing(cell, column.missing);
    const auto code = missing ? column.missing_level : column.other_level;
    to.code[r] = code.value_or(0);
    if (!code) {
      const auto row = static_cast<std::int64_t>(r);
      judge.fault(row, chunk.line(row),
                  [&] { return missing ? std::string(kUnexpectedMissing) : unknown_level(cell); });
    }
  }
}

void Encoder::encode_texts(const RowChunk& chunk, const ColumnSource& source, UnknownRow policy,
                           EncodedColumn& to, EncodedRows& out) const {
  const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(source.column)];
  const RowCells& cells = chunk.cells(source.source);
  const NumberForm form = form_of(column.type);
  const bool whole = is_whole(column.type);
  Judge judge(source.column, policy, out);
  std::vector<std::size_t> valueless;
  for (std::size_t r = 0; r < static_cast<std::size_t>(out.rows); ++r) {
    const bool flagged = cells.is_missing(r);
    const std::string_view cell = flagged ? std::string_view() : cells.text_at(r);
    ParsedNumber number =
        form == NumberForm::kNumber ? parse_number(cell, decimal_) : parse_value(cell, form, decimal_);
    if (whole && number.ok() && std::nearbyint(number.value) != number.value)
      number.fault = NumberFault::kNotANumber;
    // Markers may be numbers (-1, 999), so they come first.
    const bool missing = flagged || is_missing(cell, column.missing);
    to.code[r] = missing && column.may_be_missing ? 1 : 0;
    const bool none = missing || !number.ok();
    to.value[r] = none ? 0 : number.value;
    if (none) valueless.push_back(r);
    if (missing ? !column.may_be_missing : !number.ok()) {
      const auto row = static_cast<std::int64_t>(r);
      judge.fault(row, chunk.line(row), [&] {
        return missing ? std::string(kUnexpectedMissing) : cell_fault(cell, number.fault, column.type);
      });
    }
  }
  encode_values(column, valueless, to);
}

void Encoder::encode_numbers(const RowChunk& chunk, const ColumnSource& source, UnknownRow policy,
                             EncodedColumn& to, EncodedRows& out) const {
  const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(source.column)];
  const std::vector<double>& markers = missing_numbers_[static_cast<std::size_t>(source.column)];
  const RowCells& cells = chunk.cells(source.source);
  const bool whole = is_whole(column.type);
  Judge judge(source.column, policy, out);
  std::vector<std::size_t> valueless;
  take_numbers(source, cells, form_of(column.type), to.value);
  if (cells.missing == nullptr && all_plain(to.value, markers, whole)) {
    std::fill(to.code.begin(), to.code.end(), 0);
    encode_all(column, to.value);
    return;
  }
  for (std::size_t r = 0; r < to.value.size(); ++r) {
    const double value = to.value[r];
    const bool missing = cells.is_missing(r) || std::isnan(value) ||
                         std::find(markers.begin(), markers.end(), value) != markers.end();
    const bool ok = std::abs(value) <= kFarthest && (!whole || std::nearbyint(value) == value);
    to.code[r] = missing && column.may_be_missing ? 1 : 0;
    if (missing || !ok) {
      to.value[r] = 0;
      valueless.push_back(r);
    }
    if (missing ? !column.may_be_missing : !ok) {
      const auto row = static_cast<std::int64_t>(r);
      judge.fault(row, chunk.line(row), [&] {
        if (missing) return std::string(kUnexpectedMissing);
        std::string cell;
        append_text(source.from, cells, r, cell);
        const NumberFault fault = std::isinf(value)         ? NumberFault::kNotFinite
                                  : std::abs(value) > kFarthest ? NumberFault::kTooLarge
                                                            : NumberFault::kNotANumber;
        return cell_fault(cell, fault, column.type);
      });
    }
  }
  encode_values(column, valueless, to);
}

void Encoder::encode(const RowChunk& chunk, std::span<const ColumnSource> columns, UnknownRow policy,
                     EncodedRows& out) const {
  start(chunk.rows(), columns.size(), out);
  out.first_row = chunk.first_row();
  const auto rows = static_cast<std::size_t>(out.rows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(columns[i].column)];
    EncodedColumn& to = out.columns[i];
    out.which[i] = columns[i].column;
    to.code.resize(rows);
    to.value.resize(column.numeric() ? rows : 0);
    if (!column.numeric()) {
      encode_levels(chunk, columns[i], policy, to, out);
    } else if (columns[i].from.storage == CellStorage::kText) {
      encode_texts(chunk, columns[i], policy, to, out);
    } else {
      encode_numbers(chunk, columns[i], policy, to, out);
    }
  }
}

void Encoder::encode(const Table& table, std::span<const std::int32_t> columns, UnknownRow policy,
                     EncodedRows& out) const {
  start(table.rows, columns.size(), out);
  const auto rows = static_cast<std::size_t>(out.rows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int32_t index = columns[i];
    const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(index)];
    const TableColumn& from = table.at(column.name);
    if (is_numeric(from.type) != column.numeric())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("column '{}' is of another type than in training", column.name));
    EncodedColumn& to = out.columns[i];
    Judge judge(index, policy, out);
    out.which[i] = index;
    to.code.resize(rows);
    to.value.resize(column.numeric() ? rows : 0);
    to.exact.resize(to.value.size());
    std::vector<std::int32_t> translated;
    for (const std::string& level : from.level) translated.push_back(code_of(index, level));
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      if (column.numeric()) {
        const bool missing = std::isnan(from.number[r]);
        to.code[r] = missing && column.may_be_missing ? 1 : 0;
        to.value[r] = missing ? 0 : column.encode(from.number[r]);
        to.exact[r] = missing ? 0 : column.encode_exactly(from.number[r]);
        if (missing && !column.may_be_missing)
          judge.fault(row, 0, [] { return std::string(kUnexpectedMissing); });
        continue;
      }
      const bool missing = from.code[r] == kMissingCode;
      const std::int32_t code =
          missing ? column.missing_level.value_or(-1) : translated[static_cast<std::size_t>(from.code[r])];
      to.code[r] = std::max(code, 0);
      if (code < 0) {
        judge.fault(row, 0, [&] {
          return missing ? std::string(kUnexpectedMissing)
                         : unknown_level(from.level[static_cast<std::size_t>(from.code[r])]);
        });
      }
    }
  }
}

void Encoder::append_cell(std::int32_t column, double value, std::int32_t code, std::string& out) const {
  const ColumnEncoding& c = encoding_.columns[static_cast<std::size_t>(column)];
  if (!c.numeric()) {
    out += c.levels[static_cast<std::size_t>(code)];
  } else if (code == 1) {
    out += c.missing_text;
  } else {
    append_number(c.decode(value), c.format, out);
  }
}

Error first_fault(const EncodedRows& rows, const Encoding& encoding, std::string_view source_name) {
  const auto first = std::min_element(rows.faults.begin(), rows.faults.end(),
                                      [](const CellFault& a, const CellFault& b) { return a.row < b.row; });
  if (first == rows.faults.end()) return {ErrorCode::kInternal, "no cell is at fault"};
  const std::string where = first->line > 0 ? fmt::format("line {}", first->line)
                                            : fmt::format("row {}", rows.first_row + first->row + 1);
  return {ErrorCode::kBadInput,
          fmt::format("{} {}, column \"{}\": {}", source_name, where,
                      encoding.columns[static_cast<std::size_t>(first->column)].name, first->what),
          "fix the row, or choose release.unknown = \"reject\" or \"nearest\""};
}

}  // namespace ppan
