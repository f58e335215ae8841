#include "ppan/encode/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ppan/core/suggest.h"
#include "ppan/source/csv_writer.h"

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
  out.which.resize(columns);
  out.columns.resize(columns);
  out.faults.clear();
  out.bad.assign(static_cast<std::size_t>(rows), 0);
  out.replaced = 0;
}

std::string unknown_level(std::string_view cell) {
  return fmt::format("{} is an unknown level", show_cell(cell));
}

}  // namespace

std::size_t EncodedRows::position_of(std::int32_t column) const {
  const auto at = std::find(which.begin(), which.end(), column);
  if (at == which.end()) throw Error(ErrorCode::kInternal, fmt::format("column {} was not encoded", column));
  return static_cast<std::size_t>(at - which.begin());
}

std::vector<ColumnSource> bind_columns(const Encoding& encoding, std::span<const std::string> names,
                                       const CsvReader& reader) {
  std::vector<ColumnSource> bound;
  ProblemList problems;
  for (const std::string& name : names) {
    if (const auto source = reader.find(name)) {
      bound.push_back({encoding.index_of(name), *source});
    } else {
      problems.require(false, name, unknown_name("column", name, reader.names()));
    }
  }
  require_none(problems.take(), fmt::format("{} lacks columns that the model needs", reader.source_name()),
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
    column.format.mark = decimal;
  }
}

std::int32_t Encoder::find_level(std::size_t column, std::string_view level) const {
  if (!keys_[column].empty()) {
    const std::uint64_t head = head_of(level);
    for (const LevelKey& key : keys_[column]) {
      if (key.size != level.size() || key.head != head) continue;
      if (level.size() <= sizeof head ||
          encoding_.columns[column].levels[static_cast<std::size_t>(key.code)] == level)
        return key.code;
    }
    return -1;
  }
  const auto known = codes_[column].find(level);
  return known != codes_[column].end() ? known->second : -1;
}

std::int32_t Encoder::code_of(std::int32_t column, std::string_view level) const {
  const auto c = static_cast<std::size_t>(column);
  const std::int32_t known = find_level(c, level);
  return known >= 0 ? known : encoding_.columns[c].other_level.value_or(-1);
}

void Encoder::encode(const CsvChunk& chunk, std::span<const ColumnSource> columns, UnknownRow policy,
                     EncodedRows& out) const {
  start(chunk.rows(), columns.size(), out);
  const auto rows = static_cast<std::size_t>(out.rows);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int32_t index = columns[i].column;
    const std::size_t source = columns[i].source;
    const ColumnEncoding& column = encoding_.columns[static_cast<std::size_t>(index)];
    EncodedColumn& to = out.columns[i];
    Judge judge(index, policy, out);
    out.which[i] = index;
    to.code.resize(rows);
    to.value.resize(column.numeric() ? rows : 0);
    if (!column.numeric()) {
      for (std::size_t r = 0; r < rows; ++r) {
        const std::string_view cell = chunk.cell(static_cast<std::int64_t>(r), source);
        const std::int32_t known = find_level(static_cast<std::size_t>(index), cell);
        // A known level is never a marker of "no value", so most cells are compared with no marker.
        if (known >= 0 && known != column.other_level) {
          to.code[r] = known;
          continue;
        }
        const bool missing = is_missing(cell, column.missing);
        const auto code = missing ? column.missing_level : column.other_level;
        to.code[r] = code.value_or(0);
        if (!code) {
          judge.fault(static_cast<std::int64_t>(r), chunk.line(static_cast<std::int64_t>(r)),
                      [&] { return missing ? std::string(kUnexpectedMissing) : unknown_level(cell); });
        }
      }
      continue;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      const auto row = static_cast<std::int64_t>(r);
      const std::string_view cell = chunk.cell(row, source);
      ParsedNumber number = parse_number(cell, decimal_);
      if (column.type == ColumnType::kInteger && number.ok() && std::nearbyint(number.value) != number.value)
        number.fault = NumberFault::kNotANumber;
      // Markers may be numbers (-1, 999), so they come first.
      const bool missing = is_missing(cell, column.missing);
      to.code[r] = missing && column.may_be_missing ? 1 : 0;
      to.value[r] = missing || !number.ok() ? 0 : column.encode(number.value);
      if (missing ? !column.may_be_missing : !number.ok()) {
        judge.fault(row, chunk.line(row), [&] {
          return missing ? std::string(kUnexpectedMissing) : cell_fault(cell, number.fault, column.type);
        });
      }
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
  const std::string where =
      first->line > 0 ? fmt::format("line {}", first->line) : fmt::format("row {}", first->row + 1);
  return {ErrorCode::kBadInput,
          fmt::format("{} {}, column \"{}\": {}", source_name, where,
                      encoding.columns[static_cast<std::size_t>(first->column)].name, first->what),
          "fix the row, or choose release.unknown = \"reject\" or \"nearest\""};
}

RowWriter::RowWriter(const Encoder& encoder, std::vector<ReleasedColumn> columns, char delimiter)
    : encoder_(&encoder), columns_(std::move(columns)), delimiter_(delimiter) {
  for (const ReleasedColumn& released : columns_) {
    std::vector<std::string> fields;
    std::string missing;
    const char end = &released == &columns_.back() ? '\n' : delimiter;
    if (!released.kept) {
      const ColumnEncoding& column = encoder.encoding().columns[static_cast<std::size_t>(released.column)];
      for (const std::string& level : column.levels) {
        append_field(level, delimiter, fields.emplace_back());
        fields.back() += end;
      }
      append_field(column.missing_text, delimiter, missing);
      missing += end;
    }
    fields_.push_back(std::move(fields));
    missing_.push_back(std::move(missing));
  }
}

void RowWriter::append_header(std::string& out) const {
  std::vector<std::string> names;
  for (const ReleasedColumn& column : columns_) names.push_back(column.name);
  append_row(names, delimiter_, out);
}

void RowWriter::append_rows(const EncodedRows& rows, const CsvChunk& chunk, std::string& out) const {
  std::vector<const EncodedColumn*> decoded;
  for (const ReleasedColumn& column : columns_)
    decoded.push_back(column.kept ? nullptr : &rows.columns[rows.position_of(column.column)]);
  for (std::int64_t row = 0; row < rows.rows; ++row) {
    const auto r = static_cast<std::size_t>(row);
    if (!rows.bad.empty() && rows.bad[r] != 0) continue;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const char end = i + 1 < columns_.size() ? delimiter_ : '\n';
      if (columns_[i].kept) {
        append_field(chunk.cell(row, columns_[i].source), delimiter_, out);
        out += end;
        continue;
      }
      const EncodedColumn& from = *decoded[i];
      if (from.value.empty()) {
        out += fields_[i][static_cast<std::size_t>(from.code[r])];
      } else if (from.code[r] == 1) {
        out += missing_[i];
      } else {
        encoder_->append_cell(columns_[i].column, from.value[r], 0, out);
        out += end;
      }
    }
  }
}

}  // namespace ppan
