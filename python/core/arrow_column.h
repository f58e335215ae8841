#pragma once

// A column of an Arrow array, seen as what ppan knows: numbers, or texts. Nothing is copied; the view lives as long as
// the array.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "arrow_c.h"

namespace ppan {

/// What the values of a column are.
enum class ArrowKind {
  kInteger,
  kReal,
  kBoolean,
  kText,
  kDate,      ///< Days since 1970-01-01.
  kTime,      ///< A moment: seconds since 1970-01-01, fractions allowed.
  kDuration,  ///< Seconds.
  kNothing,   ///< A column that is null in every row.
};

/// What a schema says of a column.
struct ArrowType {
  ArrowKind kind = ArrowKind::kNothing;
  std::string format{};   ///< As the schema writes it; of a dictionary, that of its values.
  bool dictionary = false;
  char index = 0;         ///< Format of the codes of a dictionary.
  double per_unit = 1;    ///< Times: how many of the column's units make one of ours.
  [[nodiscard]] bool numeric() const {
    return !dictionary && kind != ArrowKind::kBoolean && kind != ArrowKind::kText && kind != ArrowKind::kNothing;
  }
};
/// Throws Error(kBadInput) for what cannot be used: lists, structs, bytes.
ArrowType arrow_type(const ArrowSchema& schema);

class ArrowColumnView {
 public:
  ArrowColumnView(const ArrowType& type, const ArrowArray& array, std::int64_t parent_offset = 0);

  [[nodiscard]] bool missing(std::int64_t row) const {
    if (nothing_) return true;
    if (validity_ == nullptr) return false;
    const std::int64_t at = row + offset_;
    return (validity_[at >> 3] >> (at & 7) & 1) == 0;
  }
  /// Of a numeric column; not for a missing cell.
  [[nodiscard]] double number(std::int64_t row) const;
  /// The same for whole numbers, exactly.
  [[nodiscard]] std::int64_t whole(std::int64_t row) const;
  /// Of a text or boolean column that is no dictionary; not for a missing cell.
  [[nodiscard]] std::string_view text(std::int64_t row) const;
  /// Of a dictionary: which entry; -1 where it is missing.
  [[nodiscard]] std::int64_t code(std::int64_t row) const;
  /// Text of an entry of the dictionary, whose values may be numbers.
  [[nodiscard]] std::string entry(std::int64_t code) const;
  [[nodiscard]] std::int64_t entries() const;

 private:
  [[nodiscard]] std::string_view plain_text(const ArrowArray& array, std::int64_t at) const;

  const ArrowType* type_;
  const ArrowArray* array_;
  const std::uint8_t* validity_ = nullptr;
  std::int64_t offset_ = 0;
  bool nothing_ = false;
};

}  // namespace ppan
