#include "ppan/audit/relation.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ppan {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kMostWhole = 1e15;     // beyond it doubles have no last digit
constexpr double kNothing = 1e-9;       // of the cells: what is left of a difference by rounding
constexpr std::size_t kFewInGroup = 5;  // rows: no place to speak of
constexpr std::size_t kKept = 512;      // values that ranks are read off

// In units of the last digit; NaN where there is none.
double whole(double value, double unit) {
  const double scaled = value * unit;
  return unit > 0 && std::abs(scaled) < kMostWhole ? std::round(scaled) : kNone;
}

double modulo(double value, double modulus) {
  if (std::isnan(value)) return kNone;
  const double r = std::fmod(value, modulus);
  return r < 0 ? r + modulus : r;
}

double digit_sum(double value) {
  double sum = 0;
  for (double left = std::abs(value); left >= 1; left = std::floor(left / 10)) sum += std::fmod(left, 10);
  return sum;
}

double divides(double a, double b) {
  if (!(a > 1) || !(b > 1)) return kNone;
  return (std::fmod(a, b) == 0 ? 1 : 0) + (std::fmod(b, a) == 0 ? 2 : 0);
}

// Without the noise of the last binary digits, which would make equal differences different.
double settled(double value, double size) {
  return std::abs(value) < kNothing * size ? 0 : static_cast<double>(static_cast<float>(value));
}

// A cell that is missing says nothing, which is what the mean says.
double residual(const Relation& relation, const RelationRows& rows, Index row) {
  double sum = 0;
  double size = 0;
  for (std::size_t p = 0; p < relation.part.size(); ++p) {
    double cell = rows.number(row, relation.part[p]);
    if (relation.kind == RelationKind::kLogResidual) cell = cell > 0 ? std::log(cell) : kNone;
    if (std::isnan(cell)) {
      if (p == 0) return kNone;
      continue;
    }
    const double own = relation.scale[p] * (cell - relation.middle[p]);
    sum += own;
    size += std::abs(own);
  }
  return settled(sum, size);
}

}  // namespace

double Relation::value(const RelationRows& rows, Index row) const {
  if (kind == RelationKind::kPairCount) {
    const std::int64_t first = rows.keys(row, key[0]);
    const std::int64_t second = rows.keys(row, key[1]);
    if (first < 0 || second < 0) return kNone;
    const auto at = pair->find((first << 32U) + second);
    return at == pair->end() ? 0 : at->second;
  }
  const double a = rows.number(row, part[0]);
  if (std::isnan(a)) return kNone;
  if (kind == RelationKind::kResidual || kind == RelationKind::kLogResidual)
    return residual(*this, rows, row);
  if (kind == RelationKind::kWithinGroup) {
    const std::int32_t own = rows.keys(row, key[0]);
    if (own < 0 || (*group)[static_cast<std::size_t>(own)].size() < kFewInGroup) return kNone;
    const auto& others = (*group)[static_cast<std::size_t>(own)];
    const auto low = std::lower_bound(others.begin(), others.end(), a);
    const auto high = std::upper_bound(low, others.end(), a);
    return static_cast<double>((low - others.begin()) + (high - others.begin())) /
           (2 * static_cast<double>(others.size()));
  }
  if (kind == RelationKind::kRemainder) return modulo(whole(a, scale[0]), parameter);
  if (kind == RelationKind::kDigitSum) return modulo(digit_sum(whole(a, scale[0])), 10);
  if (kind == RelationKind::kPeriod) return modulo(a, parameter);
  const double b = rows.number(row, part[1]);
  if (std::isnan(b)) return kNone;
  const double size = std::abs(a) + std::abs(b);
  switch (kind) {
    case RelationKind::kOrder:
      return a < b ? -1 : a > b ? 1 : 0;
    case RelationKind::kDifference:
      return settled(a - b, size);
    case RelationKind::kSum:
      return settled(a + b, size);
    case RelationKind::kRatio:
      return b == 0 ? kNone : settled(a / b, 0);
    case RelationKind::kProduct:
      return settled((a - middle[0]) * (b - middle[1]), 0);
    case RelationKind::kScaledDifference:
      return settled((a - middle[0]) / scale[0] - (b - middle[1]) / scale[1], 1);
    case RelationKind::kScaledSum:
      return settled((a - middle[0]) / scale[0] + (b - middle[1]) / scale[1], 1);
    case RelationKind::kDistance:
      return settled(std::hypot(a - middle[0], b - middle[1]), 0);
    case RelationKind::kScaledDistance:
      return settled(std::hypot((a - middle[0]) / scale[0], (b - middle[1]) / scale[1]), 0);
    case RelationKind::kLine:
      return settled(b - parameter * a, size);
    case RelationKind::kDifferenceRemainder:
      return modulo(whole(a, scale[0]) - whole(b, scale[1]), parameter);
    case RelationKind::kSumRemainder:
      return modulo(whole(a, scale[0]) + whole(b, scale[1]), parameter);
    case RelationKind::kProductRemainder:
      return modulo(modulo(whole(a, scale[0]), parameter) * modulo(whole(b, scale[1]), parameter), parameter);
    case RelationKind::kPairOfRemainders:
      return parameter * modulo(whole(a, scale[0]), parameter) + modulo(whole(b, scale[1]), parameter);
    case RelationKind::kDivides:
      return divides(whole(a, std::max(scale[0], scale[1])), whole(b, std::max(scale[0], scale[1])));
    default:
      break;
  }
  const double c = rows.number(row, part[2]);
  if (std::isnan(c)) return kNone;
  if (kind == RelationKind::kSumOfThree) return settled(a + b + c, size + std::abs(c));
  if (kind == RelationKind::kThirdOfTwo) return settled(a + b - c, size + std::abs(c));
  return modulo(whole(a, scale[0]) + whole(b, scale[1]) + whole(c, scale[2]), parameter);
}

void Relation::learn_bins(std::vector<double> values, std::size_t bins) {
  std::erase_if(values, [](double v) { return std::isnan(v); });
  std::sort(values.begin(), values.end());
  edge.clear();
  sorted.clear();
  if (values.empty()) return;
  const auto add = [&](double value) {
    if (value > values.front() && (edge.empty() || value > edge.back())) edge.push_back(value);
  };
  double before = kNone;
  for (std::size_t b = 0; b < bins; ++b) {
    const double value = values[values.size() * b / bins];
    add(value);
    // Two quantiles in one place: so frequent a value has a bin for itself.
    if (value == before) add(std::nextafter(value, std::numeric_limits<double>::infinity()));
    before = value;
  }
  const std::size_t kept = std::min(kKept, values.size());
  for (std::size_t k = 0; k < kept; ++k) sorted.push_back(values[values.size() * k / kept]);
}

std::int32_t Relation::bin(double value) const {
  if (std::isnan(value)) return 0;
  return 1 + static_cast<std::int32_t>(std::upper_bound(edge.begin(), edge.end(), value) - edge.begin());
}

float Relation::feature(double value) const {
  if (std::isnan(value) || sorted.empty()) return 0;
  const auto low = std::lower_bound(sorted.begin(), sorted.end(), value);
  const auto high = std::upper_bound(low, sorted.end(), value);
  const double rank = static_cast<double>((low - sorted.begin()) + (high - sorted.begin())) /
                      (2 * static_cast<double>(sorted.size()));
  return static_cast<float>(std::sqrt(12.0) * (rank - 0.5));
}

}  // namespace ppan
