#pragma once

// Features of rows (codebook_features()), made for the rows that are asked for. Rows are kept as numbers and
// codes: all features as one matrix take twenty times as much memory for a number with spikes, which is a
// gigabyte for a thousand columns.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/encode/layout.h"
#include "ppan/model/codebook_levels.h"

namespace ppan {

/// Copies share the rows, which never change.
class FeatureRows {
 public:
  FeatureRows() = default;
  FeatureRows(const EncodedRows& rows, const Encoding& encoding, const Layout& observed_layout,
              const std::vector<ColumnLevels>& observed);
  [[nodiscard]] Index rows() const { return rows_; }
  [[nodiscard]] Index cols() const { return cols_; }
  /// `out` is resized: features of row which[0], which[1], ...
  void gather(std::span<const std::int32_t> which, Matrix<float>& out) const;
  [[nodiscard]] Matrix<float> all() const;

 private:
  struct Column {
    Block block{};
    std::vector<float> value{};  ///< Of a number, clipped.
    Symbols code{};              ///< Of a category, or 1 where a number is missing; empty for other numbers.
    Index first_spike = 0;       ///< Its feature.
    std::int32_t spikes = 0;
    Symbols level{};  ///< Of a number with spikes.
  };

  Index rows_ = 0;
  Index cols_ = 0;
  std::shared_ptr<const std::vector<Column>> columns_{};
};

}  // namespace ppan
