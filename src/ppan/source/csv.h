#pragma once

// Exact, streaming reader of delimited text (RFC 4180 with the liberties listed in docs/formats.md). Memory
// is bounded by the chunk, whatever the size of the file; cells are views into the chunk's own buffer.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/row_chunk.h"

namespace ppan {

/// Limits that protect the machine from a hostile or wrong file.
struct CsvLimits {
  std::size_t field_bytes = std::size_t{1} << 20U;  ///< Longest field.
  std::size_t row_bytes = std::size_t{1} << 24U;    ///< Longest row. At most 2^28.
  std::size_t columns = 16384;                      ///< Most columns.
  std::uint64_t unpacked_bytes = kMostUnpacked;     ///< Of a compressed file.
};

struct CsvOptions {
  std::optional<char> delimiter{};  ///< Absent: detected among , ; tab and |.
  bool header = true;               ///< First row holds names; otherwise they are column1, column2, ...
  char decimal = '.';               ///< Decimal mark of numbers, '.' or ','.
  bool trim = false;                ///< Drop spaces and tabs around fields that are not quoted.
  /// Cells that stand for "no value", compared after dropping spaces around them.
  std::vector<std::string> missing{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"};
  std::int64_t chunk_rows = 4096;  ///< Most rows in a chunk. At least 1.
  CsvLimits limits{};

  [[nodiscard]] Problems check() const;
};

/// Some consecutive rows. Owns its bytes, so it may be passed to another thread. Reusing it allocates
/// nothing.
class CsvChunk {
 public:
  [[nodiscard]] std::int64_t rows() const { return static_cast<std::int64_t>(lines_.size()); }
  [[nodiscard]] std::size_t columns() const { return columns_; }
  [[nodiscard]] std::string_view cell(std::int64_t row, std::size_t column) const {
    const TextCell& c = cells_[static_cast<std::size_t>(row) * columns_ + column];
    return {buffer_.data() + c.first, c.length};
  }
  /// Line of the file on which the row begins, counted from 1.
  [[nodiscard]] std::int64_t line(std::int64_t row) const { return lines_[static_cast<std::size_t>(row)]; }
  /// Number of the chunk's first row in the file, counted from 0, the header not counted.
  [[nodiscard]] std::int64_t first_row() const { return first_row_; }

  // The memory layout, row by row, for code that processes whole columns.
  [[nodiscard]] const char* bytes() const { return buffer_.data(); }
  [[nodiscard]] const TextCell* cells() const { return cells_.data(); }
  [[nodiscard]] const std::int64_t* lines() const { return lines_.data(); }

 private:
  friend class CsvReader;
  std::vector<char> buffer_;
  std::vector<TextCell> cells_;
  std::vector<std::int64_t> lines_;
  std::size_t columns_ = 0;
  std::int64_t first_row_ = 0;
};

class CsvReader {
 public:
  /// Reads the first bytes: detects the delimiter if necessary and reads the names. Throws Error(kUsage) for
  /// bad options, Error(kBadInput) for bytes that are not such a table.
  explicit CsvReader(std::unique_ptr<ByteSource> source, CsvOptions options = {});

  /// Names of the columns: at least one, all different, none empty.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] char delimiter() const { return delimiter_; }
  [[nodiscard]] const CsvOptions& options() const { return options_; }
  [[nodiscard]] const std::string& source_name() const { return source_->name(); }

  /// The next rows, 1 to options().chunk_rows of them; false when there are no more. Every row has as many
  /// cells as there are names. Throws Error(kBadInput) naming the line for anything else.
  bool next(CsvChunk& chunk);

  /// Share of the source that was read, 0 to 1, where its size is known.
  [[nodiscard]] std::optional<double> share_read() const { return source_->share_read(); }

  /// Bytes inspected or moved so far, counting repeated inspections: at most a small multiple of the bytes
  /// read, whatever the text is.
  [[nodiscard]] std::uint64_t work() const { return work_; }

 private:
  class Scan;
  enum class RowEnd { kRow, kNeedMore };
  /// What the next byte of the UTF-8 text may be.
  struct Utf8 {
    int remaining = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xBF;
  };

  bool read_more();
  void drop_consumed();
  void check_text(std::span<const char> bytes, std::int64_t line);
  RowEnd scan_row(CsvChunk& chunk, Scan& scan);
  struct Field;
  bool scan_quoted(Field& field, std::int64_t lines) const;
  bool scan_plain(Field& field, Scan& scan) const;
  void unescape(CsvChunk& chunk);
  [[nodiscard]] bool is_blank_row(const CsvChunk& chunk, std::size_t cells) const;
  void take_header();
  [[noreturn]] void fail(std::int64_t line, const std::string& what, const std::string& fix) const;

  std::unique_ptr<ByteSource> source_;
  CsvOptions options_;
  std::vector<std::string> names_;
  char delimiter_ = ',';
  std::vector<char> buffer_;           // what was read
  std::size_t position_ = 0;           // where the next row begins in it
  std::vector<std::size_t> unescape_;  // cells of the current row that hold doubled quotes
  bool ended_ = false;                 // the source has no more
  std::int64_t line_ = 1;              // on which the next row begins
  std::int64_t row_ = 0;               // rows returned so far
  std::uint64_t work_ = 0;
  Utf8 utf8_;
};

/// Opens "-", plain and .gz files.
CsvReader open_csv(const std::filesystem::path& path, const CsvOptions& options = {});

/// True when the cell, spaces around it ignored, is one of the markers.
bool is_missing(std::string_view cell, std::span<const std::string> markers);

/// How a table seems to be written, judged from its first bytes.
struct CsvGuess {
  char delimiter = ',';
  bool header = true;
  bool trim = false;
  char decimal = '.';
  std::vector<std::string> unsure;  ///< What a person should look at, a sentence each.
};
/// `sample` is the beginning of the file; its last line may be incomplete; the first 200 rows are inspected.
/// The delimiter is the candidate that splits the rows into the same number of fields most consistently, and
/// into the most fields among equals. Row 1 is a header unless one of its fields is a number or empty.
CsvGuess guess_csv(std::string_view sample);
/// The first bytes of a source, at most 1 MiB, for guess_csv. continued_source() puts them back.
std::string sample_of(ByteSource& source);

/// The delimiter as messages and job files write it: "tab" or the character.
std::string delimiter_name(char delimiter);

/// A cell for a message: in double quotes, control characters escaped, cut after 60 bytes.
/// Marked as a value of a record, so that it is shown only where values are (core/cell_text.h).
std::string show_cell(std::string_view cell);
/// The same for text that is not a value: the name of a column or file.
std::string quoted_text(std::string_view text);

}  // namespace ppan
