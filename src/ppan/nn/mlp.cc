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
}

template <typename Scalar>
void Mlp<Scalar>::initialise(RandomSource& random, Scalar* parameters) const {
  for (const Layer& layer : layers_) {
    const double limit = std::sqrt(6.0 / static_cast<double>(layer.inputs + layer.outputs));
    for (Index i = 0; i < layer.inputs * layer.outputs; ++i) {
      parameters[layer.weight_offset + i] = static_cast<Scalar>(limit * (2 * random.uniform() - 1));
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
  return workspace.layer.back();
}

template <typename Scalar>
void Mlp<Scalar>::backward(const Scalar* parameters, const Matrix<Scalar>& input,
                           const Matrix<Scalar>& output_gradient, MlpWorkspace<Scalar>& workspace,
                           Scalar* parameter_gradient, Matrix<Scalar>* input_gradient) const {
  workspace.delta.resize(layers_.size() - 1);
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
    dense_backward_input(input.rows(), layer.inputs, layer.outputs, dz->data(), parameters + layer.weight_offset,
                         da->data());
    if (l > 0) activate_backward(shape_.activation, in, *da);
    dz = da;
  }
}

template class Mlp<float>;
template class Mlp<double>;

}  // namespace ppan
