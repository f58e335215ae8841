#pragma once

// Rules that every released row keeps: "age >= 17", "end >= start".

#include <optional>
#include <string>
#include <string_view>

namespace ppan {

enum class Comparison { kAtLeast, kAtMost, kAbove, kBelow, kEqual };

/// A number column compared with a number or with another number column.
struct Constraint {
  std::string left{};
  Comparison comparison = Comparison::kAtLeast;
  std::optional<double> number{};  ///< Absent: compared with the column `right`.
  std::string right{};

  [[nodiscard]] bool holds(double left_value, double right_value) const;
};

/// Nothing unless `text` is COLUMN OPERATOR NUMBER-OR-COLUMN with one of >=, <=, >, <, ==.
std::optional<Constraint> parse_constraint(std::string_view text);

}  // namespace ppan
