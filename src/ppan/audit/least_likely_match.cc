#include "ppan/audit/least_likely_match.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace ppan {
namespace {

constexpr std::ptrdiff_t kCandidates = 16;  // on either side, in each column
constexpr std::size_t kMostColumns = 12;    // in which candidates are looked for
constexpr double kMissingRank = -1;

// Middle ranks of the numbers, from 0 to 1; or of names their shares.
struct MatchColumn {
  bool numeric = false;
  std::vector<double> rank;  // of each row
  std::vector<double> tied;  // share of the rows that have the same number
  Symbols code;
  std::vector<double> share;  // of each name

  // log p: how likely a row that has nothing to do with `a` is as near to it as `b`.
  [[nodiscard]] double log_chance(std::size_t a, std::size_t b) const {
    if (!numeric) return code[a] == code[b] ? std::log(share[static_cast<std::size_t>(code[a])]) : 0;
    if (rank[a] == kMissingRank || rank[b] == kMissingRank) return 0;
    const double width = 2 * std::abs(rank[a] - rank[b]) + std::max(tied[a], tied[b]);
    return std::log(std::min(1.0, width));
  }
};

MatchColumn match_column(const AuditColumn& from) {
  MatchColumn out;
  const auto rows = static_cast<std::size_t>(from.rows());
  out.numeric = from.numeric();
  if (!out.numeric) {
    out.code = from.code;
    out.share.assign(from.level.size(), 0);
    for (const std::int32_t code : from.code)
      out.share[static_cast<std::size_t>(code)] += 1 / static_cast<double>(rows);
    return out;
  }
  std::vector<double> sorted;
  for (const double value : from.number) {
    if (!std::isnan(value)) sorted.push_back(value);
  }
  std::sort(sorted.begin(), sorted.end());
  const double count = 2 * static_cast<double>(std::max<std::size_t>(1, sorted.size()));
  for (const double value : from.number) {
    const auto [low, high] = std::equal_range(sorted.begin(), sorted.end(), value);
    out.tied.push_back(2 * static_cast<double>(high - low) / count);
    out.rank.push_back(std::isnan(value)
                           ? kMissingRank
                           : static_cast<double>((low - sorted.begin()) + (high - sorted.begin())) / count);
  }
  return out;
}

}  // namespace

LikelyMatch least_likely_match(const AuditTable& both, Index people, Index released) {
  std::vector<MatchColumn> columns;
  for (const AuditColumn& column : both.columns) columns.push_back(match_column(column));
  const auto first = static_cast<std::size_t>(people);
  LikelyMatch out{std::vector<std::int32_t>(first, -1), Vector<double>::Zero(people)};
  std::size_t searched = 0;
  for (const MatchColumn& column : columns) {
    if (!column.numeric || searched++ >= kMostColumns) continue;
    std::vector<std::pair<double, std::size_t>> order;  // of the released rows
    for (std::size_t r = first; r < first + static_cast<std::size_t>(released); ++r)
      order.emplace_back(column.rank[r], r);
    std::sort(order.begin(), order.end());
    for (std::size_t p = 0; p < first; ++p) {
      const auto at = std::lower_bound(order.begin(), order.end(), std::pair{column.rank[p], std::size_t{0}});
      const auto begin = at - std::min(kCandidates, at - order.begin());
      const auto end = at + std::min(kCandidates, order.end() - at);
      for (auto candidate = begin; candidate != end; ++candidate) {
        double chance = 0;
        for (const MatchColumn& other : columns) chance += other.log_chance(p, candidate->second);
        if (chance >= out.log_chance[static_cast<Index>(p)]) continue;
        out.log_chance[static_cast<Index>(p)] = chance;
        out.row[p] = static_cast<std::int32_t>(candidate->second - first);
      }
    }
  }
  return out;
}

}  // namespace ppan
