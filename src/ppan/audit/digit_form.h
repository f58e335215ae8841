#pragma once

// How a number is written, for attackers that read numbers as text. A table in which one group rounds and the
// other does not gives the group away in its last digits while the values say nothing.
//
// All numbers of a column are brought to the same number of decimals first, so that "12.5" and "12.50" have
// the same last digit; how many decimals were written is a matter of format, not of digits.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace ppan {

struct DigitForm {
  static constexpr std::size_t kFeatures = 13;
  /// Trailing zeros; divisible by 2, 5, 20, 25, 50; last one, two and three digits; first digit, first two;
  /// distance to the nearest multiple of 100 and of 1000; all in units of the last decimal of the column.
  std::array<float, kFeatures> feature{};
  std::int32_t last1 = 0;
  std::int32_t last2 = 0;
  std::int32_t last3 = 0;
  std::int32_t first2 = 0;
  std::int32_t first3 = 0;
};

/// Digits behind the decimal mark of a number as text ('.' or ','), exponents not counted.
int written_decimals(std::string_view text);

/// `decimals`: most that the column writes; trailing zeros make up for fewer.
DigitForm digit_form(std::string_view text, int decimals);

}  // namespace ppan
