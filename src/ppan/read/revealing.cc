#include "ppan/read/revealing.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace ppan {
namespace {

constexpr std::size_t kMostValues = 256;  // of a number that are told apart
constexpr std::size_t kBins = 32;         // otherwise
constexpr std::size_t kSecretBins = 8;    // of a number that is told about
constexpr double kPrior = 2;              // rows that every value of a column is thought to have besides

struct Coded {
  Symbols code;
  std::size_t levels = 0;
};

// Quantile bins; equal numbers share one. What is missing is the last code.
Coded binned(const std::vector<double>& number, std::size_t most_values, std::size_t bins) {
  std::vector<double> sorted;
  std::copy_if(number.begin(), number.end(), std::back_inserter(sorted),
               [](double x) { return !std::isnan(x); });
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> edge = sorted;  // each code ends at its edge
  edge.erase(std::unique(edge.begin(), edge.end()), edge.end());
  if (edge.size() > most_values) {
    edge.clear();
    for (std::size_t b = 1; b <= bins; ++b) edge.push_back(sorted[sorted.size() * b / bins - 1]);
    edge.erase(std::unique(edge.begin(), edge.end()), edge.end());
  }
  Coded out{.code = {}, .levels = edge.size() + 1};
  for (const double x : number) {
    const auto at = std::isnan(x) ? edge.end() : std::lower_bound(edge.begin(), edge.end(), x);
    out.code.push_back(static_cast<std::int32_t>(at - edge.begin()));
  }
  return out;
}

Coded coded(const TableColumn& column, std::size_t most_values, std::size_t bins) {
  if (is_numeric(column.type)) return binned(column.number, most_values, bins);
  Coded out{.code = column.code, .levels = column.level.size() + 1};
  for (std::int32_t& code : out.code) {
    if (code == kMissingCode) code = static_cast<std::int32_t>(column.level.size());
  }
  return out;
}

// Half of the rows, whatever turns they stand in (the top bit of a Fibonacci hash).
bool is_first(std::size_t row) {
  return ((row + 1) * std::uint64_t{0x9E3779B97F4A7C15} >> 63U) == 0;
}

// Log probability that the rows of one half give to those of the other, with and without the column.
struct Scores {
  double with = 0;
  double without = 0;
  double squares = 0;  // of the differences
};
void score(const Coded& column, const Coded& about, bool first, Scores& out) {
  const std::size_t rows = about.code.size();
  std::vector<double> share(about.levels, 1.0 / static_cast<double>(about.levels));
  std::map<std::pair<std::int32_t, std::int32_t>, double> together;
  std::vector<double> alone(column.levels, 0);
  double learned = 1;
  for (std::size_t r = 0; r < rows; ++r) {
    if (is_first(r) != first) continue;
    ++learned;
    ++share[static_cast<std::size_t>(about.code[r])];
    ++together[{column.code[r], about.code[r]}];
    ++alone[static_cast<std::size_t>(column.code[r])];
  }
  for (std::size_t r = 0; r < rows; ++r) {
    if (is_first(r) == first) continue;
    const double prior = share[static_cast<std::size_t>(about.code[r])] / learned;
    const auto cell = together.find({column.code[r], about.code[r]});
    const double seen = cell == together.end() ? 0 : cell->second;
    const double without = std::log(prior);
    const double with =
        std::log((seen + kPrior * prior) / (alone[static_cast<std::size_t>(column.code[r])] + kPrior));
    out.without += without;
    out.with += with;
    out.squares += (with - without) * (with - without);
  }
}

}  // namespace

std::vector<RevealingColumn> find_revealing_columns(const Table& table, const std::string& about,
                                                    std::span<const std::string> columns) {
  std::vector<RevealingColumn> out;
  if (table.rows < 2) return out;
  const Coded secret = coded(table.at(about), kSecretBins, kSecretBins);
  for (const std::string& name : columns) {
    const TableColumn& column = table.at(name);
    if (name == about || column.type == ColumnType::kIdentifier) continue;
    const Coded code = coded(column, kMostValues, kBins);
    Scores sum;
    for (const bool first : {true, false}) score(code, secret, first, sum);
    const auto rows = static_cast<double>(table.rows);
    const double gained = std::max(0.0, sum.with - sum.without);
    const double mean = (sum.with - sum.without) / rows;
    out.push_back({.column = name,
                   .about = about,
                   .nats = gained / rows,
                   .error = std::sqrt(std::max(0.0, sum.squares / rows - mean * mean) / rows),
                   .share = sum.without < 0 ? std::min(1.0, gained / -sum.without) : 0});
  }
  return out;
}

}  // namespace ppan
