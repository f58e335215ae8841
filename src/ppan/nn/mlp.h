#pragma once

// A multilayer perceptron: A_l = f(A_{l-1} W_l + b_l), the last layer linear (heads apply their own
// function). It holds its shape and nothing else. Parameters are a part of a flat vector owned by the caller,
// layer after layer, W_l column-major then b_l. So an optimiser, a checkpoint and a model file each see one
// array.

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/nn/activation.h"

namespace ppan {

struct MlpShape {
  Index inputs = 1;
  std::vector<Index> hidden;  ///< Units of each hidden layer; empty: a linear map.
  Index outputs = 1;
  Activation activation = Activation::kRelu;  ///< Of the hidden layers.
  bool bias = true;
  /// A direct linear path from input to output, added to the last layer: the linear part need not be learned
  /// through the hidden units. Its inputs x outputs weights follow those of the layers.
  bool skip = false;

  [[nodiscard]] Problems check() const;
};

/// Layer values of one forward pass, and memory for the backward pass. Reused: after the first pass with a
/// given number of rows, nothing is allocated.
template <typename Scalar>
struct MlpWorkspace {
  std::vector<Matrix<Scalar>> layer;  ///< Output of each layer; the last is the output of the network.
  std::vector<Matrix<Scalar>> delta;  ///< Gradient in front of each hidden layer's activation.
  Matrix<Scalar> skip;                ///< Output of the direct path.
  Matrix<Scalar> skip_delta;          ///< Gradient at the input that comes through it.
};

template <typename Scalar>
class Mlp {
 public:
  Mlp() = default;
  explicit Mlp(MlpShape shape);

  [[nodiscard]] const MlpShape& shape() const { return shape_; }
  [[nodiscard]] Index parameter_count() const { return parameter_count_; }

  /// Weights uniform on +-sqrt(6 / (fan-in + fan-out)) (Glorot, Bengio 2010), biases 0. With a direct
  /// path the last layer starts at 0, so that the network starts linear and departs from it only as it
  /// learns.
  void initialise(RandomSource& random, Scalar* parameters) const;

  const Matrix<Scalar>& forward(const Scalar* parameters, const Matrix<Scalar>& input,
                                MlpWorkspace<Scalar>& workspace) const;

  /// After forward() with the same arguments. `output_gradient` has the shape of the output. Fills
  /// `parameter_gradient` (parameter_count() numbers) and `input_gradient`; either may be null and is then
  /// not computed.
  void backward(const Scalar* parameters, const Matrix<Scalar>& input, const Matrix<Scalar>& output_gradient,
                MlpWorkspace<Scalar>& workspace, Scalar* parameter_gradient,
                Matrix<Scalar>* input_gradient) const;

 private:
  struct Layer {
    Index inputs;
    Index outputs;
    Index weight_offset;
    Index bias_offset;  // meaningful only with shape_.bias
  };
  MlpShape shape_;
  std::vector<Layer> layers_;
  Index skip_offset_ = 0;  // meaningful only with shape_.skip
  Index parameter_count_ = 0;
};

}  // namespace ppan
