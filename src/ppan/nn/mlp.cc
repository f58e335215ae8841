#include "ppan/nn/mlp.h"

#include <cmath>
#include <utility>

#include "ppan/nn/dense.h"

namespace ppan {

Problems MlpShape::check() const {
  ProblemList list;
  list.require_at_least("inputs", static_cast<double>(inputs), 1);
  list.require_at_least("outputs", static_cast<double>(outputs), 1);
  for (const Index units : hidden) list.require_at_least("hidden", static_cast<double>(units), 1);
  return list.take();
}

template <typename Scalar>
Mlp<Scalar>::Mlp(MlpShape shape) : shape_(std::move(shape)) {
  require_none(shape_.check(), "a network of this shape cannot be built:");
  Index width = shape_.inputs;
  const auto add = [&](Index outputs) {
    layers_.push_back({width, outputs, parameter_count_, parameter_count_ + width * outputs});
    parameter_count_ += width * outputs + (shape_.bias ? outputs : 0);
    width = outputs;
  };
  for (const Index units : shape_.hidden) add(units);
  add(shape_.outputs);
  skip_offset_ = parameter_count_;
  if (shape_.skip) parameter_count_ += shape_.inputs * shape_.outputs;
}

template <typename Scalar>
void Mlp<Scalar>::initialise(RandomSource& random, Scalar* parameters) const {
  const auto fill = [&](Index inputs, Index outputs, Scalar* weights) {
    const double limit = std::sqrt(6.0 / static_cast<double>(inputs + outputs));
    for (Index i = 0; i < inputs * outputs; ++i) {
      weights[i] = static_cast<Scalar>(limit * (2 * random.uniform() - 1));
    }
  };
  if (shape_.skip) fill(shape_.inputs, shape_.outputs, parameters + skip_offset_);
  for (const Layer& layer : layers_) {
    if (shape_.skip && &layer == &layers_.back()) {
      std::fill_n(parameters + layer.weight_offset, layer.inputs * layer.outputs, Scalar(0));
    } else {
      fill(layer.inputs, layer.outputs, parameters + layer.weight_offset);
    }
    if (shape_.bias) std::fill_n(parameters + layer.bias_offset, layer.outputs, Scalar(0));
  }
}

template <typename Scalar>
const Matrix<Scalar>& Mlp<Scalar>::forward(const Scalar* parameters, const Matrix<Scalar>& input,
                                           MlpWorkspace<Scalar>& workspace) const {
  workspace.layer.resize(layers_.size());
  const Matrix<Scalar>* in = &input;
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    Matrix<Scalar>& out = workspace.layer[l];
    out.resize(input.rows(), layer.outputs);
    const bool hidden = l + 1 < layers_.size();
    const bool relu = hidden && shape_.activation == Activation::kRelu;
    dense_forward(input.rows(), layer.inputs, layer.outputs, in->data(), parameters + layer.weight_offset,
                  shape_.bias ? parameters + layer.bias_offset : nullptr, relu, out.data());
    if (hidden && !relu) activate(shape_.activation, out);
    in = &out;
  }
  if (shape_.skip) {
    workspace.skip.resize(input.rows(), shape_.outputs);
    dense_forward<Scalar>(input.rows(), shape_.inputs, shape_.outputs, input.data(),
                          parameters + skip_offset_, nullptr, false, workspace.skip.data());
    workspace.layer.back() += workspace.skip;
  }
  return workspace.layer.back();
}

template <typename Scalar>
void Mlp<Scalar>::backward(const Scalar* parameters, const Matrix<Scalar>& input,
                           const Matrix<Scalar>& output_gradient, MlpWorkspace<Scalar>& workspace,
                           Scalar* parameter_gradient, Matrix<Scalar>* input_gradient) const {
  workspace.delta.resize(layers_.size() - 1);
  if (shape_.skip && parameter_gradient) {
    dense_backward_weights<Scalar>(input.rows(), shape_.inputs, shape_.outputs, input.data(),
                                   output_gradient.data(), parameter_gradient + skip_offset_, nullptr);
  }
  const Matrix<Scalar>* dz = &output_gradient;
  for (std::size_t l = layers_.size(); l-- > 0;) {
    const Layer& layer = layers_[l];
    const Matrix<Scalar>& in = l == 0 ? input : workspace.layer[l - 1];
    if (parameter_gradient) {
      dense_backward_weights(input.rows(), layer.inputs, layer.outputs, in.data(), dz->data(),
                             parameter_gradient + layer.weight_offset,
                             shape_.bias ? parameter_gradient + layer.bias_offset : nullptr);
    }
    Matrix<Scalar>* da = l == 0 ? input_gradient : &workspace.delta[l - 1];
    if (!da) return;
    da->resize(input.rows(), layer.inputs);
    dense_backward_input(input.rows(), layer.inputs, layer.outputs, dz->data(),
                         parameters + layer.weight_offset, da->data());
    if (l > 0) activate_backward(shape_.activation, in, *da);
    dz = da;
  }
  if (shape_.skip) {
    workspace.skip_delta.resize(input.rows(), shape_.inputs);
    dense_backward_input(input.rows(), shape_.inputs, shape_.outputs, output_gradient.data(),
                         parameters + skip_offset_, workspace.skip_delta.data());
    *input_gradient += workspace.skip_delta;
  }
}

template class Mlp<float>;
template class Mlp<double>;

}  // namespace ppan
