#include "ppan/trade_off/row_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "ppan/core/matrix.h"

namespace ppan {
namespace {

constexpr Index kMostBlocks = 50;
constexpr Index kRowsPerCell = 10;  // expected rows of a block and level, at the least
constexpr double kClear = 3.9;      // normal deviations: 1 in 20,000 on one side
constexpr std::int32_t kNumberLevels = 4;

// The column as a few frequent levels; the rest is one more.
std::vector<std::int32_t> levels_of(const TableColumn& column, std::int64_t rows, std::int32_t& levels) {
  std::vector<std::int32_t> code(static_cast<std::size_t>(rows), 0);
  if (!column.number.empty()) {
    std::vector<std::size_t> order(code.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double x = column.number[a];
      const double y = column.number[b];
      return std::isnan(y) ? !std::isnan(x) : x < y;
    });
    // Equal numbers share a class: that of the first of them, so that ties tell nothing of their place.
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool tie = k > 0 && column.number[order[k]] == column.number[order[k - 1]];
      code[order[k]] = tie ? code[order[k - 1]] : static_cast<std::int32_t>(kNumberLevels * k / order.size());
    }
    levels = kNumberLevels;
    return code;
  }
  constexpr std::int32_t kMostLevels = 8;
  std::vector<std::int64_t> count(column.level.size(), 0);
  for (const std::int32_t c : column.code) {
    if (c >= 0) ++count[static_cast<std::size_t>(c)];
  }
  std::vector<std::int32_t> rank(count.size());
  std::iota(rank.begin(), rank.end(), 0);
  std::stable_sort(rank.begin(), rank.end(), [&](std::int32_t a, std::int32_t b) {
    return count[static_cast<std::size_t>(a)] > count[static_cast<std::size_t>(b)];
  });
  std::vector<std::int32_t> shown(count.size(), kMostLevels - 1);
  for (std::size_t r = 0; r < rank.size() && r + 1 < kMostLevels; ++r)
    shown[static_cast<std::size_t>(rank[r])] = static_cast<std::int32_t>(r);
  for (std::size_t i = 0; i < code.size(); ++i)
    code[i] = column.code[i] < 0 ? kMostLevels - 1 : shown[static_cast<std::size_t>(column.code[i])];
  levels = kMostLevels;
  return code;
}

// How far G lies above what chance gives, in normal deviations (Wilson and Hilferty's cube root), and what it
// says.
struct OrderTest {
  double deviations = 0;
  double nats = 0;
};
std::optional<OrderTest> test_order(const std::vector<std::int32_t>& code, std::int32_t levels) {
  const auto rows = static_cast<Index>(code.size());
  Vector<double> share = Vector<double>::Zero(levels);
  for (const std::int32_t c : code) share[c] += 1;
  const Index used = (share.array() > 0).count();
  if (used < 2) return std::nullopt;
  double rarest = static_cast<double>(rows);
  for (Index l = 0; l < levels; ++l) {
    if (share[l] > 0) rarest = std::min(rarest, share[l]);
  }
  const Index blocks = std::min<Index>(kMostBlocks, static_cast<Index>(rarest) / kRowsPerCell);
  if (blocks < 2) return std::nullopt;
  Matrix<double> joint = Matrix<double>::Zero(blocks, levels);
  for (Index i = 0; i < rows; ++i) joint(i * blocks / rows, code[static_cast<std::size_t>(i)]) += 1;
  const Vector<double> size = joint.rowwise().sum();
  double g = 0;
  for (Index b = 0; b < blocks; ++b) {
    for (Index l = 0; l < levels; ++l) {
      if (joint(b, l) > 0)
        g += 2 * joint(b, l) * std::log(joint(b, l) * static_cast<double>(rows) / (size[b] * share[l]));
    }
  }
  const auto freedom = static_cast<double>((blocks - 1) * (used - 1));
  const double spread = 2 / (9 * freedom);
  return OrderTest{(std::cbrt(g / freedom) - (1 - spread)) / std::sqrt(spread),
                   std::max(0.0, g - freedom) / (2 * static_cast<double>(rows))};
}

}  // namespace

std::vector<std::string> row_order_notices(const Table& table, const Schema& schema) {
  std::vector<std::string> out;
  if (schema.group) return out;  // rows of one person lie side by side, and are held together
  for (const std::string& name : schema.hidden_columns()) {
    const TableColumn* column = table.find(name);
    if (column == nullptr) continue;
    std::int32_t levels = 0;
    const std::vector<std::int32_t> code = levels_of(*column, table.rows, levels);
    const std::optional<OrderTest> found = test_order(code, levels);
    if (!found || found->deviations < kClear) continue;
    out.push_back(fmt::format(
        "the order of the rows is informative about \"{}\" (at least about {:.2g} nats, {:.1f} standard "
        "deviations above "
        "chance), and a release keeps it: shuffle the rows before they are released",
        name, found->nats, found->deviations));
  }
  return out;
}

}  // namespace ppan
