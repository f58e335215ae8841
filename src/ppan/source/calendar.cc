#include "ppan/source/calendar.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace ppan {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_space(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// Takes exactly `count` digits from the front; -1 if they are not there.
int take_digits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool take(std::string_view& text, char c) {
  if (text.empty() || text.front() != c) return false;
  text.remove_prefix(1);
  return true;
}

bool leap(std::int64_t year) {
  return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

int days_in_month(std::int64_t year, int month) {
  constexpr std::array<int, 12> kDays{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && leap(year) ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms": years that begin in March, in eras of 400.
std::int64_t days_from_civil(std::int64_t year, int month, int day) {
  year -= month <= 2 ? 1 : 0;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t of_era = year - era * 400;
  const std::int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146'097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719'468;
}

struct Civil {
  std::int64_t year;
  int month;
  int day;
};

Civil civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t of_era = days - era * 146'097;
  const std::int64_t year = (of_era - of_era / 1460 + of_era / 36'524 - of_era / 146'096) / 365;
  const std::int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
  const std::int64_t shifted = (5 * of_year + 2) / 153;
  const int day = static_cast<int>(of_year - (153 * shifted + 2) / 5 + 1);
  const int month = static_cast<int>(shifted < 10 ? shifted + 3 : shifted - 9);
  return {year + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

std::optional<std::int64_t> take_date(std::string_view& text) {
  const int year = take_digits(text, 4);
  if (year < 1 || !take(text, '-')) return std::nullopt;
  const int month = take_digits(text, 2);
  if (month < 1 || month > 12 || !take(text, '-')) return std::nullopt;
  const int day = take_digits(text, 2);
  if (day < 1 || day > days_in_month(year, month)) return std::nullopt;
  return days_from_civil(year, month, day);
}

void append_padded(std::int64_t value, int digits, std::string& out) {
  std::array<char, 20> text{};
  for (int i = digits; i-- > 0; value /= 10)
    text[static_cast<std::size_t>(i)] = static_cast<char>('0' + value % 10);
  out.append(text.data(), static_cast<std::size_t>(digits));
}

// Minutes behind a time: Z, +02, +02:00 or +0200; nothing if it is none of these.
std::optional<int> take_offset(std::string_view& text) {
  if (text.empty() || take(text, 'Z')) return 0;
  const bool negative = text.front() == '-';
  if (!take(text, '+') && !take(text, '-')) return std::nullopt;
  const int hours = take_digits(text, 2);
  if (hours < 0 || hours > 15) return std::nullopt;
  int minutes = 0;
  if (!text.empty()) {
    take(text, ':');
    minutes = take_digits(text, 2);
    if (minutes < 0 || minutes > 59) return std::nullopt;
  }
  return (negative ? -1 : 1) * (hours * 60 + minutes);
}

}  // namespace

std::optional<std::int64_t> parse_date(std::string_view text) {
  text = without_space(text);
  const auto days = take_date(text);
  return text.empty() ? days : std::nullopt;
}

std::optional<std::int64_t> parse_timestamp(std::string_view text) {
  text = without_space(text);
  const auto days = take_date(text);
  if (!days) return std::nullopt;
  if (text.empty()) return *days * kMicrosecondsPerDay;
  if (!take(text, ' ') && !take(text, 'T')) return std::nullopt;
  const int hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take(text, ':')) return std::nullopt;
  const int minute = take_digits(text, 2);
  if (minute < 0 || minute > 59) return std::nullopt;
  std::int64_t micro = 0;
  if (take(text, ':')) {
    const int second = take_digits(text, 2);
    if (second < 0 || second > 59) return std::nullopt;
    micro = std::int64_t{second} * 1'000'000;
    if (take(text, '.')) {
      std::int64_t unit = 100'000;
      if (text.empty() || !is_digit(text.front())) return std::nullopt;
      for (; !text.empty() && is_digit(text.front()); text.remove_prefix(1), unit /= 10)
        micro += unit * (text.front() - '0');  // digits beyond the sixth count nothing
    }
  }
  const auto offset = take_offset(text);
  if (!offset || !text.empty()) return std::nullopt;
  return *days * kMicrosecondsPerDay + (std::int64_t{hour} * 60 + minute - *offset) * 60'000'000 + micro;
}

void append_date(std::int64_t days, std::string& out) {
  const Civil date = civil_from_days(std::clamp(days, kFirstDay, kLastDay));
  append_padded(date.year, 4, out);
  out += '-';
  append_padded(date.month, 2, out);
  out += '-';
  append_padded(date.day, 2, out);
}

void append_timestamp(std::int64_t microseconds, std::string& out) {
  microseconds =
      std::clamp(microseconds, kFirstDay * kMicrosecondsPerDay, (kLastDay + 1) * kMicrosecondsPerDay - 1);
  std::int64_t days = microseconds / kMicrosecondsPerDay;
  std::int64_t rest = microseconds % kMicrosecondsPerDay;
  if (rest < 0) {
    rest += kMicrosecondsPerDay;
    --days;
  }
  append_date(days, out);
  out += ' ';
  append_padded(rest / 3'600'000'000, 2, out);
  out += ':';
  append_padded(rest / 60'000'000 % 60, 2, out);
  out += ':';
  append_padded(rest / 1'000'000 % 60, 2, out);
  std::int64_t fraction = rest % 1'000'000;
  if (fraction == 0) return;
  int digits = 6;
  for (; fraction % 10 == 0; fraction /= 10) --digits;
  out += '.';
  append_padded(fraction, digits, out);
}

}  // namespace ppan
