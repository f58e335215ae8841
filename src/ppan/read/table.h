#pragma once

// A whole table in memory, column by column: what training, audits and reports work on.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/read/schema.h"
#include "ppan/source/number.h"
#include "ppan/source/row_source.h"

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
  std::string missing_text{};        ///< The most frequent marker of missing values; empty if there are none.
  std::int64_t missing = 0;          ///< How many are missing.
};

struct Table {
  std::vector<TableColumn> columns{};
  std::int64_t rows = 0;
  [[nodiscard]] const TableColumn* find(std::string_view name) const;
  /// As find(), but a column that is not there is an Error(kBadInput) with a suggestion.
  [[nodiscard]] const TableColumn& at(std::string_view name) const;
};

/// A table under construction, chunk by chunk.
class TableBuilder {
 public:
  /// Keeps the columns of `specs`. Throws Error(kBadInput) for a column that is not there or that is
  /// something else in the source (unfit_type).
  TableBuilder(const RowSource& source, std::span<const ColumnSpec> specs);
  TableBuilder(TableBuilder&&) noexcept;
  ~TableBuilder();
  /// Throws Error(kBadInput) for a cell that does not fit its type, naming source, line, column, value and
  /// remedy.
  void add(const RowChunk& chunk);
  [[nodiscard]] Table finish();

 private:
  struct Column;
  std::string name_;
  char mark_;
  std::int64_t rows_ = 0;
  std::vector<Column> columns_;
};

/// Reads the remaining rows of `source`, keeping the columns of `specs`, as TableBuilder does.
Table read_table(RowSource& source, std::span<const ColumnSpec> specs);

/// Why a column of a source cannot be a column of this type; empty: it can. Text can be everything.
std::string unfit_type(const RowColumn& column, ColumnType type);

/// A cell that is not text and not missing as a number of a column of this form: days of a date, for example.
/// The column fits (unfit_type).
ParsedNumber typed_number(const RowColumn& column, const RowCells& cells, std::size_t row, NumberForm form);

/// Markers of "no value" that are numbers (-1, 999), for cells that are not text in the source.
std::vector<double> number_markers(std::span<const std::string> markers);

/// Why a cell cannot be used, as a message: `"hello" is not a number`.
std::string cell_fault(std::string_view cell, NumberFault fault, ColumnType type);

}  // namespace ppan
