#include "ppan/audit/written_date.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr int kCentury = 70;  // from here on two digits are of the last one

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::optional<WrittenDate> written_date(std::string_view text, DateOrder order) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  std::array<int, 3> part{};
  std::array<std::size_t, 3> digits{};
  char mark = 0;
  for (std::size_t p = 0; p < part.size(); ++p) {
    while (!text.empty() && is_digit(text.front()) && digits[p] < 5) {
      part[p] = 10 * part[p] + (text.front() - '0');
      ++digits[p];
      text.remove_prefix(1);
    }
    if (digits[p] == 0) return {};
    if (p == 2) break;
    if (text.empty() || (text.front() != '.' && text.front() != '/' && text.front() != '-')) return {};
    if (p == 1 && text.front() != mark) return {};
    mark = text.front();
    text.remove_prefix(1);
  }
  const std::size_t year_at = order == DateOrder::kYearFirst ? 0 : 2;
  const std::size_t day_at = order == DateOrder::kDayFirst ? 0 : order == DateOrder::kMonthFirst ? 1 : 2;
  const std::size_t month_at = 3 - year_at - day_at;
  if (digits[day_at] > 2 || digits[month_at] > 2 || (digits[year_at] != 2 && digits[year_at] != 4)) return {};
  if (digits[year_at] == 2) part[year_at] += part[year_at] < kCentury ? 2000 : 1900;
  std::string iso = fmt::format("{:04}-{:02}-{:02}", part[year_at], part[month_at], part[day_at]);
  if (text.empty()) {
    const auto days = parse_date(iso);
    return days ? std::optional(WrittenDate{*days * kMicrosecondsPerDay, false}) : std::nullopt;
  }
  if (text.front() != ' ' && text.front() != 'T') return {};
  iso += text;
  // The reader wants seconds.
  if (std::count(text.begin(), text.end(), ':') == 1) iso += ":00";
  const auto time = parse_timestamp(iso);
  return time ? std::optional(WrittenDate{*time, true}) : std::nullopt;
}

}  // namespace ppan
