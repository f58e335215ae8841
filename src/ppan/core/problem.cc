#include "ppan/core/problem.h"

#include <fmt/format.h>

#include <algorithm>
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
  constexpr std::size_t kMostListed = 50;
  for (std::size_t i = 0; i < std::min(problems.size(), kMostListed); ++i)
    text += fmt::format("\n  {}: {}", problems[i].field, problems[i].what);
  if (problems.size() > kMostListed) text += fmt::format("\n  and {} more", problems.size() - kMostListed);
  throw Error(code, text);
}

}  // namespace ppan
