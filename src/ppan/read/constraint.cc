#include "ppan/read/constraint.h"

#include <array>
#include <utility>

#include "ppan/source/number.h"

namespace ppan {
namespace {

// Longer ones first: ">=" is not ">".
constexpr std::array<std::pair<std::string_view, Comparison>, 5> kOperators{{{">=", Comparison::kAtLeast},
                                                                             {"<=", Comparison::kAtMost},
                                                                             {"==", Comparison::kEqual},
                                                                             {">", Comparison::kAbove},
                                                                             {"<", Comparison::kBelow}}};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace

bool Constraint::holds(double left_value, double right_value) const {
  switch (comparison) {
    case Comparison::kAtLeast:
      return left_value >= right_value;
    case Comparison::kAtMost:
      return left_value <= right_value;
    case Comparison::kAbove:
      return left_value > right_value;
    case Comparison::kBelow:
      return left_value < right_value;
    case Comparison::kEqual:
      return left_value == right_value;
  }
  return false;
}

std::optional<Constraint> parse_constraint(std::string_view text) {
  for (const auto& [sign, comparison] : kOperators) {
    const auto at = text.find(sign);
    if (at == std::string_view::npos) continue;
    const std::string_view left = trimmed(text.substr(0, at));
    const std::string_view right = trimmed(text.substr(at + sign.size()));
    if (left.empty() || right.empty() || left.find_first_of("<>=") != std::string_view::npos ||
        right.find_first_of("<>=") != std::string_view::npos)
      return std::nullopt;
    Constraint out;
    out.left = left;
    out.comparison = comparison;
    if (const ParsedNumber number = parse_number(right); number.ok()) {
      out.number = number.value;
    } else {
      out.right = right;
    }
    return out;
  }
  return std::nullopt;
}

}  // namespace ppan
