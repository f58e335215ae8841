#include "ppan/core/problem.h"

#include <fmt/format.h>

#include <cmath>

namespace ppan {

void ProblemList::require(bool ok, std::string_view field, std::string_view what) {
  if (!ok) problems_.push_back({std::string(field), std::string(what)});
}

void ProblemList::require_at_least(std::string_view field, double value, double least) {
  require(std::isfinite(value) && value >= least, field,
          fmt::format("{} is not allowed; it must be at least {}", value, least));
}

void ProblemList::require_positive(std::string_view field, double value) {
  require(std::isfinite(value) && value > 0, field,
          fmt::format("{} is not allowed; it must be greater than 0", value));
}

void ProblemList::require_between(std::string_view field, double value, double least, double most) {
  require(std::isfinite(value) && value >= least && value <= most, field,
          fmt::format("{} is not allowed; it must lie between {} and {}", value, least, most));
}

void ProblemList::require_inside(std::string_view field, double value, double least, double most) {
  require(std::isfinite(value) && value > least && value < most, field,
          fmt::format("{} is not allowed; it must be greater than {} and less than {}", value, least, most));
}

void ProblemList::add(std::string_view prefix, const Problems& nested) {
  for (const Problem& p : nested) problems_.push_back({fmt::format("{}.{}", prefix, p.field), p.what});
}

void require_none(const Problems& problems, std::string_view subject, ErrorCode code) {
  if (problems.empty()) return;
  std::string text(subject);
  for (const Problem& p : problems) text += fmt::format("\n  {}: {}", p.field, p.what);
  throw Error(code, text);
}

}  // namespace ppan
