#include "ppan/audit/alignment.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

namespace ppan {
namespace {

constexpr double kClearly = 5;   // standard deviations: once in three million pairs of unrelated tables
constexpr Index kMostShift = 5;  // rows that a table may have been moved by
constexpr Index kLeastRows = 20;

// A column as numbers of mean 0 and variance 1 for each of its sides: ranks of numbers, or one indicator for
// each of the most frequent levels. The mean product of two such sides is their correlation.
Vector<double> standardised(Vector<double> side) {
  side.array() -= side.mean();
  const double norm = side.norm();
  return norm > 0 ? Vector<double>(side / norm) : Vector<double>(Vector<double>::Zero(side.size()));
}

Vector<double> ranks(const Vector<double>& value) {
  std::vector<Index> order(static_cast<std::size_t>(value.size()));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index a, Index b) {
    const double x = std::isnan(value[a]) ? -HUGE_VAL : value[a];
    const double y = std::isnan(value[b]) ? -HUGE_VAL : value[b];
    return x < y;
  });
  Vector<double> rank(value.size());
  for (std::size_t i = 0; i < order.size();) {
    std::size_t end = i;
    while (end < order.size() && (value[order[end]] == value[order[i]] ||
                                  (std::isnan(value[order[end]]) && std::isnan(value[order[i]]))))
      ++end;
    for (std::size_t k = i; k < end; ++k) rank[order[k]] = 0.5 * static_cast<double>(i + end);
    i = end;
  }
  return rank;
}

std::string text_of(const AuditColumn& column, Index row) {
  if (column.has_text())
    return column.level[static_cast<std::size_t>(column.code[static_cast<std::size_t>(row)])];
  return std::to_string(column.number[row]);
}

// Pairs of sides of the two columns that should go together.
struct Sides {
  std::vector<Vector<double>> original;
  std::vector<Vector<double>> released;
};

void add_sides(const AuditColumn& original, const AuditColumn& released, Sides& sides) {
  constexpr std::size_t kMostLevels = 12;
  if (original.numeric() && released.numeric()) {
    sides.original.push_back(standardised(ranks(original.number)));
    sides.released.push_back(standardised(ranks(released.number)));
    return;
  }
  std::unordered_map<std::string, Index> count;
  for (Index i = 0; i < original.rows(); ++i) ++count[text_of(original, i)];
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [text, rows] : count) order.emplace_back(-rows, text);
  std::sort(order.begin(), order.end());
  order.resize(std::min(order.size(), kMostLevels));
  for (const auto& [rows, text] : order) {
    Vector<double> a(original.rows());
    Vector<double> b(original.rows());
    for (Index i = 0; i < original.rows(); ++i) {
      a[i] = text_of(original, i) == text ? 1 : 0;
      b[i] = text_of(released, i) == text ? 1 : 0;
    }
    sides.original.push_back(standardised(a));
    sides.released.push_back(standardised(b));
  }
}

// Sum of the correlations when row i of the release stands beside row i + shift of the original.
double agreement_at(const Sides& sides, Index shift) {
  double sum = 0;
  for (std::size_t s = 0; s < sides.original.size(); ++s) {
    const Index rows = sides.original[s].size() - std::abs(shift);
    sum += shift >= 0 ? sides.original[s].tail(rows).dot(sides.released[s].head(rows))
                      : sides.original[s].head(rows).dot(sides.released[s].tail(rows));
  }
  return sum;
}

}  // namespace

bool Alignment::by_chance() const {
  return !compared.empty() && (deviations < kClearly || shift != 0);
}

Alignment compare_rows(const AuditTable& original, const AuditTable& released) {
  Alignment out;
  const Index rows = released.rows();
  if (original.rows() != rows || rows < kLeastRows) return out;
  Sides sides;
  for (const AuditColumn& column : released.columns) {
    const AuditColumn* other = original.find(column.name);
    if (other == nullptr || other->numeric() != column.numeric()) continue;
    const std::size_t before = sides.original.size();
    add_sides(*other, column, sides);
    bool varies = false;
    for (std::size_t s = before; s < sides.original.size(); ++s)
      varies = varies || (sides.original[s].norm() > 0 && sides.released[s].norm() > 0);
    if (varies) out.compared.push_back(column.name);
  }
  if (out.compared.empty()) return out;
  // Under random pairing a correlation has mean 0 and variance 1 / (rows - 1); those of one table depend on
  // each other, so the variance of the sum is measured on rows paired at a distance.
  const double here = agreement_at(sides, 0);
  double square = 0;
  int count = 0;
  for (Index k = 1; k <= 40; ++k) {
    const Index distance = rows * k / 41;
    if (distance <= kMostShift || rows - distance < rows / 20) continue;
    const double far = agreement_at(sides, distance) + agreement_at(sides, distance - rows);
    square += far * far;
    ++count;
  }
  const double deviation =
      std::max(std::sqrt(square / std::max(1, count)), std::sqrt(1.0 / static_cast<double>(rows)));
  out.deviations = here / deviation;
  for (Index shift = -kMostShift; shift <= kMostShift; ++shift) {
    if (shift != 0 && agreement_at(sides, shift) > std::max(here, 0.0) + kClearly * deviation &&
        agreement_at(sides, shift) > 1.2 * here)
      out.shift = shift;
  }
  return out;
}

double agreement(const AuditColumn& original, const AuditColumn& released) {
  Index same = 0;
  Index both = 0;
  for (Index i = 0; i < released.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (original.missing[row] || released.missing[row]) continue;
    ++both;
    const bool equal = original.numeric() && released.numeric()
                           ? original.number[i] == released.number[i]
                           : text_of(original, i) == text_of(released, i);
    if (equal) ++same;
  }
  return both == 0 ? 0 : static_cast<double>(same) / static_cast<double>(both);
}

}  // namespace ppan
