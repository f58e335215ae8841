#include "ppan/audit/digit_form.h"

#include <algorithm>

namespace ppan {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view without_exponent(std::string_view text) {
  return text.substr(0, text.find_first_of("eE"));
}

// The last `count` digits as a number.
std::int32_t last_digits(const std::string& digits, std::size_t count) {
  std::int32_t value = 0;
  for (std::size_t i = digits.size() - std::min(count, digits.size()); i < digits.size(); ++i)
    value = value * 10 + (digits[i] - '0');
  return value;
}

float distance_to_round(std::int32_t remainder, std::int32_t round) {
  return static_cast<float>(std::min(remainder, round - remainder));
}

}  // namespace

int written_decimals(std::string_view text) {
  text = without_exponent(text);
  const std::size_t mark = text.find_first_of(".,");
  if (mark == std::string_view::npos) return 0;
  return static_cast<int>(
      std::count_if(text.begin() + static_cast<std::ptrdiff_t>(mark), text.end(), is_digit));
}

DigitForm digit_form(std::string_view text, int decimals) {
  std::string digits;
  for (const char c : without_exponent(text)) {
    if (is_digit(c) && (c != '0' || !digits.empty())) digits += c;
  }
  digits.append(static_cast<std::size_t>(std::max(0, decimals - written_decimals(text))), '0');
  if (digits.empty()) digits.push_back('0');
  DigitForm form;
  form.last1 = last_digits(digits, 1);
  form.last2 = last_digits(digits, 2);
  form.last3 = last_digits(digits, 3);
  form.first2 = (digits[0] - '0') * 10 + (digits.size() > 1 ? digits[1] - '0' : 0);
  form.first3 = form.first2 * 10 + (digits.size() > 2 ? digits[2] - '0' : 0);
  float zeros = 0;
  for (auto c = digits.rbegin(); c != digits.rend() && *c == '0'; ++c) zeros += 1;
  const auto divisible = [&](std::int32_t by) { return form.last2 % by == 0 ? 1.0F : 0.0F; };
  form.feature = {std::min(zeros, 6.0F),
                  divisible(2),
                  divisible(5),
                  divisible(20),
                  divisible(25),
                  divisible(50),
                  static_cast<float>(form.last1),
                  static_cast<float>(form.last2),
                  static_cast<float>(form.last3),
                  static_cast<float>(digits[0] - '0'),
                  static_cast<float>(form.first2),
                  distance_to_round(form.last2, 100),
                  distance_to_round(form.last3, 1000)};
  return form;
}

}  // namespace ppan
