#include "ppan/read/dependency.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace ppan {
namespace {

// Codes of the different values of any column, missing among them.
struct Coded {
  Symbols code;
  std::int32_t levels = 0;
};

Coded coded(const TableColumn& column) {
  Coded out;
  std::unordered_map<double, std::int32_t> known;
  const std::size_t rows = is_numeric(column.type) ? column.number.size() : column.code.size();
  out.code.reserve(rows);
  const auto missing = static_cast<std::int32_t>(column.level.size());
  for (std::size_t r = 0; r < rows; ++r) {
    if (!is_numeric(column.type)) {
      out.code.push_back(column.code[r] == kMissingCode ? missing : column.code[r]);
      continue;
    }
    // All that is missing is one value; NaN does not equal itself.
    const double x =
        std::isnan(column.number[r]) ? std::numeric_limits<double>::infinity() : column.number[r];
    out.code.push_back(known.try_emplace(x, static_cast<std::int32_t>(known.size())).first->second);
  }
  out.levels = is_numeric(column.type) ? static_cast<std::int32_t>(known.size()) : missing + 1;
  return out;
}

constexpr std::int64_t kLeastRows = 10;  // of a value of the source: fewer agree by chance, and a model may
                                         // hold no value of a few people
constexpr double kLeastCovered = 0.9;    // of the rows, by such values

// Share of the rows whose value of `to` the others with the same value of `from` have most often. 0 where too
// many rows have values of few.
double explained(const Coded& from, const Coded& to) {
  std::vector<std::unordered_map<std::int32_t, std::int64_t>> count(static_cast<std::size_t>(from.levels));
  for (std::size_t r = 0; r < from.code.size(); ++r)
    ++count[static_cast<std::size_t>(from.code[r])][to.code[r]];
  std::int64_t right = 0;
  std::int64_t others = 0;
  std::int64_t covered = 0;
  for (const auto& of_level : count) {
    std::int64_t most = 0;
    std::int64_t rows = 0;
    for (const auto& entry : of_level) {
      most = std::max(most, entry.second);
      rows += entry.second;
    }
    if (rows < kLeastRows) continue;
    covered += rows;
    right += most - 1;
    others += rows - 1;
  }
  const bool enough = static_cast<double>(covered) >= kLeastCovered * static_cast<double>(from.code.size());
  return enough && others > 0 ? static_cast<double>(right) / static_cast<double>(others) : 0;
}

// In which order columns are asked what they follow from: numbers before categories, later ones first.
std::vector<std::size_t> asked_order(const Table& table) {
  std::vector<std::size_t> out;
  for (const bool numeric : {true, false}) {
    for (std::size_t c = table.columns.size(); c-- > 0;) {
      const ColumnType type = table.columns[c].type;
      if (type != ColumnType::kIdentifier && is_numeric(type) == numeric) out.push_back(c);
    }
  }
  return out;
}

}  // namespace

std::vector<Dependency> find_dependencies(const Table& table, const DependencyOptions& options) {
  std::vector<Dependency> found;
  if (table.rows == 0) return found;
  std::vector<Coded> columns;
  for (const TableColumn& column : table.columns) columns.push_back(coded(column));
  const auto name = [&](std::size_t c) { return table.columns[c].name; };
  for (const std::size_t to : asked_order(table)) {
    const double without = explained({Symbols(columns[to].code.size(), 0), 1}, columns[to]);
    const bool is_source = std::any_of(found.begin(), found.end(),
                                       [&](const Dependency& other) { return other.source == name(to); });
    if (without >= 1 || is_source) continue;
    Dependency best;
    std::int32_t most = 0;  // of two that explain it alike, the one of more values: others may follow from it
    for (std::size_t from = 0; from < columns.size(); ++from) {
      const bool derived = std::any_of(found.begin(), found.end(),
                                       [&](const Dependency& other) { return other.column == name(from); });
      if (from == to || derived || table.columns[from].type == ColumnType::kIdentifier ||
          columns[from].levels > options.most_levels)
        continue;
      const double share = explained(columns[from], columns[to]);
      if (share < options.least_share || 1 - share > options.most_unexplained * (1 - without)) continue;
      if (share < best.share || (share == best.share && columns[from].levels <= most)) continue;
      best = {name(from), name(to), share, without};
      most = columns[from].levels;
    }
    if (best.share > 0) found.push_back(best);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Dependency& a, const Dependency& b) { return a.share > b.share; });
  return found;
}

}  // namespace ppan
