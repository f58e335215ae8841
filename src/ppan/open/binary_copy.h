#pragma once

// The rows of PostgreSQL's COPY ... (FORMAT binary), both ways (its manual, "COPY", "Binary Format"): a
// header, then for each row the number of fields, each with its length (-1: null) and its bytes, most
// significant first; -1 fields end it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/source/row_chunk.h"

namespace ppan {

/// What the bytes of a field are.
enum class CopyType {
  kBoolean,
  kInt2,
  kInt4,
  kInt8,
  kFloat4,
  kFloat8,
  kNumeric,
  kText,
  kDate,
  kTimestamp,  ///< With and without time zone.
};

/// Takes the rows apart. Everything that is not as the format says is an Error(kBadInput); `name` is for
/// messages.
class CopyReader {
 public:
  CopyReader(std::string name, std::vector<CopyType> types)
      : name_(std::move(name)), types_(std::move(types)) {}

  /// More bytes of the stream, cut anywhere.
  void feed(std::string_view bytes);
  /// Takes rows that are whole, at most `most` of them in all, to the buffers of a chunk that already has
  /// `rows`; how many it has then. Stops at the end of what was fed.
  std::int64_t take(RowChunk& chunk, const std::vector<RowColumn>& columns, std::int64_t rows,
                    std::int64_t most);
  /// Whether the end of the rows was seen.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  [[noreturn]] void damaged(const char* what) const;
  bool take_header();
  // Where the row ends that begins at at_; 0 when it is not whole.
  [[nodiscard]] std::size_t row_end() const;
  void take_row(RowChunk& chunk, const std::vector<RowColumn>& columns);

  std::string name_;
  std::vector<CopyType> types_;
  std::string bytes_;
  std::size_t at_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

/// The header, and what ends the rows.
void append_copy_header(std::string& out);
void append_copy_end(std::string& out);
/// A row of these columns. Throws Error(kBadInput) for a value that does not fit its type.
void append_copy_row(const std::vector<RowColumn>& columns, const std::vector<CopyType>& types,
                     const RowChunk& rows, std::size_t row, std::string& out);

/// A numeric field as a multiple of 10^-scale, or as a real; nothing for NaN and infinities. Throws
/// Error(kBadInput) for bytes that are none, and for a value that does not fit.
struct CopyNumeric {
  bool finite = true;
  double real = 0;
  std::int64_t scaled = 0;
};
CopyNumeric parse_numeric(std::string_view field, int scale);

}  // namespace ppan
