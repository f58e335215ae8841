#include "ppan/audit/key_tuples.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ppan {
namespace {

constexpr double kMostVisits = 6e7;  // tuples times rows
constexpr double kMostPairs = 2e5;   // of which so few rows as kLeastRows are looked at: some 630 codes
constexpr Index kMostRows = 20'000;
constexpr Index kLeastRows = 1000;  // fewer show nothing in so many cells
constexpr double kClear =
    2.5;  // deviations above the greatest that chance gives among all that are looked at
constexpr std::size_t kMostTuples = 6;
constexpr std::int64_t kCountsPerRow = 4;  // cells times levels: with more of them nearly all are empty

struct ChiSquared {
  double value = 0;
  double degrees = 0;
};

// Coarse codes of the rows that are looked at, and how they go with the attribute.
class Looked {
 public:
  Looked(const KeyMatrix& coarse, std::span<const std::int32_t> part_values, const Symbols& x,
         std::span<const std::int32_t> rows, std::int32_t levels)
      : coarse_(coarse), values_(part_values), x_(x), rows_(rows), levels_(levels) {
    level_.assign(static_cast<std::size_t>(levels), 0);
    for (const std::int32_t row : rows)
      level_[static_cast<std::size_t>(x[static_cast<std::size_t>(row)])] += 1;
    present_ =
        static_cast<double>(std::count_if(level_.begin(), level_.end(), [](double c) { return c > 0; }));
  }

  [[nodiscard]] std::int64_t cells(const std::vector<Index>& part) const {
    std::int64_t cells = 1;
    for (const Index p : part) cells *= values_[static_cast<std::size_t>(p)];
    return cells;
  }

  // Of the cells of these codes against the levels. Codes always have a value.
  ChiSquared test(const std::vector<Index>& part) {
    const auto width = static_cast<std::size_t>(levels_);
    count_.assign(static_cast<std::size_t>(cells(part)) * width, 0);
    for (const std::int32_t row : rows_) {
      std::size_t cell = 0;
      for (const Index p : part)
        cell = cell * static_cast<std::size_t>(values_[static_cast<std::size_t>(p)]) +
               static_cast<std::size_t>(coarse_(row, p));
      count_[cell * width + static_cast<std::size_t>(x_[static_cast<std::size_t>(row)])] += 1;
    }
    const auto n = static_cast<double>(rows_.size());
    ChiSquared out;
    double seen = 0;
    for (std::size_t first = 0; first < count_.size(); first += width) {
      double own = 0;
      for (std::size_t l = 0; l < width; ++l) own += static_cast<double>(count_[first + l]);
      if (own == 0) continue;
      seen += 1;
      for (std::size_t l = 0; l < width; ++l) {
        if (level_[l] == 0) continue;
        const double expected = own * level_[l] / n;
        const double off = static_cast<double>(count_[first + l]) - expected;
        out.value += off * off / expected;
      }
    }
    out.degrees = (seen - 1) * (present_ - 1);
    return out;
  }

 private:
  const KeyMatrix& coarse_;
  std::span<const std::int32_t> values_;
  const Symbols& x_;
  std::span<const std::int32_t> rows_;
  std::int32_t levels_;
  std::vector<double> level_;
  double present_ = 0;
  std::vector<std::int32_t> count_;
};

// What a tuple tells beyond its parts, by inclusion and exclusion: exact for independent columns and weak
// leaks.
ChiSquared beyond(const std::map<std::vector<Index>, ChiSquared>& known, const std::vector<Index>& part,
                  const ChiSquared& whole) {
  ChiSquared out = whole;
  const auto take = [&](std::vector<Index> of, double sign) {
    const ChiSquared& own = known.at(of);
    out.value += sign * own.value;
    out.degrees += sign * own.degrees;
  };
  if (part.size() == 2) {
    for (const Index p : part) take({p}, -1);
    return out;
  }
  for (const Index p : part) take({p}, 1);
  take({part[0], part[1]}, -1);
  take({part[0], part[2]}, -1);
  take({part[1], part[2]}, -1);
  return out;
}

std::vector<std::vector<Index>> tuples_of(const std::vector<Index>& code, std::size_t size) {
  std::vector<std::vector<Index>> out;
  for (std::size_t a = 0; a < code.size(); ++a) {
    for (std::size_t b = a + 1; b < code.size(); ++b) {
      if (size == 2) out.push_back({code[a], code[b]});
      for (std::size_t c = b + 1; size == 3 && c < code.size(); ++c)
        out.push_back({code[a], code[b], code[c]});
    }
  }
  return out;
}

}  // namespace

std::int32_t KeyTuple::code(const KeyMatrix& coarse, std::span<const std::int32_t> part_values,
                            Index row) const {
  std::int32_t cell = 0;
  for (const Index p : part) {
    if (coarse(row, p) < 0) return -1;
    cell = cell * part_values[static_cast<std::size_t>(p)] + coarse(row, p);
  }
  return cell;
}

std::vector<KeyTuple> informative_tuples(const KeyMatrix& coarse, std::span<const std::int32_t> part_values,
                                         const Symbols& x, std::span<const std::int32_t> rows,
                                         std::int32_t levels, const std::vector<bool>& in_threes) {
  std::vector<KeyTuple> out;
  for (const std::size_t size : {std::size_t{2}, std::size_t{3}}) {
    std::vector<Index> code;
    for (Index c = 0; c < coarse.cols(); ++c) {
      if (size == 2 || in_threes.empty() || in_threes[static_cast<std::size_t>(c)]) code.push_back(c);
    }
    const auto count = static_cast<double>(code.size());
    const double pairs = count * (count - 1) / 2;
    const double tuples = size == 2 ? pairs : pairs * (count - 2) / 3;
    if (tuples < 1) break;
    auto room = static_cast<Index>(std::min(kMostVisits / tuples, static_cast<double>(kMostRows)));
    if (size == 2 && tuples <= kMostPairs) room = std::max(room, kLeastRows);
    if (room < kLeastRows) break;
    const auto looked_at = static_cast<std::size_t>(std::min(room, static_cast<Index>(rows.size())));
    const auto most_counts = kCountsPerRow * static_cast<std::int64_t>(looked_at);
    Looked looked(coarse, part_values, x, rows.first(looked_at), levels);
    std::map<std::vector<Index>, ChiSquared> known;
    for (const Index a : code) known[{a}] = looked.test({a});
    for (const auto& pair : size == 3 ? tuples_of(code, 2) : std::vector<std::vector<Index>>{})
      known[pair] = looked.cells(pair) * levels <= most_counts ? looked.test(pair) : ChiSquared{};
    const double chance = std::sqrt(2 * std::log(tuples + 1)) + kClear;
    for (auto& part : tuples_of(code, size)) {
      const std::int64_t cells = looked.cells(part);
      if (cells * levels > most_counts) continue;
      const ChiSquared more = beyond(known, part, looked.test(part));
      if (more.degrees < 1) continue;
      const double deviations = (more.value - more.degrees) / std::sqrt(2 * more.degrees);
      if (deviations > chance) out.push_back({std::move(part), static_cast<std::int32_t>(cells), deviations});
    }
  }
  std::sort(out.begin(), out.end(),
            [](const KeyTuple& a, const KeyTuple& b) { return a.deviations > b.deviations; });
  if (out.size() > kMostTuples) out.resize(kMostTuples);
  return out;
}

}  // namespace ppan
