#include "ppan/audit/linear_residuals.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace ppan {
namespace {

constexpr std::size_t kMostColumns = 40;
constexpr std::size_t kMostLevels = 3;   // that a regression is fitted for
constexpr std::size_t kLeastRows = 50;   // beside ten for each column
constexpr double kFarOut = 30;           // in quarter ranges: one such cell would make the fit
constexpr double kRidge = 1e-7;          // of the variance: columns may say the same
constexpr double kLeastWeight = 0.0005;  // in deviations: what is less is left out

// The columns as the regression sees them, rows x columns; NaN where there is none.
struct Numbers {
  Matrix<double> cell;
  Vector<double> middle;
  Vector<double> scale;
};

Numbers standardised(const Matrix<double>& number, std::span<const Index> columns,
                     std::span<const std::int32_t> rows, bool logarithm) {
  Numbers out;
  const auto width = static_cast<Index>(columns.size());
  out.cell.resize(static_cast<Index>(rows.size()), width);
  out.middle.setZero(width);
  out.scale.setOnes(width);
  for (Index c = 0; c < width; ++c) {
    std::vector<double> sorted;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double own = number(rows[i], columns[static_cast<std::size_t>(c)]);
      const double value = logarithm ? std::log(own) : own;
      out.cell(static_cast<Index>(i), c) = value;
      if (!std::isnan(value)) sorted.push_back(value);
    }
    if (sorted.empty()) continue;
    std::sort(sorted.begin(), sorted.end());
    out.middle[c] = sorted[sorted.size() / 2];
    const double spread = sorted[sorted.size() * 3 / 4] - sorted[sorted.size() / 4];
    if (spread > 0) out.scale[c] = spread;
    for (Index i = 0; i < out.cell.rows(); ++i) {
      const double z = (out.cell(i, c) - out.middle[c]) / out.scale[c];
      out.cell(i, c) = std::isnan(z) ? 0 : std::clamp(z, -kFarOut, kFarOut);
    }
  }
  return out;
}

// The row of a column in the inverse of the covariance is what is left of it given all others.
void add_regressions(const Numbers& numbers, const std::vector<Index>& rows, std::span<const Index> columns,
                     std::span<const NumberColumn> names, RelationKind kind, std::vector<Relation>& out) {
  const auto width = static_cast<Index>(columns.size());
  if (rows.size() < kLeastRows + 10 * columns.size()) return;
  Vector<double> mean = Vector<double>::Zero(width);
  for (const Index i : rows) mean += numbers.cell.row(i).transpose() / static_cast<double>(rows.size());
  Matrix<double> covariance = Matrix<double>::Zero(width, width);
  for (const Index i : rows) {
    const Vector<double> off = numbers.cell.row(i).transpose() - mean;
    covariance.noalias() += off * off.transpose() / static_cast<double>(rows.size());
  }
  covariance.diagonal().array() += kRidge * (1e-3 + covariance.diagonal().array());
  const Matrix<double> inverse = covariance.llt().solve(Matrix<double>::Identity(width, width));
  if (!inverse.allFinite()) return;
  for (Index c = 0; c < width; ++c) {
    Relation relation{.kind = kind};
    const auto take = [&](Index k) {
      const double weight = inverse(c, k) / inverse(c, c);
      if (k != c && std::abs(weight) < kLeastWeight) return;
      relation.part.push_back(columns[static_cast<std::size_t>(k)]);
      relation.middle.push_back(numbers.middle[k] + mean[k] * numbers.scale[k]);
      relation.scale.push_back(weight / numbers.scale[k]);
    };
    take(c);
    for (Index k = 0; k < width; ++k) {
      if (k != c) take(k);
    }
    if (relation.part.size() < 2) continue;
    relation.column = names[static_cast<std::size_t>(relation.part[0])].name + " and the other numbers";
    out.push_back(std::move(relation));
  }
}

}  // namespace

std::vector<Relation> linear_residuals(const Matrix<double>& number, std::span<const Index> columns,
                                       std::span<const NumberColumn> names,
                                       std::span<const std::int32_t> rows, const Symbols& x,
                                       std::int32_t levels) {
  std::vector<Relation> out;
  columns = columns.first(std::min(columns.size(), kMostColumns));
  std::vector<Index> positive;
  for (const Index c : columns) {
    if (std::none_of(rows.begin(), rows.end(), [&](std::int32_t row) { return number(row, c) <= 0; }))
      positive.push_back(c);
  }
  std::vector<std::vector<Index>> of_level(static_cast<std::size_t>(levels));
  for (std::size_t i = 0; i < x.size(); ++i)
    of_level[static_cast<std::size_t>(x[i])].push_back(static_cast<Index>(i));
  std::stable_sort(of_level.begin(), of_level.end(),
                   [](const auto& a, const auto& b) { return a.size() > b.size(); });
  of_level.resize(std::min(of_level.size(), kMostLevels));
  std::vector<Index> all(rows.size());
  std::iota(all.begin(), all.end(), Index{0});
  of_level.push_back(std::move(all));
  for (const bool logarithm : {false, true}) {
    const std::span<const Index> used = logarithm ? positive : columns;
    if (used.size() < 2) continue;
    const Numbers numbers = standardised(number, used, rows, logarithm);
    for (const std::vector<Index>& part : of_level)
      add_regressions(numbers, part, used, names,
                      logarithm ? RelationKind::kLogResidual : RelationKind::kResidual, out);
  }
  return out;
}

}  // namespace ppan
