#pragma once

// How cells become numbers and back. An Encoding is a plain value, fitted once on the training table and
// stored in the model; without a mechanism in between, decoding what was encoded gives the table back, except
// that grouped levels stay grouped.
//
// Numbers.  v = (g(r(x)) - mean) / scale, with r the rounding to the column's grid and g the identity, or for
// heavy tails the normal score of the rank:
//     g(x) = Phi^-1((values below x + half the values equal to x) / values),
// at up to 321 knots, linear in between. Ranks are used when the column says so, or by default when
// |skewness| > 2 or a value lies more than 8 standard deviations from the mean. Back: the inverse, clamped to
// the range, on the grid. A column with missing values has a second output, 1 where the value is missing; v
// is then 0.
//
// Grid.  The digits of a number can reveal more than its value (who rounds and who does not), so nothing
// finer than the grid enters or leaves a mechanism. A column declares it, or it is the coarsest step of 1, 2,
// 5 x 10^k whose rounding costs at most `grid_cost`, as mean squared error of v (whose variance is 1). A
// column of at most 256 different values, nearly all of which `min_rows` people share, keeps them: its grid
// is that of its written decimals.
//
// No single person.  Range and knots are based on at least `min_rows` rows each. The range ends where that
// many rows lie at or beyond it (if they do not share one value, at the mean of `min_rows` values further
// inside). A knot is the mean of at least that many neighbouring values.
//
// Categories.  Codes 0..levels-1, most frequent first. Levels that fewer than `min_rows` rows have, and those
// beyond `max_levels`, form one grouped level; if that has too few rows itself, the next rarest levels join
// it. Missing is a level of its own. The grouped and the missing level count towards `max_levels` and come
// last.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/read/schema.h"
#include "ppan/read/table.h"

namespace ppan {

struct EncodingOptions {
  std::int64_t max_levels = 64;  ///< Of a category, grouped and missing level included. 2 to 4096.
  std::int64_t min_rows = 5;     ///< Rows behind every level, end of a range and knot. At least 1.
  double grid_cost = 0.0005;     ///< What an automatic grid may cost, as a share of the variance. 0 to 0.1.
  std::string other = "other";   ///< Text of the grouped level. A level of this name joins it.
  std::vector<std::string> missing{};  ///< Markers of "no value" for every column.
  [[nodiscard]] Problems check() const;
};

struct ColumnEncoding {
  std::string name{};
  ColumnType type = ColumnType::kCategory;  ///< Integer, real or category.
  double weight = 1;                        ///< Importance in the distortion.
  std::vector<std::string> missing{};       ///< Markers of "no value".
  std::string missing_text{};               ///< How a missing value is written.

  // Numbers.
  bool may_be_missing = false;  ///< There is a second output that indicates it.
  std::vector<double> knot{};   ///< Ranks: increasing values, and ...
  std::vector<double> score{};  ///< ... their increasing scores. Both empty: g is the identity.
  double mean = 0;              ///< Of g over the training rows.
  double scale = 1;             ///< Standard deviation of g over the training rows; 1 if that is 0.
  double least = 0;             ///< Range of what is released, on the grid.
  double most = 0;
  double grid = 0;  ///< Released values are its multiples. 0: none (older models).
  NumberFormat format{};

  // Categories.
  std::vector<std::string> levels{};          ///< Text of each level.
  std::vector<double> share{};                ///< Share of the training rows with each level, to 3 decimals.
  std::optional<std::int32_t> other_level{};  ///< The grouped level.
  std::optional<std::int32_t> missing_level{};

  // Derived columns: what the column is for each level of another one; of a number, for each of `derived_at`
  // (the nearest counts) and, if that number may be missing, then for a missing one.
  std::string derived_from{};           ///< Empty: not derived.
  std::vector<double> derived_at{};     ///< Increasing values of a source that is a number.
  std::vector<double> derived_value{};  ///< Numbers: v, 0 where missing.
  Symbols derived_code{};

  [[nodiscard]] bool numeric() const { return is_numeric(type); }
  /// Columns of an encoded matrix: 1 or 2 for numbers, one for each level of a category.
  [[nodiscard]] std::int32_t width() const;

  /// x on the grid, within the range.
  [[nodiscard]] double round(double x) const;
  /// v of round(x).
  [[nodiscard]] double encode(double x) const;
  /// v of x itself, without grid and range: the difference from encode() is the cost of rounding.
  [[nodiscard]] double encode_exactly(double x) const;
  /// x of v, clamped and on the grid. A v that is not finite gives the mean.
  [[nodiscard]] double decode(double v) const;
  /// Place in derived_value and derived_code for a cell of `source`: its code, and v of a number.
  [[nodiscard]] std::size_t derived_place(const ColumnEncoding& source, std::int32_t code, double v) const;

  [[nodiscard]] Problems check() const;
  friend bool operator==(const ColumnEncoding&, const ColumnEncoding&) = default;
};

struct Encoding {
  std::vector<ColumnEncoding> columns{};

  /// Number of a column. Throws Error(kInternal) for a name that is not there.
  [[nodiscard]] std::int32_t index_of(std::string_view name) const;
  [[nodiscard]] std::vector<std::int32_t> indices_of(std::span<const std::string> names) const;
  [[nodiscard]] Problems check() const;
  friend bool operator==(const Encoding&, const Encoding&) = default;
};

/// Fills in what the derived columns of `encoding` are for the levels of their sources: the most frequent
/// cell among the rows of the level.
void fit_derived(const Table& table, std::int64_t least_rows, Encoding& encoding);

/// Fits the columns of `specs`, which are neither identifiers nor absent from `table`. Throws
/// Error(kBadInput) for a table without rows or a numeric column without numbers.
Encoding fit_encoding(const Table& table, std::span<const ColumnSpec> specs, const EncodingOptions& options);

nlohmann::json to_json(const Encoding& encoding);
/// Throws Error(kBadInput) unless `json` is what to_json writes, every check() passed.
Encoding encoding_from_json(const nlohmann::json& json);

}  // namespace ppan
