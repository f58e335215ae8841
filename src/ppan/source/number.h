#pragma once

// Numbers as text. Parsing is exact (std::from_chars); writing gives the shortest text that reads back equal,
// or the fixed number of decimals that a column is written with.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ppan {

enum class NumberFault {
  kNone,
  kNotANumber,  ///< Not a decimal number at all.
  kNotFinite,   ///< inf or nan, in any spelling.
  kTooLarge,    ///< Magnitude beyond what a double holds.
};

/// How one number was written.
struct ParsedNumber {
  double value = 0;
  NumberFault fault = NumberFault::kNone;
  int decimals = 0;           ///< Digits behind the decimal mark.
  bool exponent = false;      ///< Written as 1e3.
  bool leading_zero = false;  ///< A whole number such as 007, which is more likely a code.
  [[nodiscard]] bool ok() const { return fault == NumberFault::kNone; }
};

/// Reads [+-]digits[mark digits][e[+-]digits], with spaces and tabs around it ignored. No hexadecimal, no
/// thousands separators. `mark` is '.' or ','.
ParsedNumber parse_number(std::string_view text, char mark = '.');

/// What the text of a number is.
enum class NumberForm : std::uint8_t {
  kNumber,     ///< Digits.
  kDate,       ///< A date; the number is days since 1970-01-01.
  kTimestamp,  ///< Date and time; the number is microseconds since 1970-01-01 00:00:00.
};

/// parse_number() of a text in this form.
ParsedNumber parse_value(std::string_view text, NumberForm form, char mark = '.');

/// How the numbers of one column are written.
struct NumberFormat {
  std::optional<int>
      decimals{};      ///< Finest grid seen: values are multiples of 10^-decimals. Absent: no grid.
  bool fixed = false;  ///< Every value shows exactly `decimals` decimals (12.50, not 12.5).
  char mark = '.';     ///< Decimal mark.
  NumberForm form = NumberForm::kNumber;

  /// `value` moved to the nearest point of the grid.
  [[nodiscard]] double snap(double value) const;
  friend bool operator==(const NumberFormat&, const NumberFormat&) = default;
};

/// More decimals than this are the rounding noise of a binary number, not a grid.
inline constexpr int kMostDecimals = 12;

/// Digits behind the decimal mark that the shortest text of `value` has; above kMostDecimals: too many for a
/// grid.
int decimals_of_value(double value);

/// Appends `value`, snapped to the grid, to `out`. `value` is finite.
void append_number(double value, const NumberFormat& format, std::string& out);

}  // namespace ppan
