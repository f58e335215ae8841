#pragma once

// Numbers as the players of heads see them: the number v itself and, for each of some bins, how far through
// the bin it is,
//
//     e_t(v) = clamp((v - k_t) / (k_{t+1} - k_t), 0, 1) - 1/2,
//
// the piecewise-linear encoding of Gorishniy, Rubachev and Babenko (2022, "On embeddings for numerical
// features in tabular deep learning"), knots k by quantiles. A player that sees a number as one input misses
// steps in it, which boosted trees find, and a mechanism that is trained against it does not hide them.

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/table/heads_shape.h"

namespace ppan {

template <typename Scalar>
class NumberCodes {
 public:
  NumberCodes() = default;
  explicit NumberCodes(const std::vector<HeadNumber>& numbers);

  /// Inputs of all numbers together.
  [[nodiscard]] Index inputs() const { return first_.back(); }
  /// Inputs of number n: from first(n) to before first(n + 1).
  [[nodiscard]] Index first(std::size_t n) const { return first_[n]; }
  /// The inputs of number n at v.
  void encode(std::size_t n, Scalar v, Scalar* out) const;
  /// All of them: `v` is numbers x rows, `out` inputs x rows.
  void encode(const Matrix<Scalar>& v, Matrix<Scalar>& out) const;
  /// From the gradient in the inputs of number n (inputs of all numbers x rows) to that in the indicators of
  /// its levels, levels x rows: each level with the mean of what it would be released as.
  void of_levels(std::size_t n, const Matrix<Scalar>& gradient, Matrix<Scalar>& out) const;

 private:
  std::vector<Index> first_{0};
  std::vector<Vector<Scalar>> knots_;
  std::vector<Matrix<Scalar>> mean_;  // of the inputs of each level, inputs x levels
};

/// Knots for values of training rows: fewer bins for few rows, and for many numbers. Empty where one bin
/// would be left.
Vector<float> number_knots(std::vector<double> values, std::size_t numbers);

}  // namespace ppan
