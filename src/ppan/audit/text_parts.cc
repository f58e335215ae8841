#include "ppan/audit/text_parts.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "ppan/source/calendar.h"

namespace ppan {
namespace {

enum class Letter : std::uint8_t { kOther, kLetter, kDigit };

// Bytes beyond ASCII are parts of letters.
Letter letter_of(char c) {
  if (c >= '0' && c <= '9') return Letter::kDigit;
  const bool letter =
      (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  return letter ? Letter::kLetter : Letter::kOther;
}

char shape_of(char c) {
  switch (letter_of(c)) {
    case Letter::kDigit:
      return '9';
    case Letter::kLetter:
      return c >= 'A' && c <= 'Z' ? 'A' : 'a';
    case Letter::kOther:
      return c;
  }
  return c;
}

}  // namespace

TextParts text_parts(std::string_view text) {
  TextParts out;
  for (const char c : text) out.part.front().push_back(shape_of(c));
  auto next = out.part.begin() + 1;
  std::size_t words = 0;
  for (std::size_t i = 0; i < text.size() && words < TextParts::kWords;) {
    const Letter kind = letter_of(text[i]);
    std::size_t end = i + 1;
    while (end < text.size() && letter_of(text[end]) == kind) ++end;
    if (kind != Letter::kOther)
      *(next + static_cast<std::ptrdiff_t>(words++)) = std::string(text.substr(i, end - i));
    i = end;
  }
  next += TextParts::kWords;
  for (const std::size_t length : {std::size_t{2}, std::size_t{3}}) {
    *next++ = std::string(text.substr(0, length));
    *next++ = std::string(text.substr(text.size() - std::min(length, text.size())));
  }
  for (std::size_t i = 1; i <= TextParts::kBack; ++i) {
    if (i <= text.size()) *next = std::string(text.substr(text.size() - i, 1));
    ++next;
  }
  for (std::size_t i = 0; i < TextParts::kFront; ++i) {
    if (i < text.size()) *next = std::string(text.substr(i, 1));
    ++next;
  }
  return out;
}

std::optional<CalendarForm> calendar_form(double number, NumberForm form) {
  if (!std::isfinite(number) || form == NumberForm::kNumber) return {};
  const double day =
      std::floor(form == NumberForm::kDate ? number : number / static_cast<double>(kMicrosecondsPerDay));
  if (day < static_cast<double>(kFirstDay) || day > static_cast<double>(kLastDay)) return {};
  const std::chrono::sys_days date{std::chrono::days{static_cast<std::int64_t>(day)}};
  const std::chrono::year_month_day parts{date};
  CalendarForm out;
  out.value[0] = static_cast<std::int32_t>(std::chrono::weekday{date}.iso_encoding()) - 1;
  out.value[1] = static_cast<std::int32_t>(static_cast<unsigned>(parts.month())) - 1;
  out.value[2] = static_cast<std::int32_t>(static_cast<unsigned>(parts.day())) - 1;
  if (form == NumberForm::kDate) return out;
  const double microseconds = number - day * static_cast<double>(kMicrosecondsPerDay);
  const auto seconds = static_cast<std::int32_t>(std::clamp(microseconds / 1e6, 0.0, 86'399.0));
  out.value[3] = seconds / 3600;
  out.value[4] = seconds / 60 % 60;
  out.value[5] = seconds % 60;
  return out;
}

}  // namespace ppan
