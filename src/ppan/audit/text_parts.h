#pragma once

// A text taken apart, for those who count by its parts: numbers of files, names or addresses may all be
// different while a letter inside them, their ending or the way they are built says what is to be hidden.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/source/number.h"

namespace ppan {

/// Parts of a text; those that it does not have are empty.
struct TextParts {
  static constexpr std::size_t kFront = 12;  ///< Single characters from the front.
  static constexpr std::size_t kBack = 6;    ///< The same from the back.
  static constexpr std::size_t kWords = 6;   ///< Runs of letters, and runs of digits.
  /// First how it is built, with A for a capital, a for another letter and 9 for a digit; then the words, two
  /// and three characters from either end, single ones from the back and from the front.
  static constexpr std::size_t kCount = kFront + kBack + 4 + kWords + 1;
  std::array<std::string, kCount> part;
};
TextParts text_parts(std::string_view text);

/// What a calendar says of a day or a time.
struct CalendarForm {
  static constexpr std::size_t kCount = 6;
  /// Different values of each of them.
  static constexpr std::array<std::int32_t, kCount> kValues{7, 12, 31, 24, 60, 60};
  /// Day of the week from Monday, month, day of the month, hour, minute and second, all from 0.
  std::array<std::int32_t, kCount> value{};
};
/// `form` is one of kDate and kTimestamp; nothing for a number that is no day of its calendar.
std::optional<CalendarForm> calendar_form(double number, NumberForm form);

}  // namespace ppan
