#pragma once

// Columns as steps: for every value of a column, or every eighth of its rows, whether a row is there. A sum
// of such steps is any function of one column added to any of another, where a number as it is can only be
// multiplied.

#include <vector>

#include "ppan/core/matrix.h"

namespace ppan {

class LevelIndicators {
 public:
  LevelIndicators() = default;
  /// Steps of the features `values` of these rows; fewer of each where there would be more than `most` in
  /// all, none where that does not help.
  LevelIndicators(const Matrix<float>& rows, const std::vector<Index>& values, Index most);

  [[nodiscard]] Index width() const { return width_; }
  /// Rows x width(): the features themselves, then their steps.
  [[nodiscard]] Matrix<float> apply(const Matrix<float>& rows) const;

 private:
  struct Feature {
    Index index = 0;
    std::vector<float> cut;  ///< Row is at step k when k cuts are not above its value.
  };
  std::vector<Feature> feature_;
  Index width_ = 0;
};

}  // namespace ppan
