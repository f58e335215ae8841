#include "ppan/audit/audit_table.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <unordered_map>

#include "ppan/core/error.h"
#include "ppan/source/number.h"

namespace ppan {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kNumericShare = 0.95;

// Collects cells of one column; levels in order of first appearance.
class ColumnBuilder {
 public:
  void add(std::string_view cell) {
    const auto found =
        position_.try_emplace(std::string(cell), static_cast<std::int32_t>(column_.level.size()));
    if (found.second) column_.level.emplace_back(cell);
    column_.code.push_back(found.first->second);
  }

  AuditColumn finish(std::string name, std::span<const std::string> markers, char mark, CellKind kind) {
    column_.name = std::move(name);
    column_.category = kind == CellKind::kCategory;
    std::vector<bool> level_missing(column_.level.size());
    std::vector<double> level_number(column_.level.size(), kMissing);
    for (std::size_t l = 0; l < column_.level.size(); ++l) {
      level_missing[l] = is_missing(column_.level[l], markers);
      const ParsedNumber parsed = parse_number(column_.level[l], mark);
      if (!level_missing[l] && parsed.ok()) level_number[l] = parsed.value;
    }
    Index present = 0;
    Index numbers = 0;
    column_.missing.reserve(column_.code.size());
    for (const std::int32_t code : column_.code) {
      column_.missing.push_back(level_missing[code]);
      if (level_missing[code]) continue;
      ++present;
      if (!std::isnan(level_number[code])) ++numbers;
    }
    const bool most = static_cast<double>(numbers) >= kNumericShare * static_cast<double>(present);
    if (numbers > 0 && (kind == CellKind::kNumber || (kind == CellKind::kGuess && most))) {
      column_.number.resize(static_cast<Index>(column_.code.size()));
      for (std::size_t i = 0; i < column_.code.size(); ++i) {
        column_.number[static_cast<Index>(i)] = level_number[column_.code[i]];
      }
    }
    position_.clear();
    return std::move(column_);
  }

 private:
  AuditColumn column_;
  std::unordered_map<std::string, std::int32_t> position_;
};

}  // namespace

const AuditColumn* AuditTable::find(std::string_view name) const {
  for (const AuditColumn& column : columns) {
    if (column.name == name) return &column;
  }
  return nullptr;
}

std::vector<std::string> AuditTable::names() const {
  std::vector<std::string> names;
  for (const AuditColumn& column : columns) names.push_back(column.name);
  return names;
}

AuditColumn column_of_cells(std::string name, std::span<const std::string> cells,
                            std::span<const std::string> missing_markers, char decimal_mark, CellKind kind) {
  ColumnBuilder builder;
  for (const std::string& cell : cells) builder.add(cell);
  return builder.finish(std::move(name), missing_markers, decimal_mark, kind);
}

AuditColumn column_of_numbers(std::string name, VectorRef<double> values) {
  AuditColumn column;
  column.name = std::move(name);
  column.number = values;
  for (Index i = 0; i < values.size(); ++i) {
    if (std::isinf(values[i])) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("column \"{}\" row {} is not finite", column.name, i + 1));
    }
    column.missing.push_back(std::isnan(values[i]));
  }
  return column;
}

AuditColumn column_of_codes(std::string name, Symbols codes, std::int32_t levels) {
  AuditColumn column;
  column.name = std::move(name);
  for (const std::int32_t code : codes) {
    if (code < 0 || code >= levels) {
      throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\" holds the code {}, outside 0 .. {}",
                                                    column.name, code, levels - 1));
    }
  }
  for (std::int32_t l = 0; l < levels; ++l) column.level.push_back(fmt::format("{}", l));
  column.missing.assign(codes.size(), false);
  column.code = std::move(codes);
  return column;
}

template <typename Scalar>
std::vector<AuditColumn> columns_of(const Attribute<Scalar>& attribute, const std::string& name) {
  if (attribute.finite()) return {column_of_codes(name, attribute.code, attribute.levels)};
  std::vector<AuditColumn> columns;
  for (Index d = 0; d < attribute.value.cols(); ++d) {
    const Vector<double> values = attribute.value.col(d).template cast<double>();
    columns.push_back(column_of_numbers(d == 0 ? name : fmt::format("{}.{}", name, d + 1), values));
  }
  return columns;
}

template std::vector<AuditColumn> columns_of(const Attribute<float>&, const std::string&);
template std::vector<AuditColumn> columns_of(const Attribute<double>&, const std::string&);

AuditTable table_of_csv(CsvReader& reader, const std::map<std::string, CellKind>& kinds) {
  std::vector<ColumnBuilder> builders(reader.names().size());
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t i = 0; i < chunk.rows(); ++i) {
      for (std::size_t c = 0; c < builders.size(); ++c) builders[c].add(chunk.cell(i, c));
    }
  }
  AuditTable table;
  for (std::size_t c = 0; c < builders.size(); ++c) {
    const std::string& name = reader.names()[c];
    const auto known = kinds.find(name);
    table.columns.push_back(builders[c].finish(name, reader.options().missing, reader.options().decimal,
                                               known == kinds.end() ? CellKind::kGuess : known->second));
  }
  return table;
}

void append_rows(AuditColumn& column, const AuditColumn& more) {
  if (column.numeric() != more.numeric() || column.has_text() != more.has_text())
    throw Error(ErrorCode::kBadInput,
                fmt::format("column \"{}\" holds numbers in one table and texts in the other", column.name),
                "say what it is: --type COLUMN=number or COLUMN=category");
  std::unordered_map<std::string, std::int32_t> position;
  for (std::size_t l = 0; l < column.level.size(); ++l)
    position.emplace(column.level[l], static_cast<std::int32_t>(l));
  Symbols translated;
  for (const std::string& level : more.level) {
    const auto [at, added] = position.try_emplace(level, static_cast<std::int32_t>(column.level.size()));
    if (added) column.level.push_back(level);
    translated.push_back(at->second);
  }
  for (const std::int32_t code : more.code) column.code.push_back(translated[static_cast<std::size_t>(code)]);
  if (more.numeric()) {
    Vector<double> joined(column.number.size() + more.number.size());
    joined << column.number, more.number;
    column.number = std::move(joined);
  }
  column.missing.insert(column.missing.end(), more.missing.begin(), more.missing.end());
}

void append_rows(AuditTable& table, const AuditTable& more) {
  for (AuditColumn& column : table.columns) {
    const AuditColumn* other = more.find(column.name);
    if (other == nullptr)
      throw Error(ErrorCode::kInternal, fmt::format("column \"{}\" is not in both tables", column.name));
    append_rows(column, *other);
  }
}

}  // namespace ppan
