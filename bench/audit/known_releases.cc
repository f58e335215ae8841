#include "known_releases.h"

#include <fmt/format.h>

#include <cmath>

#include "ppan/core/random.h"

namespace ppan::bench {
namespace {

constexpr Index kSpreadColumns = 6;
constexpr Index kPosteriorRecords = 200'000;

// The level with probability `said`, otherwise any level.
std::int32_t say(std::int32_t x, std::int32_t levels, double said, RandomSource& random) {
  return random.uniform() < said ? x : static_cast<std::int32_t>(random.index(levels));
}

// Shift of column c for level x: the same in every sample.
double shift(std::int32_t x, Index c, double strength) {
  SeededRandom fixed = SeededRandom(77).fork("shift", static_cast<std::uint64_t>(x * 100 + c));
  return strength * (2 * fixed.uniform() - 1);
}

AuditColumn text_column(const std::string& name, const std::vector<std::string>& cells) {
  return column_of_cells(name, cells, {});
}

// Columns that tell nothing.
void add_others(Index rows, RandomSource& random, AuditTable& table) {
  Matrix<double> normal(rows, 2);
  fill_normal(random, normal);
  std::vector<std::string> town;
  std::vector<std::string> age;
  for (Index i = 0; i < rows; ++i) {
    town.push_back(fmt::format("town {}", random.index(7)));
    age.push_back(fmt::format("{}", 18 + random.index(70)));
  }
  table.columns.push_back(column_of_numbers("height", normal.col(0)));
  table.columns.push_back(text_column("town", town));
  table.columns.push_back(text_column("age", age));
}

// Rounded to three decimals: in all its digits, the sum of a normal number and a shift gives the shift away
// by its last bits (boosted trees found 0.11 nats where the values themselves tell 0.035).
double spread_value(double normal, std::int32_t x, Index c, double strength) {
  return std::round((normal + shift(x, c, strength)) * 1000) / 1000;
}

void add_spread(const KnownRelease& release, const Symbols& x, RandomSource& random, AuditTable& table) {
  Matrix<double> value(static_cast<Index>(x.size()), kSpreadColumns);
  fill_normal(random, value);
  for (Index c = 0; c < kSpreadColumns; ++c) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      const auto row = static_cast<Index>(i);
      value(row, c) = spread_value(value(row, c), x[i], c, release.strength);
    }
    table.columns.push_back(column_of_numbers(fmt::format("value {}", c + 1), value.col(c)));
  }
}

// Of a channel that says x with probability s and otherwise draws any of m levels.
double channel_information(double m, double s) {
  const double own = s + (1 - s) / m;
  const double other = (1 - s) / m;
  return own * std::log(m * own) + (other > 0 ? (m - 1) * other * std::log(m * other) : 0);
}

double spread_information(const KnownRelease& release) {
  Matrix<double> shifts(release.levels, kSpreadColumns);
  for (std::int32_t l = 0; l < release.levels; ++l) {
    for (Index c = 0; c < kSpreadColumns; ++c) shifts(l, c) = shift(l, c, release.strength);
  }
  SeededRandom random(99);
  Matrix<double> value(kPosteriorRecords, kSpreadColumns);
  fill_normal(random, value);
  double sum = 0;
  for (Index i = 0; i < kPosteriorRecords; ++i) {
    const auto x = static_cast<Index>(random.index(release.levels));
    const Vector<double> z = value.row(i) + shifts.row(x);
    const Vector<double> score = -0.5 * (shifts.rowwise() - z.transpose()).rowwise().squaredNorm();
    const double most = score.maxCoeff();
    sum += score[x] - most - std::log((score.array() - most).exp().sum()) + std::log(release.levels);
  }
  return sum / static_cast<double>(kPosteriorRecords);
}

}  // namespace

std::vector<KnownRelease> known_releases() {
  std::vector<KnownRelease> out;
  const auto add = [&](const char* name, Hidden hidden, std::int32_t levels, Index rows, double strength) {
    out.push_back({fmt::format("{}, {} levels, {} rows, {:g}", name, levels, rows, strength), hidden, levels,
                   rows, strength});
  };
  for (const auto& [levels, rows, strength] :
       {std::tuple{2, 500, 0.3}, {2, 5000, 0.15}, {10, 2000, 0.2}, {40, 5000, 0.25}})
    add("one column", Hidden::kOneColumn, levels, rows, strength);
  for (const auto& [levels, rows, strength] :
       {std::tuple{2, 1000, 0.5}, {2, 20000, 0.2}, {4, 3000, 0.4}, {10, 50000, 0.3}})
    add("interaction", Hidden::kInteraction, levels, rows, strength);
  for (const auto& [levels, rows, strength] :
       {std::tuple{2, 1000, 0.6}, {2, 5000, 0.3}, {5, 20000, 0.3}, {20, 50000, 0.2}})
    add("digits", Hidden::kDigits, levels, rows, strength);
  for (const auto& [levels, rows, strength] :
       {std::tuple{2, 2000, 0.05}, {2, 50000, 0.02}, {10, 5000, 0.05}, {40, 20000, 0.1}})
    add("few rows", Hidden::kFewRows, levels, rows, strength);
  for (const auto& [levels, rows, strength] :
       {std::tuple{2, 500, 0.4}, {2, 10000, 0.2}, {10, 4000, 0.5}, {36, 3800, 1.0}})
    add("spread", Hidden::kSpread, levels, rows, strength);
  return out;
}

AuditInput draw(const KnownRelease& release, std::uint64_t seed) {
  SeededRandom random = SeededRandom(seed).fork("known-release");
  AuditInput input;
  Symbols x;
  for (Index i = 0; i < release.rows; ++i)
    x.push_back(static_cast<std::int32_t>(random.index(release.levels)));
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (const std::int32_t own : x) {
    if (release.hidden == Hidden::kOneColumn) {
      first.push_back(fmt::format("{}", say(own, release.levels, release.strength, random)));
    } else if (release.hidden == Hidden::kInteraction) {
      const auto a = static_cast<std::int32_t>(random.index(release.levels));
      first.push_back(fmt::format("a{}", a));
      second.push_back(
          fmt::format("b{}", (say(own, release.levels, release.strength, random) + a) % release.levels));
    } else if (release.hidden == Hidden::kDigits) {
      // Endings that have the same remainder stand for the same level.
      const std::int32_t said = say(own, release.levels, release.strength, random);
      const auto ending = said + release.levels * random.index(100 / release.levels);
      first.push_back(fmt::format("{}{:02}", 100 + random.index(800), ending));
    } else if (release.hidden == Hidden::kFewRows) {
      first.push_back(random.uniform() < release.strength ? fmt::format("s{}", own) : "-");
    }
  }
  if (!first.empty()) input.released.columns.push_back(text_column("first", first));
  if (!second.empty()) input.released.columns.push_back(text_column("second", second));
  if (release.hidden == Hidden::kSpread) add_spread(release, x, random, input.released);
  add_others(release.rows, random, input.released);
  input.sensitive.push_back(column_of_codes("x", x, release.levels));
  return input;
}

double true_leakage(const KnownRelease& release) {
  if (release.hidden == Hidden::kSpread) return spread_information(release);
  if (release.hidden == Hidden::kFewRows) return release.strength * std::log(release.levels);
  return channel_information(release.levels, release.strength);
}

}  // namespace ppan::bench
