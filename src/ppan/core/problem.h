#pragma once

// Checks that report every problem at once, as data. Options structs have
//     [[nodiscard]] Problems check() const;
// and whoever uses the options calls require_none(options.check(), ...).

#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/error.h"

namespace ppan {

/// One broken rule: which field, and what is wrong with its value.
struct Problem {
  std::string field;
  std::string what;
  friend bool operator==(const Problem&, const Problem&) = default;
};

using Problems = std::vector<Problem>;

/// Collects problems; each require_* names the field, its value and the rule when the rule is broken.
class ProblemList {
 public:
  void require(bool ok, std::string_view field, std::string_view what);
  void require_at_least(std::string_view field, double value, double least);
  void require_positive(std::string_view field, double value);
  /// least <= value <= most, and finite.
  void require_between(std::string_view field, double value, double least, double most);
  /// least < value < most.
  void require_inside(std::string_view field, double value, double least, double most);
  /// Takes over the problems of a nested options struct, its fields prefixed with "prefix.".
  void add(std::string_view prefix, const Problems& nested);
  [[nodiscard]] Problems take() { return std::move(problems_); }

 private:
  Problems problems_;
};

/// Throws one Error that lists every problem, a line each; returns when there is none.
void require_none(const Problems& problems, std::string_view subject, ErrorCode code = ErrorCode::kUsage);

}  // namespace ppan
