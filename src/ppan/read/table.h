#pragma once

// A whole table in memory, column by column: what training, audits and reports work on.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/source/csv.h"
#include "ppan/source/number.h"
#include "ppan/read/schema.h"

namespace ppan {

/// Code of a missing category.
inline constexpr std::int32_t kMissingCode = -1;

struct TableColumn {
  std::string name{};
  ColumnType type = ColumnType::kCategory;
  std::vector<double> number{};      ///< Numeric: the values, NaN where missing. Otherwise empty.
  NumberFormat format{};             ///< Numeric: how the values are written.
  Symbols code{};                    ///< Others: which level, or kMissingCode. Otherwise empty.
  std::vector<std::string> level{};  ///< Others: the different values in order of first appearance.
  std::string missing_text{};  ///< The marker that stands for most missing values; empty if there are none.
  std::int64_t missing = 0;    ///< How many are missing.
};

struct Table {
  std::vector<TableColumn> columns{};
  std::int64_t rows = 0;
  [[nodiscard]] const TableColumn* find(std::string_view name) const;
  /// As find(), but a column that is not there is an Error(kBadInput) with a suggestion.
  [[nodiscard]] const TableColumn& at(std::string_view name) const;
};

/// Reads the rest of `reader`, keeping the columns of `specs`. Throws Error(kBadInput) for a column that is
/// not there and for a cell that does not fit its type, naming file, line, column, value and remedy.
Table read_table(CsvReader& reader, std::span<const ColumnSpec> specs);

/// What stands in the way of using a cell, as a message: `"hello" is not a number`.
std::string cell_fault(std::string_view cell, NumberFault fault, ColumnType type);

}  // namespace ppan
