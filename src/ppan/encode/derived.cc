// fit_derived(): what a derived column is for each level of its source.

#include <algorithm>
#include <cmath>
#include <map>

#include "ppan/core/error.h"
#include "ppan/encode/encoder.h"

namespace ppan {

void fit_derived(const Table& table, Encoding& encoding) {
  if (std::all_of(encoding.columns.begin(), encoding.columns.end(),
                  [](const ColumnEncoding& column) { return column.derived_from.empty(); }))
    return;
  Encoding plain = encoding;
  for (ColumnEncoding& column : plain.columns) column.derived_from.clear();
  const Encoder encoder(plain);
  for (ColumnEncoding& column : encoding.columns) {
    if (column.derived_from.empty()) continue;
    const std::int32_t source = encoding.index_of(column.derived_from);
    const std::int32_t own = encoding.index_of(column.name);
    const std::vector<std::int32_t> both{source, own};
    EncodedRows rows;
    encoder.encode(table, both, UnknownRow::kNearest, rows);
    // The most frequent cell of each level; of levels without rows, of all.
    using Cell = std::pair<double, std::int32_t>;
    std::vector<std::map<Cell, std::int64_t>> count(
        static_cast<std::size_t>(encoding.columns[static_cast<std::size_t>(source)].width()) + 1);
    for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows); ++r) {
      const Cell cell{column.numeric() ? rows.columns[1].value[r] : 0, rows.columns[1].code[r]};
      ++count[static_cast<std::size_t>(rows.columns[0].code[r])][cell];
      ++count.back()[cell];
    }
    const auto most = [](const std::map<Cell, std::int64_t>& cells) {
      return std::max_element(cells.begin(), cells.end(),
                              [](const auto& a, const auto& b) { return a.second < b.second; })
          ->first;
    };
    for (std::size_t level = 0; level + 1 < count.size(); ++level) {
      const Cell cell = most(count[level].empty() ? count.back() : count[level]);
      column.derived_value.push_back(cell.first);
      column.derived_code.push_back(cell.second);
    }
  }
}

}  // namespace ppan
