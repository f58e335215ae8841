#pragma once

// Released rows as a chunk of typed cells, which any sink writes. Numbers stay numbers; as text they are what
// Encoder::append_cell() writes, because the sink writes the same value in the same format.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ppan/encode/encoder.h"

namespace ppan {

/// Where a released cell comes from.
struct ReleasedColumn {
  std::string name{};
  bool kept = false;        ///< Copied from the input row; otherwise decoded.
  std::int32_t column = 0;  ///< Decoded: column of the encoding.
  std::size_t source = 0;   ///< Kept: column of the input.
};

class RowDecoder {
 public:
  /// A decoded column takes the type of the column of the same name in `input`, where its values fit in;
  /// otherwise that of the encoding. Codes of a category that were not text become what they were, if every
  /// level is one.
  RowDecoder(const Encoder& encoder, std::vector<ReleasedColumn> columns, std::span<const RowColumn> input);

  /// The columns of what decode() gives.
  [[nodiscard]] const std::vector<RowColumn>& columns() const { return types_; }
  /// Rows of `rows` in order, bad ones left out. `chunk` holds the input rows, for the kept columns. `out`
  /// points into both.
  void decode(const EncodedRows& rows, const RowChunk& chunk, RowChunk& out) const;

 private:
  const Encoder* encoder_;
  std::vector<ReleasedColumn> columns_;
  std::vector<RowColumn> types_;
  /// For each column: the values of its levels, where they are not text.
  std::vector<std::vector<std::int64_t>> level_integers_;
  std::vector<std::vector<double>> level_reals_;
};

}  // namespace ppan
