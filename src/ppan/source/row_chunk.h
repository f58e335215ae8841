#pragma once

// Some consecutive rows, column by column, each column of one kind: text, whole numbers or reals. Every
// source produces chunks and every sink consumes them. A chunk points at memory that it owns or keeps alive,
// so that text read from a file and arrays of another library are used in place. Reusing a chunk allocates
// nothing.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include "ppan/source/number.h"

namespace ppan {

/// How the cells of a column are held.
enum class CellStorage {
  kText,     ///< UTF-8.
  kInteger,  ///< std::int64_t.
  kReal,     ///< double; NaN is missing.
};

/// What the integers of a column stand for.
enum class CellMeaning {
  kPlain,
  kBoolean,    ///< 0 or 1.
  kDecimal,    ///< Multiples of 10^-scale: 1250 with scale 2 is 12.50.
  kDate,       ///< Days since 1970-01-01.
  kTimestamp,  ///< Microseconds since 1970-01-01 00:00:00, without a time zone.
  kInstant,    ///< The same in UTC: a timestamp with time zone.
};

/// The texts of a column whose cells are codes.
using Levels = std::vector<std::string>;

/// One column of a source or sink: what every chunk of it holds.
struct RowColumn {
  std::string name{};
  CellStorage storage = CellStorage::kText;
  CellMeaning meaning = CellMeaning::kPlain;  ///< Integers only.
  int scale = 0;                              ///< kDecimal: 0 to 18.
  /// The type in the words of standard SQL (INTEGER, DECIMAL(10,2), VARCHAR), where the source has one: a
  /// sink that knows it keeps it. Empty: the sink chooses.
  std::string sql_type{};
  NumberFormat format{};       ///< Reals: how they are written as text.
  std::string missing_text{};  ///< How a missing cell is written as text.
  /// Text only: cells are codes into these texts. Null: each cell has its own text.
  std::shared_ptr<const Levels> levels{};
};

/// A piece of text in a larger one.
struct TextCell {
  std::uint32_t first = 0;
  std::uint32_t length = 0;
};

/// The cells of one column of a chunk: views, filled in according to the column's storage.
struct RowCells {
  // kText, each cell with its own text: cell r is `bytes[text[r * stride].first ...]`.
  const char* bytes = nullptr;
  const TextCell* text = nullptr;
  std::size_t stride = 1;
  // kText, codes into RowColumn::levels. Null: `text` holds the cells.
  const std::int32_t* code = nullptr;
  const Levels* levels = nullptr;
  const std::int64_t* integer = nullptr;  ///< kInteger.
  const double* real = nullptr;           ///< kReal.
  /// 1 where there is no value; what the cell holds there means nothing, but can be read. Null: every cell
  /// has a value. Markers in text ("NA") are not flagged: they are text until they are interpreted according
  /// to TextStyle.
  const std::uint8_t* missing = nullptr;

  [[nodiscard]] bool is_missing(std::size_t row) const { return missing != nullptr && missing[row] != 0; }
  /// kText only.
  [[nodiscard]] std::string_view text_at(std::size_t row) const {
    if (code != nullptr) return (*levels)[static_cast<std::size_t>(code[row])];
    const TextCell& cell = text[row * stride];
    return {bytes + cell.first, cell.length};
  }
};

/// Memory for the cells of one column, for sources that copy. Point RowCells at what is used of it.
struct CellBuffer {
  std::vector<char> bytes{};
  std::vector<TextCell> text{};
  std::vector<std::int32_t> code{};
  std::vector<std::int64_t> integer{};
  std::vector<double> real{};
  std::vector<std::uint8_t> missing{};

  /// Appends a cell to `text`. bytes() may be reallocated, so point RowCells at it when the column is
  /// complete.
  void add_text(std::string_view cell) {
    text.push_back({static_cast<std::uint32_t>(bytes.size()), static_cast<std::uint32_t>(cell.size())});
    bytes.insert(bytes.end(), cell.begin(), cell.end());
  }
  /// Empties all of it; the memory stays.
  void clear();
};

/// Rows between a source and a sink. Owns its memory or keeps it alive, so it may be passed to another
/// thread. Movable, not copyable.
class RowChunk {
 public:
  RowChunk() = default;
  RowChunk(RowChunk&&) = default;
  RowChunk& operator=(RowChunk&&) = default;
  RowChunk(const RowChunk&) = delete;
  RowChunk& operator=(const RowChunk&) = delete;

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::size_t columns() const { return cells_.size(); }
  [[nodiscard]] const RowCells& cells(std::size_t column) const { return cells_[column]; }
  /// Number of the chunk's first row in the source, counted from 0.
  [[nodiscard]] std::int64_t first_row() const { return first_row_; }
  /// Line of the file on which a row begins, counted from 1; 0 where the source has no lines.
  [[nodiscard]] std::int64_t line(std::int64_t row) const {
    return lines_ == nullptr ? 0 : lines_[static_cast<std::size_t>(row)];
  }
  [[nodiscard]] const std::int64_t* lines() const { return lines_; }
  /// The line, or else the number of the row in the source, counted from 1.
  [[nodiscard]] std::int64_t position(std::int64_t row) const {
    return lines_ == nullptr ? first_row_ + row + 1 : line(row);
  }

  // For sources, which fill it.

  /// Resets the chunk: no cell is set. Buffers and held objects keep their memory.
  void start(std::int64_t rows, std::size_t columns, std::int64_t first_row);
  [[nodiscard]] RowCells& cells(std::size_t column) { return cells_[column]; }
  /// Memory for a column, owned by the chunk.
  [[nodiscard]] CellBuffer& buffer(std::size_t column);
  void set_rows(std::int64_t rows) { rows_ = rows; }
  void set_first_row(std::int64_t first_row) { first_row_ = first_row; }
  void set_lines(const std::int64_t* lines) { lines_ = lines; }
  /// An object of the source that lives as long as the chunk and is reused with it.
  template <typename T>
  T& held() {
    if (held_ == nullptr || *held_type_ != typeid(T)) {
      held_ = std::make_shared<T>();
      held_type_ = &typeid(T);
    }
    return *static_cast<T*>(held_.get());
  }

 private:
  std::int64_t rows_ = 0;
  std::int64_t first_row_ = 0;
  const std::int64_t* lines_ = nullptr;
  std::vector<RowCells> cells_;
  std::vector<std::unique_ptr<CellBuffer>> buffers_;
  std::shared_ptr<void> held_;
  const std::type_info* held_type_ = nullptr;
};

/// A deep copy: `to` points only at its own buffers (and at levels, which the columns hold).
void copy_rows(const RowChunk& from, RowChunk& to);

/// The value of a cell that is not missing as a number: integers and reals, decimals divided by their scale.
double number_at(const RowColumn& column, const RowCells& cells, std::size_t row);

/// Appends a cell as text: a missing one as column.missing_text, true and false, dates as 2024-01-31, times
/// as 2024-01-31 12:30:00, with as many digits of a second as there are.
void append_text(const RowColumn& column, const RowCells& cells, std::size_t row, std::string& out);

}  // namespace ppan
