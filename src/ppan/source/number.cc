#include "ppan/source/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr std::array<double, kMostDecimals + 1> kPowers{1e0, 1e1, 1e2, 1e3,  1e4,  1e5, 1e6,
                                                        1e7, 1e8, 1e9, 1e10, 1e11, 1e12};

// Largest number that is read. Every encoding needs a variance and a skewness, and the cube of a larger one
// is beyond what a double holds.
constexpr double kMostMagnitude = 1e100;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_space(std::string_view text) {
  const auto space = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

// "inf", "-Infinity", "NaN", "nan(ind)": what other programs write for values that are not finite.
bool names_no_finite_value(std::string_view text) {
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
  const auto starts = [&](std::string_view word) {
    return text.size() >= word.size() &&
           std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) {
             return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b + ('a' - 'A')) : b);
           });
  };
  return (starts("inf") && (text.size() == 3 || starts("infinity"))) ||
         (starts("nan") && (text.size() == 3 || text[3] == '('));
}

}  // namespace

ParsedNumber parse_number(std::string_view text, char mark) {
  ParsedNumber out;
  text = without_space(text);
  const auto refuse = [&] {
    out.fault = names_no_finite_value(text) ? NumberFault::kNotFinite : NumberFault::kNotANumber;
    return out;
  };
  std::string_view body = text;
  if (!body.empty() && body.front() == '+') {
    body.remove_prefix(1);
    if (!body.empty() && body.front() == '-') return refuse();
  }

  std::array<char, 64> copy{};
  if (mark != '.') {  // from_chars knows only the point
    if (body.size() > copy.size() || body.find('.') != std::string_view::npos) return refuse();
    std::replace_copy(body.begin(), body.end(), copy.begin(), mark, '.');
    body = {copy.data(), body.size()};
  }
  const char* const begin = body.data();
  const char* const end = begin + body.size();
  const char* digits = begin;
  if (digits != end && *digits == '-') ++digits;
  if (digits == end || (!is_digit(*digits) && *digits != '.')) return refuse();

  const char* scan = digits;
  while (scan != end && is_digit(*scan)) ++scan;
  out.leading_zero = scan - digits > 1 && *digits == '0';
  // Whole numbers of up to 15 digits are exact in a double; most cells of most tables end here.
  if (scan == end && scan - digits <= 15) {
    std::int64_t whole = 0;
    for (const char* c = digits; c != end; ++c) whole = whole * 10 + (*c - '0');
    out.value = static_cast<double>(digits != begin ? -whole : whole);
    return out;
  }
  const auto [stop, error] = std::from_chars(begin, end, out.value);
  if (stop != end || (error != std::errc() && error != std::errc::result_out_of_range)) return refuse();
  if (error == std::errc::result_out_of_range) {
    // A magnitude below the smallest double is 0 for every purpose here; one above the largest is not.
    const char* const exponent = std::find_if(begin, end, [](char c) { return c == 'e' || c == 'E'; });
    const bool tiny = (exponent != end && exponent + 1 != end && exponent[1] == '-') ||
                      (exponent == end && scan - digits <= 300);
    if (!tiny) {
      out.fault = NumberFault::kTooLarge;
      return out;
    }
    out.value = 0;
  }
  if (std::abs(out.value) > kMostMagnitude) {
    out.fault = NumberFault::kTooLarge;
    return out;
  }
  if (scan != end && *scan == '.') {
    const char* const fraction = ++scan;
    while (scan != end && is_digit(*scan)) ++scan;
    out.decimals = static_cast<int>(std::min<std::ptrdiff_t>(scan - fraction, 1000));
  }
  out.exponent = scan != end;
  return out;
}

ParsedNumber parse_value(std::string_view text, NumberForm form, char mark) {
  if (form == NumberForm::kNumber) return parse_number(text, mark);
  ParsedNumber out;
  const auto whole = form == NumberForm::kDate ? parse_date(text) : parse_timestamp(text);
  if (whole) {
    out.value = static_cast<double>(*whole);
  } else {
    out.fault = NumberFault::kNotANumber;
  }
  return out;
}

int decimals_of_value(double value) {
  for (int d = 0; d <= kMostDecimals; ++d) {
    const double scaled = value * kPowers[static_cast<std::size_t>(d)];
    if (std::abs(scaled) >= 0x1.0p52) return d == 0 ? 0 : kMostDecimals + 1;
    if (std::nearbyint(scaled) / kPowers[static_cast<std::size_t>(d)] == value) return d;
  }
  return kMostDecimals + 1;
}

double NumberFormat::snap(double value) const {
  if (!decimals || *decimals > kMostDecimals) return value;
  const double power = kPowers[static_cast<std::size_t>(*decimals)];
  const double scaled = value * power;
  if (std::abs(scaled) >= 0x1.0p52) return value;  // already coarser than the grid
  return std::nearbyint(scaled) / power;
}

void append_number(double value, const NumberFormat& format, std::string& out) {
  if (format.form != NumberForm::kNumber) [[unlikely]] {
    const auto whole = static_cast<std::int64_t>(std::nearbyint(std::clamp(value, -9e18, 9e18)));
    if (format.form == NumberForm::kDate) {
      append_date(whole, out);
    } else {
      append_timestamp(whole, out);
    }
    return;
  }
  std::array<char, 400>
      text;  // the longest fixed double has 309 digits before the mark; not cleared: every cell comes here
  char* const begin = text.data();
  char* const limit = begin + text.size();
  char* end = begin;
  const bool grid = format.decimals && *format.decimals <= kMostDecimals;
  const auto decimals = static_cast<std::size_t>(grid ? *format.decimals : 0);
  const double scaled = value * kPowers[decimals];
  if (grid && std::abs(scaled) < 0x1.0p52) {
    // On the grid the digits are those of one whole number: exact, and without a search for the shortest
    // text.
    const auto whole = static_cast<std::int64_t>(std::nearbyint(scaled));
    if (whole < 0) *end++ = '-';
    std::array<char, 24> digits;
    const auto magnitude = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
    char* const last = std::to_chars(digits.data(), digits.data() + digits.size(), magnitude).ptr;
    auto count = static_cast<std::size_t>(last - digits.data());
    if (count <= decimals) *end++ = '0';
    for (std::size_t i = 0; i + decimals < count; ++i) *end++ = digits[i];
    if (decimals > 0) {
      *end++ = format.mark;
      for (std::size_t i = count; i < decimals; ++i) *end++ = '0';
      for (std::size_t i = count > decimals ? count - decimals : 0; i < count; ++i) *end++ = digits[i];
      if (!format.fixed) {
        while (end[-1] == '0') --end;
        if (end[-1] == format.mark) --end;
      }
    }
    out.append(begin, end);
    return;
  }
  end = grid && (format.fixed || decimals == 0)
            ? std::to_chars(begin, limit, value, std::chars_format::fixed, static_cast<int>(decimals)).ptr
            : std::to_chars(begin, limit, value).ptr;
  if (format.mark != '.') std::replace(begin, end, '.', format.mark);
  out.append(begin, end);
}

}  // namespace ppan
