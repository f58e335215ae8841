#include "ppan/read/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "ppan/core/suggest.h"

namespace ppan {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

// One column under construction.
struct Builder {
  TableColumn column;
  std::size_t source = 0;
  std::vector<std::string> markers;
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> codes;
  std::map<std::string, std::int64_t, std::less<>> missing_texts;
  int most_decimals = 0;
  int least_decimals = std::numeric_limits<int>::max();
  bool grid = true;

  void add_missing(std::string_view cell) {
    ++column.missing;
    const auto at = missing_texts.find(cell);
    if (at != missing_texts.end()) {
      ++at->second;
    } else {
      missing_texts.emplace(cell, 1);
    }
  }

  // The fault, or kNone. Whole numbers are demanded of integer columns.
  NumberFault add_number(std::string_view cell, char mark) {
    if (is_missing(cell, markers)) {
      add_missing(cell);
      column.number.push_back(std::numeric_limits<double>::quiet_NaN());
      return NumberFault::kNone;
    }
    const ParsedNumber number = parse_number(cell, mark);
    if (!number.ok()) return number.fault;
    if (column.type == ColumnType::kInteger && std::nearbyint(number.value) != number.value)
      return NumberFault::kNotANumber;
    column.number.push_back(number.value);
    grid = grid && !number.exponent && number.decimals <= kMostDecimals;
    most_decimals = std::max(most_decimals, number.decimals);
    least_decimals = std::min(least_decimals, number.decimals);
    return NumberFault::kNone;
  }

  void add_level(std::string_view cell) {
    if (is_missing(cell, markers)) {
      add_missing(cell);
      column.code.push_back(kMissingCode);
      return;
    }
    const auto known = codes.find(cell);
    if (known != codes.end()) {
      column.code.push_back(known->second);
      return;
    }
    const auto code = static_cast<std::int32_t>(column.level.size());
    codes.emplace(cell, code);
    column.level.emplace_back(cell);
    column.code.push_back(code);
  }

  TableColumn finish(char mark) {
    column.format.mark = mark;
    if (is_numeric(column.type) && grid && least_decimals <= most_decimals) {
      column.format.decimals = most_decimals;
      column.format.fixed = least_decimals == most_decimals;
    }
    std::int64_t most = 0;
    for (const auto& [text, count] : missing_texts) {
      if (count > most) {
        most = count;
        column.missing_text = text;
      }
    }
    return std::move(column);
  }
};

}  // namespace

std::string cell_fault(std::string_view cell, NumberFault fault, ColumnType type) {
  switch (fault) {
    case NumberFault::kNotFinite:
      return fmt::format("{} is not a finite number", show_cell(cell));
    case NumberFault::kTooLarge:
      return fmt::format("{} is too large for a number", show_cell(cell));
    case NumberFault::kNotANumber:
    case NumberFault::kNone:
      break;
  }
  return fmt::format("{} is not a {}", show_cell(cell),
                     type == ColumnType::kInteger ? "whole number" : "number");
}

const TableColumn* Table::find(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return at == columns.end() ? nullptr : &*at;
}

const TableColumn& Table::at(std::string_view name) const {
  if (const TableColumn* column = find(name)) return *column;
  std::vector<std::string> names;
  for (const TableColumn& column : columns) names.push_back(column.name);
  throw Error(ErrorCode::kBadInput, unknown_name("column", name, names));
}

Table read_table(CsvReader& reader, std::span<const ColumnSpec> specs) {
  std::vector<Builder> builders;
  ProblemList problems;
  for (const ColumnSpec& spec : specs) {
    const auto source = reader.find(spec.name);
    if (!source) {
      problems.require(false, "columns", unknown_name("column", spec.name, reader.names()));
      continue;
    }
    Builder builder;
    builder.column.name = spec.name;
    builder.column.type = spec.type;
    builder.source = *source;
    builder.markers = reader.options().missing;
    builder.markers.insert(builder.markers.end(), spec.missing.begin(), spec.missing.end());
    builders.push_back(std::move(builder));
  }
  require_none(problems.take(), fmt::format("{} lacks columns", reader.source_name()), ErrorCode::kBadInput);

  Table table;
  CsvChunk chunk;
  const char mark = reader.options().decimal;
  while (reader.next(chunk)) {
    table.rows += chunk.rows();
    for (Builder& builder : builders) {
      if (!is_numeric(builder.column.type)) {
        for (std::int64_t r = 0; r < chunk.rows(); ++r) builder.add_level(chunk.cell(r, builder.source));
        continue;
      }
      for (std::int64_t r = 0; r < chunk.rows(); ++r) {
        const std::string_view cell = chunk.cell(r, builder.source);
        const NumberFault fault = builder.add_number(cell, mark);
        if (fault == NumberFault::kNone) continue;
        const std::string& name = builder.column.name;
        throw Error(
            ErrorCode::kBadInput,
            fmt::format("{} line {}, column \"{}\": {}", reader.source_name(), chunk.line(r), name,
                        cell_fault(cell, fault, builder.column.type)),
            fmt::format("add {} to read.missing if it stands for no value, or write {} = \"category\" under "
                        "[columns]",
                        show_cell(cell), name));
      }
    }
  }
  for (Builder& builder : builders) table.columns.push_back(builder.finish(mark));
  return table;
}

}  // namespace ppan
