#include "ppan/core/suggest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace ppan {
namespace {

// A stranger's file may have many long names, and each unknown one is compared with all that are known: so no
// more steps than this are spent on one, and no more names than this are listed.
constexpr std::size_t kMostSteps = 100000;
constexpr std::size_t kMostListed = 100;

// Optimal string alignment distance.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last;
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates) {
  std::vector<std::pair<std::size_t, std::string>> ranked;
  std::size_t steps = 0;
  for (const std::string& candidate : candidates) {
    steps += (word.size() + 1) * (candidate.size() + 1);
    if (steps > kMostSteps) break;
    const std::size_t distance = edit_distance(word, candidate);
    const bool prefix = word.size() >= 2 && candidate.starts_with(word);
    if (prefix || distance <= 1 + candidate.size() / 4) ranked.emplace_back(prefix ? 0 : distance, candidate);
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (auto& [distance, name] : ranked) {
    if (names.size() == 3) break;
    names.push_back(std::move(name));
  }
  return names;
}

std::string unknown_name(std::string_view what, std::string_view word,
                         std::span<const std::string> candidates) {
  const auto near = nearest(word, candidates);
  if (near.empty()) {
    const auto listed = candidates.first(std::min(candidates.size(), kMostListed));
    return fmt::format("unknown {} '{}' (known: {}{})", what, word, fmt::join(listed, ", "),
                       listed.size() < candidates.size() ? ", ..." : "");
  }
  return fmt::format("unknown {} '{}' (did you mean '{}'?)", what, word, fmt::join(near, "' or '"));
}

}  // namespace ppan
