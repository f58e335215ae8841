#pragma once

// Encodes and decodes rows, chunk by chunk. Nothing is allocated per cell; buffers are reused.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/encode/encoding.h"
#include "ppan/read/table.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// What to do with a record that cannot be released: an unknown level, text where a number belongs, a missing
/// value where training saw none.
enum class UnknownRow {
  kFail,     ///< Stop, naming the row.
  kReject,   ///< Omit it, and list it with the reason.
  kNearest,  ///< Take the grouped level (or the most frequent one), or the column's mean.
};
std::string_view to_string(UnknownRow policy);

/// Encoded values of one column. Numbers: `value` is v, and `code` 1 where it is missing (v is 0 there), else
/// 0. Categories: `code` is the level, and `value` is empty.
struct EncodedColumn {
  std::vector<double> value{};
  Symbols code{};
  /// Numbers of a table in memory: v before it was rounded to the grid, so that rounding can be counted as
  /// distortion. Empty: `value` is all that is known.
  std::vector<double> exact{};
};

/// Why a cell could not be encoded.
struct CellFault {
  std::int64_t row = 0;     ///< In the chunk or table.
  std::int64_t line = 0;    ///< In the file; 0 when encoded from a Table, or where there are no lines.
  std::int32_t column = 0;  ///< Of the encoding.
  std::string what{};       ///< `"hello" is not a number`.
};

struct EncodedRows {
  std::vector<std::int32_t> which{};     ///< Columns of the encoding, and ...
  std::vector<EncodedColumn> columns{};  ///< ... their values.
  std::int64_t rows = 0;
  std::int64_t first_row = 0;       ///< Number of the first one in its source.
  std::vector<CellFault> faults{};  ///< Empty under UnknownRow::kNearest.
  std::vector<std::uint8_t> bad{};  ///< 1 for each row with a fault. Its values are as under kNearest.
  std::int64_t replaced = 0;        ///< Cells that were replaced under kNearest.

  /// Position in `columns` of column `column` of the encoding. Throws Error(kInternal) if it is not there.
  [[nodiscard]] std::size_t position_of(std::int32_t column) const;
};

/// Appends `more` to `rows`, which has the same columns. Faults are not copied.
void append_rows(EncodedRows& rows, const EncodedRows& more);

/// Which column of a source holds column `column` of the encoding.
struct ColumnSource {
  std::int32_t column = 0;
  std::size_t source = 0;
  RowColumn from{};  ///< What it holds.
};

/// Finds `names` among the columns of a source, whatever their order. Throws one Error(kBadInput) that lists
/// every missing name, with suggestions, or every column whose type differs from the encoding's.
std::vector<ColumnSource> bind_columns(const Encoding& encoding, std::span<const std::string> names,
                                       const RowSource& source);

/// An Encoding made ready for use. Safe to share between threads.
class Encoder {
 public:
  explicit Encoder(Encoding encoding, char decimal = '.');
  [[nodiscard]] const Encoding& encoding() const { return encoding_; }

  /// Cells to values. A cell cannot be encoded when it is not a number where one belongs, is an unknown level
  /// of a column without a grouped level, or is missing where training saw nothing missing. Under kNearest it
  /// takes the most frequent level, or v = 0; otherwise it is listed in `out.faults`.
  void encode(const RowChunk& chunk, std::span<const ColumnSource> columns, UnknownRow policy,
              EncodedRows& out) const;
  /// The same for columns of a table in memory.
  void encode(const Table& table, std::span<const std::int32_t> columns, UnknownRow policy,
              EncodedRows& out) const;

  /// Code of a level; the grouped level for an unknown one, if there is a grouped level; otherwise -1.
  [[nodiscard]] std::int32_t code_of(std::int32_t column, std::string_view level) const;
  /// Appends the cell as text, without quotes. This is the only function that turns cells of a release into
  /// text, for files and for attackers alike.
  void append_cell(std::int32_t column, double value, std::int32_t code, std::string& out) const;

 private:
  // Code of a known level, or -1.
  [[nodiscard]] std::int32_t find_level(std::size_t column, std::string_view level) const;
  void encode_levels(const RowChunk& chunk, const ColumnSource& column, UnknownRow policy, EncodedColumn& to,
                     EncodedRows& out) const;
  void encode_texts(const RowChunk& chunk, const ColumnSource& column, UnknownRow policy, EncodedColumn& to,
                    EncodedRows& out) const;
  void encode_numbers(const RowChunk& chunk, const ColumnSource& column, UnknownRow policy, EncodedColumn& to,
                      EncodedRows& out) const;

  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using LevelCodes = std::unordered_map<std::string, std::int32_t, TextHash, std::equal_to<>>;
  // A level as it is compared: by length and first bytes, which decide most cells without comparing the text.
  struct LevelKey {
    std::size_t size;
    std::uint64_t head;
    std::int32_t code;
  };
  Encoding encoding_;
  std::vector<LevelCodes> codes_;            // for each column; empty for numbers
  std::vector<std::vector<LevelKey>> keys_;  // for each column; empty for numbers and for many levels
  std::vector<std::vector<double>> missing_numbers_;  // for each column; markers that are numbers
  char decimal_;
};

/// The first fault by row as an Error(kBadInput) naming file, line, column, value and remedy.
[[nodiscard]] Error first_fault(const EncodedRows& rows, const Encoding& encoding,
                                std::string_view source_name);

}  // namespace ppan
