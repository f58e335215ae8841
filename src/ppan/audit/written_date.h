#pragma once

// Dates as people write them: 31.12.2023, 12/31/2023, 31-12-23, 2023/12/31, with a time behind it or without.
// The table reader takes ISO dates alone; attackers read whatever a person reads, since a day of the week is
// hidden in all of these alike.

#include <cstdint>
#include <optional>
#include <string_view>

namespace ppan {

enum class DateOrder : std::uint8_t { kDayFirst, kMonthFirst, kYearFirst };

struct WrittenDate {
  std::int64_t microseconds = 0;  ///< Since 1970-01-01 00:00:00.
  bool time = false;              ///< A time stands behind the date.
};

/// Nothing if `text`, spaces around it ignored, is not a date in this order. The parts are separated twice by
/// the same one of . / and -; years of two digits are those from 1970 to 2069.
std::optional<WrittenDate> written_date(std::string_view text, DateOrder order);

}  // namespace ppan
