#pragma once

// The types of the columns of an Arrow stream, in terms of ppan.

#include <string>

#include "ppan/source/arrow_c.h"
#include "ppan/source/row_chunk.h"

namespace ppan {

/// A column of a stream.
struct ArrowType {
  std::string name{};
  std::string format{};     ///< As the schema writes it; of a dictionary, that of its values.
  bool dictionary = false;  ///< Cells are codes of type `index` into values of type `format`.
  bool ordered = false;     ///< Of a dictionary.
  char index = 'i';         ///< Format of the codes of a dictionary.
  CellStorage storage = CellStorage::kText;
  CellMeaning meaning = CellMeaning::kPlain;
  int scale = 0;                  ///< Decimals.
  std::int64_t units = 1;         ///< Times: units of the column that make a microsecond, or ...
  std::int64_t microseconds = 1;  ///< ... microseconds that make a unit.

  /// The column as sources and sinks describe it.
  [[nodiscard]] RowColumn row_column() const;
};

/// Throws Error(kBadInput) for what cannot be used: lists, structs, bytes.
ArrowType arrow_type(const ArrowSchema& schema);

/// The type of a column that does not come from a stream.
ArrowType arrow_type(const RowColumn& column);

/// Bytes of one value of a fixed width; 0 for booleans and texts.
int arrow_width(const std::string& format);

}  // namespace ppan
