#pragma once

// What single columns tell, and what something else tells beyond them. The attribute is modelled by a sum of
// contributions of the columns, each a table of counts, fitted by iterative scaling: afterwards every value
// of every column has as many rows of every level as the model expects. What differs from that in the values
// of another code is beyond the columns (a score test).

#include <cstdint>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/records.h"

namespace ppan {

class AdditiveFit {
 public:
  AdditiveFit(const Symbols& x, std::int32_t levels);

  /// Adds a column: a code from 0 to values - 1 for each row.
  void add(Symbols code, std::int32_t values);
  /// Goes through all columns once.
  void sweep();
  /// How far a code of the rows is from what the columns explain: standard deviations of a normal number, by
  /// the cube root of chi-squared (Wilson and Hilferty, 1931).
  [[nodiscard]] double beyond(const Symbols& code, std::int32_t values) const;
  /// Truth less expectation, levels x rows.
  [[nodiscard]] const Matrix<float>& residual() const { return residual_; }
  [[nodiscard]] const Matrix<float>& expected() const { return probability_; }  ///< Levels x rows.

 private:
  struct Column {
    Symbols code;
    std::int32_t values = 0;
  };
  void scale(const Column& column);
  void normalise();

  const Symbols& x_;
  std::int32_t levels_;
  Vector<float> prior_;
  std::vector<Column> columns_;
  Matrix<float> logit_;  // levels x rows
  Matrix<float> probability_;
  Matrix<float> residual_;
};

}  // namespace ppan
