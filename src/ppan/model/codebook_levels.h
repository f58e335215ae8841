#pragma once

// Columns as finitely many levels, from which the row of a codeword is drawn.
//
// A category has its levels. A number has a level for each of its spikes (values that a large share of the
// rows have: many zeros, a favourite 40) and quantile bins for the other values. A bin holds the knots of
// segments with about equal numbers of rows. Missing is a level of its own. A value is drawn uniformly within
// a segment and moved to the column's grid. A number of few different values, nearly all of which
// `least_rows` people share, has listed bins: their knots are these values, repeated by frequency, and one of
// them is drawn. The ends of the first and last bin are values that `least_rows` people reach or exceed, so
// that nobody's extreme value is released.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"

namespace ppan {

struct LevelOptions {
  std::int32_t most_bins = 32;     ///< Of a number. 1 to 1024.
  std::int32_t most_segments = 8;  ///< Of a bin. At least 1.
  double spike_share = 0.02;       ///< Share of the rows that makes a value a spike. Above 0, at most 1.
  std::int64_t least_rows = 5;  ///< People that a spike, a segment or the end of a range needs. At least 1.
  [[nodiscard]] Problems check() const;
};

struct ColumnLevels {
  std::int32_t column = 0;  ///< Of the encoding.
  bool numeric = false;
  bool may_be_missing = false;       ///< Numbers: the last level stands for "no value".
  std::int32_t category_levels = 0;  ///< Categories.
  std::vector<double> spike{};       ///< Numbers: increasing; levels 0, 1, ...
  std::vector<std::vector<double>>
      bin{};  ///< Numbers: knots, increasing within and between bins; next levels.

  bool listed = false;  ///< Numbers: the knots of a bin are all that is drawn from it.

  [[nodiscard]] std::int32_t levels() const;
  /// Level of a number after rounding to its written form.
  [[nodiscard]] std::int32_t level_of(double x) const;
  [[nodiscard]] std::int32_t missing_level() const { return levels() - 1; }
  /// Problems of levels that were read from a file.
  [[nodiscard]] Problems check() const;
  friend bool operator==(const ColumnLevels&, const ColumnLevels&) = default;
};

/// Levels of one column, fitted to encoded rows of it.
ColumnLevels fit_levels(const EncodedRows& rows, std::int32_t column, const Encoding& encoding,
                        const LevelOptions& options);

/// Level of each row.
Symbols levels_of(const EncodedRows& rows, const ColumnLevels& levels, const Encoding& encoding);

/// A cell of a level: value and code as in EncodedColumn.
struct DrawnCell {
  double value = 0;
  std::int32_t code = 0;
};
DrawnCell draw_cell(const ColumnLevels& levels, std::int32_t level, const Encoding& encoding,
                    RandomSource& random);

nlohmann::json to_json(const ColumnLevels& levels);
/// Throws Error(kBadInput) unless `json` is what to_json writes, with check() passed.
ColumnLevels levels_from_json(const nlohmann::json& json);

}  // namespace ppan
