// fit_derived(): what a derived column is for each value of its source.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "ppan/core/error.h"
#include "ppan/core/problem.h"
#include "ppan/encode/encoder.h"

namespace ppan {
namespace {

constexpr std::size_t kMostSourceValues = 4096;
constexpr double kLeastExplained = 0.9;  // of the rows: below, the column would become another one

using Cell = std::pair<double, std::int32_t>;  // v and code of a derived cell
using Cells = std::map<Cell, std::int64_t>;    // how many rows have each

Cell most_frequent(const Cells& cells) {
  return std::max_element(cells.begin(), cells.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; })
      ->first;
}

std::int64_t rows_of(const Cells& cells) {
  std::int64_t sum = 0;
  for (const auto& entry : cells) sum += entry.second;
  return sum;
}

void add(const Cell& cell, ColumnEncoding& column) {
  column.derived_value.push_back(cell.first);
  column.derived_code.push_back(cell.second);
}

std::string field_of(const ColumnEncoding& column) {
  return fmt::format("columns.{}.derived_from", column.name);
}

class DerivedFit {
 public:
  DerivedFit(const EncodedRows& rows, const ColumnEncoding& source, std::int64_t least_rows)
      : source_(source), from_(rows.columns[0]), to_(rows.columns[1]), least_rows_(least_rows) {
    for (std::size_t r = 0; r < to_.code.size(); ++r) ++all_[cell(r)];
  }

  // Levels without rows have the most frequent cell of all.
  void by_level(ColumnEncoding& column) const {
    std::vector<Cells> count(static_cast<std::size_t>(source_.width()));
    for (std::size_t r = 0; r < to_.code.size(); ++r)
      ++count[static_cast<std::size_t>(from_.code[r])][cell(r)];
    for (const Cells& of_level : count) add(most_frequent(of_level.empty() ? all_ : of_level), column);
  }

  // A value stands for itself if enough people have it: the model holds it.
  void by_value(ColumnEncoding& column, ProblemList& problems) const {
    std::map<double, Cells> count;
    Cells missing;
    for (std::size_t r = 0; r < to_.code.size(); ++r)
      ++(from_.code[r] == 0 ? count[source_.decode(from_.value[r])] : missing)[cell(r)];
    for (const auto& [x, cells] : count) {
      if (rows_of(cells) < least_rows_) continue;
      column.derived_at.push_back(x);
      add(most_frequent(cells), column);
    }
    const std::size_t values = column.derived_at.size();
    problems.require(values > 0 && values <= kMostSourceValues, field_of(column),
                     fmt::format("'{}' has {} values that {} rows or more have; it must be 1 to {}",
                                 source_.name, values, least_rows_, kMostSourceValues));
    if (source_.may_be_missing) add(most_frequent(missing.empty() ? all_ : missing), column);
  }

  // Rows that are what their source says, as `column` has it.
  void check(const ColumnEncoding& column, ProblemList& problems) const {
    if (column.derived_code.empty() || (source_.numeric() && column.derived_at.empty())) return;
    std::int64_t right = 0;
    for (std::size_t r = 0; r < to_.code.size(); ++r) {
      const std::size_t place =
          column.derived_place(source_, from_.code[r], from_.value.empty() ? 0 : from_.value[r]);
      right += cell(r) == Cell(column.derived_value[place], column.derived_code[place]) ? 1 : 0;
    }
    const double share = static_cast<double>(right) / std::max(1.0, static_cast<double>(to_.code.size()));
    problems.require(
        to_.code.empty() || share >= kLeastExplained, field_of(column),
        fmt::format(
            "follows from '{}' in {:.0f} % of the rows only, and would be another column in the others",
            source_.name, std::floor(100 * share)));
  }

 private:
  [[nodiscard]] Cell cell(std::size_t row) const {
    return {to_.value.empty() ? 0 : to_.value[row], to_.code[row]};
  }

  const ColumnEncoding& source_;
  const EncodedColumn& from_;
  const EncodedColumn& to_;
  std::int64_t least_rows_;
  Cells all_;
};

}  // namespace

void fit_derived(const Table& table, std::int64_t least_rows, Encoding& encoding) {
  if (std::all_of(encoding.columns.begin(), encoding.columns.end(),
                  [](const ColumnEncoding& column) { return column.derived_from.empty(); }))
    return;
  Encoding plain = encoding;
  for (ColumnEncoding& column : plain.columns) column.derived_from.clear();
  const Encoder encoder(plain);
  ProblemList problems;
  for (ColumnEncoding& column : encoding.columns) {
    if (column.derived_from.empty()) continue;
    const std::int32_t source = encoding.index_of(column.derived_from);
    const std::vector<std::int32_t> both{source, encoding.index_of(column.name)};
    EncodedRows rows;
    encoder.encode(table, both, UnknownRow::kNearest, rows);
    const ColumnEncoding& from = plain.columns[static_cast<std::size_t>(source)];
    const DerivedFit fit(rows, from, least_rows);
    if (from.numeric()) {
      fit.by_value(column, problems);
    } else {
      fit.by_level(column);
    }
    fit.check(column, problems);
  }
  require_none(problems.take(), "these columns do not follow from others:", ErrorCode::kBadInput);
}

}  // namespace ppan
