#pragma once

// One number made of several cells of a row: a difference, a ratio, which of two is larger, the last digit of
// a sum, the remainder modulo seven, the place of a number among those of its group. Each cell may be
// independent of the attribute while such a number says it outright, and learners that split column by column
// need far more rows than an attacker who thinks of it.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ppan/audit/attacker.h"

namespace ppan {

/// A column of numbers as relations see it.
struct NumberColumn {
  std::string name;
  /// 10 to the decimals that it is written with: times this a number is whole. 0: too many decimals.
  double unit = 0;
  bool place = false;  ///< Where in the file the row stands: no cell.
};

enum class RelationKind {
  kOrder,             ///< Which of two is larger, or neither.
  kDifference,        ///< a - b.
  kSum,               ///< a + b.
  kRatio,             ///< a / b.
  kProduct,           ///< (a - median) (b - median): the sign of a correlation.
  kScaledDifference,  ///< Of the distances from the medians, in deviations.
  kScaledSum,
  kDistance,             ///< How far from both medians, as places on a map are.
  kScaledDistance,       ///< The same in deviations.
  kLine,                 ///< b - slope a, for a slope that many pairs of rows agree on.
  kDifferenceRemainder,  ///< (a - b) modulo m, in units of the last digit.
  kSumRemainder,         ///< (a + b) modulo m.
  kProductRemainder,     ///< (a b) modulo m.
  kDivides,              ///< Whether one is a multiple of the other.
  kRemainder,            ///< a modulo m.
  kDigitSum,             ///< Sum of the digits of a, modulo 10.
  kPeriod,               ///< The phase of a in a period.
  kSumOfThree,           ///< a + b + c.
  kThirdOfTwo,           ///< a + b - c.
  kSumOfThreeRemainder,  ///< (a + b + c) modulo m.
  kPairOfRemainders,     ///< a modulo m and b modulo m, as one number.
  kResidual,     ///< The first column less what the others make of it on average, in a class or in all.
  kLogResidual,  ///< The same of logarithms, for products and powers.
  kWithinGroup,  ///< The place of a among the rows of its group.
  kPairCount,    ///< How many rows have these two values together.
};

/// The rows that relations are worked out from.
struct RelationRows {
  const Matrix<double>& number;  ///< Rows x columns of numbers, NaN where there is none.
  const KeyMatrix& keys;         ///< Of which some are the exact values of a column.
};

struct Relation {
  RelationKind kind{};
  std::vector<Index> part{};     ///< Columns of numbers; for kPairCount none.
  std::vector<Index> key{};      ///< The group, or the two values.
  std::vector<double> middle{};  ///< Of each part.
  std::vector<double> scale{};   ///< Of each part: deviations, units of the last digit, or weights.
  double parameter = 0;          ///< Slope, modulus or period.
  std::string column{};          ///< "a and b".
  bool place = false;            ///< Where in the file the row stands is part of it.
  double clear = 0;              ///< What it tells beyond single columns: standard deviations above chance.
  /// kWithinGroup: the numbers of each group, sorted.
  std::shared_ptr<const std::vector<std::vector<double>>> group{};
  /// kPairCount: rows of each pair.
  std::shared_ptr<const std::unordered_map<std::int64_t, std::int32_t>> pair{};
  std::vector<double> sorted{};  ///< Some of its values on the rows that it was found on.
  std::vector<double> edge{};    ///< Least values of its bins but the first.

  /// NaN: cells are missing, or there is none.
  [[nodiscard]] double value(const RelationRows& rows, Index row) const;
  /// Sets `sorted` and `edge` from values; bins of equal share, frequent values by themselves.
  void learn_bins(std::vector<double> values, std::size_t bins);
  [[nodiscard]] std::int32_t bins() const { return static_cast<std::int32_t>(edge.size()) + 2; }
  [[nodiscard]] std::int32_t bin(double value) const;  ///< 0: no value.
  [[nodiscard]] float feature(double value) const;     ///< Its rank, of mean about 0 and deviation about 1.
};

}  // namespace ppan
