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

// Rows that have the most frequent value of `to` for their level of `from`.
std::int64_t explained(const Coded& from, const Coded& to) {
  std::vector<std::unordered_map<std::int32_t, std::int64_t>> count(static_cast<std::size_t>(from.levels));
  for (std::size_t r = 0; r < from.code.size(); ++r)
    ++count[static_cast<std::size_t>(from.code[r])][to.code[r]];
  std::int64_t sum = 0;
  for (const auto& of_level : count) {
    std::int64_t most = 0;
    for (const auto& entry : of_level) most = std::max(most, entry.second);
    sum += most;
  }
  return sum;
}

}  // namespace

std::vector<Dependency> find_dependencies(const Table& table, const DependencyOptions& options) {
  std::vector<Dependency> found;
  if (table.rows == 0) return found;
  std::vector<Coded> columns;
  for (const TableColumn& column : table.columns) columns.push_back(coded(column));
  const auto rows = static_cast<double>(table.rows);
  for (std::size_t to = 0; to < columns.size(); ++to) {
    if (table.columns[to].type == ColumnType::kIdentifier) continue;
    const double without =
        static_cast<double>(explained({Symbols(columns[to].code.size(), 0), 1}, columns[to])) / rows;
    if (without >= 1) continue;
    Dependency best;
    for (std::size_t from = 0; from < columns.size(); ++from) {
      const bool derived = std::any_of(found.begin(), found.end(), [&](const Dependency& other) {
        return other.column == table.columns[from].name;
      });
      if (from == to || derived || table.columns[from].type != ColumnType::kCategory ||
          columns[from].levels > options.most_levels)
        continue;
      const double share = static_cast<double>(explained(columns[from], columns[to])) / rows;
      if (share < options.least_share || 1 - share > options.most_unexplained * (1 - without)) continue;
      if (share > best.share) best = {table.columns[from].name, table.columns[to].name, share, without};
    }
    const bool is_source = std::any_of(found.begin(), found.end(),
                                       [&](const Dependency& other) { return other.source == best.column; });
    if (best.share > 0 && !is_source) found.push_back(best);
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Dependency& a, const Dependency& b) { return a.share > b.share; });
  return found;
}

}  // namespace ppan
