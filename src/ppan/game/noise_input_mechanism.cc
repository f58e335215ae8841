#include "ppan/game/noise_input_mechanism.h"

#include "ppan/game/input.h"
#include "ppan/game/output.h"

namespace ppan {

template <typename Scalar>
NoiseInputMechanism<Scalar>::NoiseInputMechanism(const MechanismOptions& options,
                                                 const Attribute<Scalar>& observed)
    : Mechanism<Scalar>(options, options.noise, options.noise_inputs) {
  network_ = Mlp<Scalar>({.inputs = observed.width() + options.noise_inputs,
                          .hidden = options.hidden,
                          .outputs = options.released,
                          .activation = options.activation,
                          .skip = options.skip});
  this->parameters_.setZero(network_.parameter_count());
}

template <typename Scalar>
void NoiseInputMechanism<Scalar>::initialise(RandomSource& random) {
  network_.initialise(random, this->parameters_.data());
}

template <typename Scalar>
void NoiseInputMechanism<Scalar>::draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                       Draws<Scalar>& draws) {
  const Index times = this->options_.draws;
  draws.set_equal_weights(observed.rows(), times);
  input_.resize(times * observed.rows(), observed.width() + noise.cols());
  write_input(observed, times, 0, input_);
  input_.rightCols(noise.cols()) = noise;
  write_output(network_.forward(this->parameters_.data(), input_, workspace_), this->options_.sigmoid_output,
               draws);
}

template <typename Scalar>
void NoiseInputMechanism<Scalar>::backward(const Attribute<Scalar>& /*observed*/,
                                           const Matrix<Scalar>& /*noise*/, const Draws<Scalar>& draws,
                                           const DrawsGradient<Scalar>& gradient,
                                           Vector<Scalar>& parameter_gradient) {
  output_backward(draws, gradient, d_output_);
  parameter_gradient.resize(this->parameters_.size());
  network_.backward(this->parameters_.data(), input_, d_output_, workspace_, parameter_gradient.data(),
                    nullptr);
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> NoiseInputMechanism<Scalar>::clone(Index draws) const {
  auto copy = std::unique_ptr<NoiseInputMechanism>(new NoiseInputMechanism(*this));
  copy->options_.draws = draws;
  return copy;
}

template class NoiseInputMechanism<float>;
template class NoiseInputMechanism<double>;

}  // namespace ppan
