#include "ppan/image/conv_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "ppan/nn/dense.h"

namespace ppan {

Problems ConvShape::check() const {
  ProblemList list;
  list.require_at_least("height", static_cast<double>(height), 1);
  list.require_at_least("width", static_cast<double>(width), 1);
  list.require_at_least("outputs", static_cast<double>(outputs), 1);
  list.require(!layers.empty(), "layers", "there must be at least one");
  for (const ConvLayerShape& layer : layers) {
    list.require(layer.kernel >= 1 && layer.kernel % 2 == 1, "layers.kernel", "must be odd and at least 1");
    list.require_at_least("layers.stride", static_cast<double>(layer.stride), 1);
    list.require_at_least("layers.channels", static_cast<double>(layer.channels), 1);
  }
  for (const Index units : hidden) list.require_at_least("hidden", static_cast<double>(units), 1);
  return list.take();
}

template <typename Scalar>
ConvNetwork<Scalar>::ConvNetwork(ConvShape shape) : shape_(std::move(shape)) {
  require_none(shape_.check(), "a convolutional network of this shape cannot be built:");
  Index height = shape_.height;
  Index width = shape_.width;
  Index channels = 1;
  for (const ConvLayerShape& each : shape_.layers) {
    Layer layer{.height = height,
                .width = width,
                .channels = channels,
                .out_height = (height - 1) / each.stride + 1,
                .out_width = (width - 1) / each.stride + 1,
                .shape = each,
                .offset = parameter_count_};
    parameter_count_ += (layer.patch() + 1) * each.channels;
    height = layer.out_height;
    width = layer.out_width;
    channels = each.channels;
    layers_.push_back(layer);
  }
  dense_ =
      Mlp<Scalar>({.inputs = height * width * channels, .hidden = shape_.hidden, .outputs = shape_.outputs});
  dense_offset_ = parameter_count_;
  parameter_count_ += dense_.parameter_count();
}

template <typename Scalar>
void ConvNetwork<Scalar>::initialise(RandomSource& random, Scalar* parameters) const {
  for (const Layer& layer : layers_) {
    const double limit = std::sqrt(6.0 / static_cast<double>(layer.patch()));
    Scalar* kernel = parameters + layer.offset;
    const Index count = layer.patch() * layer.shape.channels;
    for (Index i = 0; i < count; ++i) kernel[i] = static_cast<Scalar>(limit * (2 * random.uniform() - 1));
    std::fill_n(kernel + count, layer.shape.channels, Scalar(0));
  }
  dense_.initialise(random, parameters + dense_offset_);
}

template <typename Scalar>
template <typename Inside, typename Outside>
void ConvNetwork<Scalar>::visit_patches(const Layer& layer, const Inside& inside, const Outside& outside) {
  const Index k = layer.shape.kernel;
  const Index pad = k / 2;
  for (Index c = 0; c < layer.channels; ++c) {
    for (Index dy = 0; dy < k; ++dy) {
      for (Index dx = 0; dx < k; ++dx) {
        const Index column = (c * k + dy) * k + dx;
        for (Index oy = 0; oy < layer.out_height; ++oy) {
          const Index y = oy * layer.shape.stride + dy - pad;
          for (Index ox = 0; ox < layer.out_width; ++ox) {
            const Index x = ox * layer.shape.stride + dx - pad;
            const Index out = oy * layer.out_width + ox;
            if (y < 0 || y >= layer.height || x < 0 || x >= layer.width) {
              outside(out, column);
            } else {
              inside(out, column, (c * layer.height + y) * layer.width + x);
            }
          }
        }
      }
    }
  }
}

template <typename Scalar>
const Matrix<Scalar>& ConvNetwork<Scalar>::forward(const Scalar* parameters, const Matrix<Scalar>& pixels,
                                                   ConvWorkspace<Scalar>& workspace) const {
  const Index n = pixels.rows();
  workspace.patches.resize(layers_.size());
  workspace.value.resize(layers_.size());
  const Scalar* in = pixels.data();
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    const Index rows = layer.out_pixels() * n;
    Matrix<Scalar>& patches = workspace.patches[l];
    patches.resize(rows, layer.patch());
    visit_patches(
        layer,
        [&](Index out, Index column, Index from) {
          std::copy_n(in + from * n, n, patches.data() + column * rows + out * n);
        },
        [&](Index out, Index column) {
          std::fill_n(patches.data() + column * rows + out * n, n, Scalar(0));
        });
    Matrix<Scalar>& value = workspace.value[l];
    value.resize(rows, layer.shape.channels);
    const Scalar* kernel = parameters + layer.offset;
    dense_forward(rows, layer.patch(), layer.shape.channels, patches.data(), kernel,
                  kernel + layer.patch() * layer.shape.channels, true, value.data());
    in = value.data();
  }
  workspace.flat = Eigen::Map<const Matrix<Scalar>>(in, n, dense_.shape().inputs);
  return dense_.forward(parameters + dense_offset_, workspace.flat, workspace.dense);
}

template <typename Scalar>
void ConvNetwork<Scalar>::backward(const Scalar* parameters, const Matrix<Scalar>& output_gradient,
                                   ConvWorkspace<Scalar>& workspace, Scalar* parameter_gradient) const {
  const Index n = output_gradient.rows();
  dense_.backward(parameters + dense_offset_, workspace.flat, output_gradient, workspace.dense,
                  parameter_gradient + dense_offset_, &workspace.d_flat);
  workspace.delta.resize(layers_.size());
  workspace.delta.back() = Eigen::Map<const Matrix<Scalar>>(
      workspace.d_flat.data(), layers_.back().out_pixels() * n, layers_.back().shape.channels);
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const Index rows = layer.out_pixels() * n;
    Matrix<Scalar>& delta = workspace.delta[l];
    activate_backward(Activation::kRelu, workspace.value[l], delta);
    Scalar* d_kernel = parameter_gradient + layer.offset;
    dense_backward_weights(rows, layer.patch(), layer.shape.channels, workspace.patches[l].data(),
                           delta.data(), d_kernel, d_kernel + layer.patch() * layer.shape.channels);
    if (l == 0) return;
    workspace.d_patches.resize(rows, layer.patch());
    dense_backward_input(rows, layer.patch(), layer.shape.channels, delta.data(), parameters + layer.offset,
                         workspace.d_patches.data());
    Matrix<Scalar>& before = workspace.delta[l - 1];
    before.setZero(layer.height * layer.width * n, layer.channels);
    visit_patches(
        layer,
        [&](Index out, Index column, Index to) {
          const Scalar* from = workspace.d_patches.data() + column * rows + out * n;
          Scalar* sum = before.data() + to * n;
          for (Index i = 0; i < n; ++i) sum[i] += from[i];
        },
        [](Index /*out*/, Index /*column*/) {});
  }
}

template class ConvNetwork<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class ConvNetwork<double>;
#endif

}  // namespace ppan
