#pragma once

// Dates and times as numbers, and as text: 2024-01-31 and 2024-01-31 12:30:00[.123456], in the proleptic
// Gregorian calendar, years 0001 to 9999.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ppan {

inline constexpr std::int64_t kMicrosecondsPerDay = std::int64_t{86'400} * 1'000'000;
/// First and last day that has a text, as days since 1970-01-01.
inline constexpr std::int64_t kFirstDay = -719'162;
inline constexpr std::int64_t kLastDay = 2'932'896;

/// Days since 1970-01-01; nothing if `text`, spaces around it ignored, is not a date.
std::optional<std::int64_t> parse_date(std::string_view text);
/// Microseconds since 1970-01-01 00:00:00. Between date and time stands a space or a T; a Z or an offset
/// (+02:00) at the end is taken into account; a date alone is its midnight.
std::optional<std::int64_t> parse_timestamp(std::string_view text);

/// Appends the date; days outside the supported years become the first or last supported day.
void append_date(std::int64_t days, std::string& out);
/// Appends the time, with as many digits of a second as it has.
void append_timestamp(std::int64_t microseconds, std::string& out);

}  // namespace ppan
