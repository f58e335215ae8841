#pragma once

// What an attacker is handed: columns as they were released, in the order of the rows, with nothing cleaned
// away. A cell keeps its exact text where it had one, because letter case, trailing zeros or the last binary
// digit can carry the secret as well as the value can.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/records.h"
#include "ppan/source/number.h"
#include "ppan/source/row_source.h"

namespace ppan {

struct AuditColumn {
  std::string name;
  std::vector<std::string> level;  ///< The different texts seen; empty for numbers that never were text.
  Symbols code;                    ///< Text of each row, as a position in `level`; empty with it.
  Vector<double> number;      ///< Value of each row, NaN where there is none; empty: not a numeric column.
  std::vector<bool> missing;  ///< Per row.
  bool category = false;      ///< Known to be names, even where they look like numbers.
  NumberForm form = NumberForm::kNumber;  ///< What the numbers are: days and times have a calendar.

  [[nodiscard]] Index rows() const { return static_cast<Index>(missing.size()); }
  [[nodiscard]] bool numeric() const { return number.size() > 0; }
  [[nodiscard]] bool has_text() const { return !level.empty(); }
};

struct AuditTable {
  std::vector<AuditColumn> columns;

  [[nodiscard]] Index rows() const { return columns.empty() ? 0 : columns.front().rows(); }
  [[nodiscard]] const AuditColumn* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;
};

/// What the cells of a column are.
enum class CellKind {
  kGuess,  ///< Numbers when at least 95 % of the cells that are not missing read as numbers, days or times if
           ///< so many read as these.
  kNumber,     ///< Numbers wherever a cell reads as one.
  kCategory,   ///< Names, even if they look like numbers.
  kDate,       ///< Days, wherever a cell reads as a date.
  kTimestamp,  ///< Microseconds, wherever a cell reads as a time.
};

AuditColumn column_of_cells(std::string name, std::span<const std::string> cells,
                            std::span<const std::string> missing_markers, char decimal_mark = '.',
                            CellKind kind = CellKind::kGuess);
/// Numbers that never were text (NaN: missing).
AuditColumn column_of_numbers(std::string name, VectorRef<double> values);
/// Codes of a finite alphabet.
AuditColumn column_of_codes(std::string name, Symbols codes, std::int32_t levels);

/// An attribute of the game as columns: one column of codes, or "name", "name.2", ... for the dimensions.
template <typename Scalar>
std::vector<AuditColumn> columns_of(const Attribute<Scalar>& attribute, const std::string& name);

/// Everything that is left in the source; `kinds` of columns that are known by name. Cells that were not text
/// have the text that they are written as; what the source calls a number is one, unless `kinds` says
/// otherwise.
AuditTable table_of_rows(RowSource& source, const std::map<std::string, CellKind>& kinds = {});

/// Some of the rows, in this order.
AuditColumn take_rows(const AuditColumn& column, std::span<const std::int32_t> which);

/// `more` below `table`: the same columns, text by text.
void append_rows(AuditColumn& column, const AuditColumn& more);
void append_rows(AuditTable& table, const AuditTable& more);

}  // namespace ppan
