#pragma once

// A small convolutional network for attacks on images: strided convolutions with ReLU, then dense layers.
// Each convolution is one matrix product: the patches of all images of a batch are laid out as rows
// ("im2col"; K. Chellapilla, S. Puri, P. Simard, "High performance convolutional neural networks for document
// processing", 2006) and multiplied with the kernels.
//
// Layout: values of a layer are a matrix with a row per (pixel, record), the record running fastest, and a
// column per channel. The pixels of a batch, records x pixels column-major, are that already, and the last
// layer read as records x (channels * pixels) is what the dense layers take; nothing is moved.

#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/nn/mlp.h"

namespace ppan {

struct ConvLayerShape {
  Index kernel = 5;     ///< Side of the square kernel, odd. Images are padded with 0 by kernel / 2.
  Index stride = 2;     ///< At least 1. A side of n pixels becomes one of (n - 1) / stride + 1.
  Index channels = 16;  ///< At least 1.
};

struct ConvShape {
  Index height = 28;
  Index width = 28;
  std::vector<ConvLayerShape> layers{{5, 2, 16}, {3, 2, 32}};  ///< At least one.
  std::vector<Index> hidden{128};                              ///< Dense layers behind them.
  Index outputs = 10;
  [[nodiscard]] Problems check() const;
};

/// Values of one forward pass, reused from batch to batch.
template <typename Scalar>
struct ConvWorkspace {
  std::vector<Matrix<Scalar>> patches;  ///< Of each layer: (pixels out * records) x (kernel^2 * channels in).
  std::vector<Matrix<Scalar>> value;    ///< Of each layer: (pixels out * records) x channels.
  std::vector<Matrix<Scalar>> delta;    ///< Gradient at `value`, in front of its ReLU.
  Matrix<Scalar> d_patches;
  Matrix<Scalar> flat;    ///< The last layer as the dense layers take it.
  Matrix<Scalar> d_flat;  ///< Gradient there.
  MlpWorkspace<Scalar> dense;
};

/// Holds its shape only; parameters are a flat vector: each convolution's kernels (column per channel out)
/// and biases, then the dense layers as in Mlp.
template <typename Scalar>
class ConvNetwork {
 public:
  ConvNetwork() = default;
  explicit ConvNetwork(ConvShape shape);

  [[nodiscard]] const ConvShape& shape() const { return shape_; }
  [[nodiscard]] Index parameter_count() const { return parameter_count_; }
  /// Kernels uniform on +-sqrt(6 / fan-in) (He et al. 2015), biases 0; dense layers as Mlp.
  void initialise(RandomSource& random, Scalar* parameters) const;

  /// `pixels` is records x (height * width), row by row; the result records x outputs.
  const Matrix<Scalar>& forward(const Scalar* parameters, const Matrix<Scalar>& pixels,
                                ConvWorkspace<Scalar>& workspace) const;
  /// After forward() with the same arguments; overwrites `parameter_gradient`.
  void backward(const Scalar* parameters, const Matrix<Scalar>& output_gradient,
                ConvWorkspace<Scalar>& workspace, Scalar* parameter_gradient) const;

 private:
  struct Layer {
    Index height, width, channels;  // what enters
    Index out_height, out_width;
    ConvLayerShape shape;
    Index offset;  // of the kernels; the biases stand behind them
    [[nodiscard]] Index patch() const { return shape.kernel * shape.kernel * channels; }
    [[nodiscard]] Index out_pixels() const { return out_height * out_width; }
  };
  // Calls visit(row block of the patches, column, first value) for each run of `records` values that is
  // inside the image, and outside(row block, column) for each that is padding.
  template <typename Inside, typename Outside>
  static void visit_patches(const Layer& layer, const Inside& inside, const Outside& outside);

  ConvShape shape_;
  std::vector<Layer> layers_;
  Mlp<Scalar> dense_;
  Index dense_offset_ = 0;
  Index parameter_count_ = 0;
};

}  // namespace ppan
