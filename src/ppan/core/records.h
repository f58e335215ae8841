#pragma once

#include <vector>

#include "ppan/core/matrix.h"

namespace ppan {

/// One attribute of every record: codes of a finite alphabet, or real numbers.
template <typename Scalar>
struct Attribute {
  Symbols code;             ///< Finite: a code in 0..levels-1 per record. Otherwise empty.
  std::int32_t levels = 0;  ///< Size of the alphabet; 0 means real-valued.
  Matrix<Scalar> value;     ///< Real: records x dimensions. Otherwise empty.

  [[nodiscard]] bool finite() const { return levels > 0; }
  [[nodiscard]] Index rows() const { return finite() ? static_cast<Index>(code.size()) : value.rows(); }
  /// Width as a network sees it: one input per level, or one per dimension.
  [[nodiscard]] Index width() const { return finite() ? levels : value.cols(); }
};

/// What the game is played on (notation of docs/theory): W observed, X sensitive, Y useful.
template <typename Scalar>
struct Records {
  Attribute<Scalar> observed;                ///< W, what the mechanism sees.
  std::vector<Attribute<Scalar>> sensitive;  ///< X, in the order of the chain rule.
  Attribute<Scalar> useful;                  ///< Y, what the release should stay close to.
  Attribute<Scalar> second{};                ///< A second Y in addition to the first; without rows: none.

  [[nodiscard]] Index rows() const { return observed.rows(); }
};

/// Rows `rows` of `from`, into `to`, whose storage is reused when it is large enough.
template <typename Scalar>
void gather(const Attribute<Scalar>& from, const std::int32_t* rows, Index count, Attribute<Scalar>& to);
template <typename Scalar>
void gather(const Records<Scalar>& from, const std::int32_t* rows, Index count, Records<Scalar>& to);

template <typename To, typename From>
Attribute<To> cast(const Attribute<From>& from) {
  return {from.code, from.levels, from.value.template cast<To>()};
}
template <typename To, typename From>
Records<To> cast(const Records<From>& from) {
  Records<To> to{cast<To>(from.observed), {}, cast<To>(from.useful), cast<To>(from.second)};
  for (const auto& x : from.sensitive) to.sensitive.push_back(cast<To>(x));
  return to;
}

}  // namespace ppan
