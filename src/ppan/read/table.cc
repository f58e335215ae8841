#include "ppan/read/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_map>

#include "ppan/core/suggest.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

}  // namespace

// One column under construction.
struct TableBuilder::Column {
  TableColumn column;
  RowColumn from;
  std::size_t source = 0;
  std::vector<std::string> markers;
  std::vector<double> numbers_missing;
  std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>> codes;
  std::map<std::string, std::int64_t, std::less<>> missing_texts;
  std::string scratch;
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
  void add_missing_number(std::string_view cell) {
    add_missing(cell);
    column.number.push_back(std::numeric_limits<double>::quiet_NaN());
  }

  // The fault, or kNone. Whole numbers are demanded of whole columns.
  NumberFault keep(const ParsedNumber& number) {
    if (!number.ok()) return number.fault;
    if (is_whole(column.type) && std::nearbyint(number.value) != number.value)
      return NumberFault::kNotANumber;
    column.number.push_back(number.value);
    grid = grid && !number.exponent && number.decimals <= kMostDecimals;
    most_decimals = std::max(most_decimals, number.decimals);
    least_decimals = std::min(least_decimals, number.decimals);
    return NumberFault::kNone;
  }

  NumberFault add_number(const RowCells& cells, std::size_t row, char mark) {
    if (from.storage == CellStorage::kText) {
      const std::string_view cell = cells.is_missing(row) ? std::string_view() : cells.text_at(row);
      if (!cells.is_missing(row) && !is_missing(cell, markers))
        return keep(parse_value(cell, form_of(column.type), mark));
      add_missing_number(cell);
      return NumberFault::kNone;
    }
    if (cells.is_missing(row) || (from.storage == CellStorage::kReal && std::isnan(cells.real[row]))) {
      add_missing_number({});
      return NumberFault::kNone;
    }
    const ParsedNumber number = typed_number(from, cells, row, form_of(column.type));
    if (std::find(numbers_missing.begin(), numbers_missing.end(), number.value) != numbers_missing.end()) {
      add_missing_number({});
      return NumberFault::kNone;
    }
    return keep(number);
  }

  void add_level(std::string_view cell, bool missing) {
    if (missing || is_missing(cell, markers)) {
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

  void add_levels(const RowChunk& chunk) {
    const RowCells& cells = chunk.cells(source);
    const auto rows = static_cast<std::size_t>(chunk.rows());
    if (from.storage == CellStorage::kText) {
      for (std::size_t r = 0; r < rows; ++r)
        add_level(cells.is_missing(r) ? std::string_view() : cells.text_at(r), cells.is_missing(r));
      return;
    }
    for (std::size_t r = 0; r < rows; ++r) {
      scratch.clear();
      append_text(from, cells, r, scratch);
      add_level(scratch, scratch.empty());
    }
  }

  TableColumn finish(char mark) {
    column.format.mark = mark;
    column.format.form = form_of(column.type);
    if (is_numeric(column.type) && grid && least_decimals <= most_decimals) {
      column.format.decimals = most_decimals;
      // Reals that never were text were not written with a fixed number of decimals.
      column.format.fixed = least_decimals == most_decimals && from.storage != CellStorage::kReal;
    }
    std::int64_t most = 0;
    for (const auto& [text, count] : missing_texts) {
      if (count > most) {
        most = count;
        column.missing_text = text;
      }
    }
    // Grown as rows came; of a wide table the room that is left over is as much as a third of it.
    column.number.shrink_to_fit();
    column.code.shrink_to_fit();
    return std::move(column);
  }
};

std::string unfit_type(const RowColumn& column, ColumnType type) {
  if (column.storage == CellStorage::kText || !is_numeric(type)) return {};
  const bool date = column.meaning == CellMeaning::kDate;
  const bool time = column.meaning == CellMeaning::kTimestamp || column.meaning == CellMeaning::kInstant;
  const std::string_view held = date ? "dates" : time ? "times" : "numbers";
  const bool fits = type == ColumnType::kDate        ? date
                    : type == ColumnType::kTimestamp ? date || time
                                                     : !date && !time;
  return fits ? "" : fmt::format("holds {}, but its type is {}", held, to_string(type));
}

ParsedNumber typed_number(const RowColumn& column, const RowCells& cells, std::size_t row, NumberForm form) {
  ParsedNumber out;
  out.value = number_at(column, cells, row);
  if (column.storage == CellStorage::kReal) {
    constexpr double kMostMagnitude = 1e100;  // as parse_number() has it
    if (!std::isfinite(out.value)) {
      out.fault = NumberFault::kNotFinite;
    } else if (std::abs(out.value) > kMostMagnitude) {
      out.fault = NumberFault::kTooLarge;
    } else {
      out.decimals = decimals_of_value(out.value);
    }
  } else if (column.meaning == CellMeaning::kDecimal) {
    out.decimals = column.scale;
  } else if (column.meaning == CellMeaning::kDate && form == NumberForm::kTimestamp) {
    out.value *= static_cast<double>(kMicrosecondsPerDay);
  }
  return out;
}

std::vector<double> number_markers(std::span<const std::string> markers) {
  std::vector<double> out;
  for (const std::string& marker : markers) {
    const ParsedNumber number = parse_number(marker);
    if (number.ok()) out.push_back(number.value);
  }
  return out;
}

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
  const char* const wanted = type == ColumnType::kInteger     ? "whole number"
                             : type == ColumnType::kDate      ? "date such as 2024-01-31"
                             : type == ColumnType::kTimestamp ? "time such as 2024-01-31 12:30:00"
                                                              : "number";
  return fmt::format("{} is not a {}", show_cell(cell), wanted);
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

TableBuilder::TableBuilder(const RowSource& source, std::span<const ColumnSpec> specs)
    : name_(source.name()), mark_(source.style().decimal) {
  ProblemList missing;
  ProblemList unfit;
  for (const ColumnSpec& spec : specs) {
    const auto at = source.find(spec.name);
    if (!at) {
      missing.require(false, "columns", unknown_name("column", spec.name, source.column_names()));
      continue;
    }
    Column column;
    column.column.name = spec.name;
    column.column.type = spec.type;
    column.from = source.columns()[*at];
    column.source = *at;
    column.markers = source.style().missing;
    column.markers.insert(column.markers.end(), spec.missing.begin(), spec.missing.end());
    column.numbers_missing = number_markers(column.markers);
    const std::string why = unfit_type(column.from, spec.type);
    unfit.require(why.empty(), spec.name, why);
    columns_.push_back(std::move(column));
  }
  require_none(missing.take(), fmt::format("{} lacks columns", name_), ErrorCode::kBadInput);
  require_none(unfit.take(), fmt::format("{} does not hold what the job says", name_), ErrorCode::kBadInput);
}

TableBuilder::TableBuilder(TableBuilder&&) noexcept = default;
TableBuilder::~TableBuilder() = default;

void TableBuilder::add(const RowChunk& chunk) {
  rows_ += chunk.rows();
  for (Column& column : columns_) {
    if (!is_numeric(column.column.type)) {
      column.add_levels(chunk);
      continue;
    }
    const RowCells& cells = chunk.cells(column.source);
    for (std::int64_t r = 0; r < chunk.rows(); ++r) {
      const auto row = static_cast<std::size_t>(r);
      const NumberFault fault = column.add_number(cells, row, mark_);
      if (fault == NumberFault::kNone) continue;
      std::string cell;
      append_text(column.from, cells, row, cell);
      const std::string& name = column.column.name;
      throw Error(
          ErrorCode::kBadInput,
          fmt::format("{} {} {}, column \"{}\": {}", name_, chunk.line(r) > 0 ? "line" : "row",
                      chunk.position(r), name, cell_fault(cell, fault, column.column.type)),
          fmt::format("add {} to read.missing if it stands for no value, or write {} = \"category\" under "
                      "[columns]",
                      show_cell(cell), name));
    }
  }
}

Table TableBuilder::finish() {
  Table table;
  table.rows = rows_;
  for (Column& column : columns_) table.columns.push_back(column.finish(mark_));
  return table;
}

Table read_table(RowSource& source, std::span<const ColumnSpec> specs) {
  TableBuilder builder(source, specs);
  RowChunk chunk;
  while (source.next(chunk)) builder.add(chunk);
  return builder.finish();
}

}  // namespace ppan
