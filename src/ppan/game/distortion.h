#pragma once

// What a release costs in usefulness, d(y, z) >= 0, for every draw; and its gradient.

#include <memory>
#include <string_view>

#include "ppan/core/records.h"
#include "ppan/game/draws.h"
#include "ppan/game/posterior.h"

namespace ppan {

enum class DistortionKind {
  kError,              ///< 1(y != z): its mean is the probability of error. Finite Y and Z.
  kSquared,            ///< ||y - z||^2, sum over components.
  kPixelCrossEntropy,  ///< -mean_j [y_j log z_j + (1 - y_j) log(1 - z_j)], computed on the logits of z.
  kInformation,        ///< -log Q'(y|z) with a learned Q': mutual-information utility.
};

std::string_view to_string(DistortionKind kind);

template <typename Scalar>
class Distortion {
 public:
  virtual ~Distortion() = default;
  /// value(i, k) = d(y_i, draw k of record i).
  virtual void evaluate(const Draws<Scalar>& draws, const Attribute<Scalar>& useful,
                        Matrix<Scalar>& value) = 0;
  /// Adds the gradient of sum_ik d_value(i, k) value(i, k), after evaluate() with the same arguments.
  virtual void backward(const Draws<Scalar>& draws, const Attribute<Scalar>& useful,
                        const Matrix<Scalar>& d_value, DrawsGradient<Scalar>& gradient) = 0;
  /// value(i) = d(y_i, y_i), of a record released unchanged.
  virtual void unchanged(const Attribute<Scalar>& useful, Vector<Scalar>& value) const {
    value.setZero(useful.rows());
  }
  /// d(y, z) where Y and Z are finite and it is fixed: a row per y and a column for each of `released`
  /// symbols of z. Otherwise empty.
  [[nodiscard]] virtual Matrix<Scalar> table(Index /*useful*/, Index /*released*/) const { return {}; }
  /// Q' where the distortion is learned, otherwise null.
  virtual Posterior<Scalar>* learner() { return nullptr; }
  /// For the learner's own descent: gradient of sum_ik d_value(i, k) value(i, k) in its parameters.
  virtual void learner_backward(const Draws<Scalar>& /*draws*/, const Attribute<Scalar>& /*useful*/,
                                const Matrix<Scalar>& /*d_value*/, Vector<Scalar>& /*parameter_gradient*/) {}
};

/// `learner` shapes Q' of kInformation; `released_width` and `useful` give its inputs and outputs.
template <typename Scalar>
std::unique_ptr<Distortion<Scalar>> make_distortion(DistortionKind kind, const PosteriorOptions& learner,
                                                    Index released_width, const Attribute<Scalar>& useful);

/// d(y, z) from a matrix, a row per y and a column per symbol of z: sum_z matrix(y, z) released(z), which
/// also covers soft symbols. Finite Y and Z.
template <typename Scalar>
std::unique_ptr<Distortion<Scalar>> make_matrix_distortion(const MatrixRef<double>& matrix);

}  // namespace ppan
