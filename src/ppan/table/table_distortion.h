#pragma once

// What a release of a table costs, in the game. Each released column has a head on the network's output:
//
//     category   logits l of its levels, p = softmax(l);  cost  1 - p(y)
//     number     v';                                      cost  (v - v')^2, in variances of the column
//     number or  v' and a logit m, q = sigmoid(m);        cost  present: (1 - q) (v - v')^2 + q
//     missing                                                   missing: 1 - q
//
// and the total is their mean, weighted with the columns' weights. The category's cost is the probability
// that the cell changes when its level is drawn from p. It is linear in p, so p tends to certainty as
// training goes on, and the release takes the likeliest level, which costs least.
//
// The adversary of the game sees the code (or all of the network's output), of which the released cells are a
// function: categories need no draws in training and no relaxation of them.

#include <memory>

#include "ppan/encode/layout.h"
#include "ppan/game/distortion.h"

namespace ppan {

enum class CategoryCost {
  kError,         ///< 1 - p(y): the distortion.
  kCrossEntropy,  ///< -log p(y), in place of every probability above: teaches the heads before the game
                  ///< begins, when the slope of 1 - p(y) is still next to nothing.
};

/// The useful attribute is the encoded matrix of the same layout.
template <typename Scalar>
class TableDistortion final : public Distortion<Scalar> {
 public:
  explicit TableDistortion(Layout layout, CategoryCost cost = CategoryCost::kError);

  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override;
  void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, const Matrix<Scalar>& d_value,
                DrawsGradient<Scalar>& gradient) override;

 private:
  Layout layout_;  // weights sum to 1
  CategoryCost cost_;
  Matrix<Scalar> slope_;  // derivative of each row's cost in the outputs
};

/// Finite form: d(y, z) between the cells of the joint alphabet of the released columns.
template <typename Scalar>
class CellDistortion final : public Distortion<Scalar> {
 public:
  explicit CellDistortion(Matrix<Scalar> distortion) : distortion_(std::move(distortion)) {}
  void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful, Matrix<Scalar>& value) override;
  void backward(const Draws<Scalar>& /*draws*/, const Attribute<Scalar>& /*useful*/,
                const Matrix<Scalar>& /*d_value*/, DrawsGradient<Scalar>& /*gradient*/) override {
    // Symbols do not move; the weights carry the gradient.
  }

 private:
  Matrix<Scalar> distortion_;  // |Y| x |Z|
};

/// The weighted share of the columns in which two cells of the joint alphabet differ.
template <typename Scalar>
Matrix<Scalar> cell_distortion(const Encoding& encoding, std::span<const std::int32_t> columns);

/// The same layout with weights of sum 1.
Layout with_unit_weights(Layout layout);

}  // namespace ppan
