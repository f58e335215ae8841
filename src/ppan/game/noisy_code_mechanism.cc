#include "ppan/game/noisy_code_mechanism.h"

#include "ppan/game/input.h"
#include "ppan/game/output.h"

namespace ppan {

template <typename Scalar>
NoisyCodeMechanism<Scalar>::NoisyCodeMechanism(const MechanismOptions& options,
                                               const Attribute<Scalar>& observed)
    : Mechanism<Scalar>(options, NoiseKind::kNormal, options.code) {
  encoder_ = Mlp<Scalar>({.inputs = observed.width(),
                          .hidden = options.hidden,
                          .outputs = options.code,
                          .activation = options.activation,
                          .skip = options.skip});
  decoder_ = Mlp<Scalar>({.inputs = options.code,
                          .hidden = options.decoder,
                          .outputs = options.released,
                          .activation = options.activation,
                          .skip = options.skip});
  if (gated()) {
    if (observed.finite() || observed.width() != options.released) {
      throw Error(ErrorCode::kUsage,
                  "a gate releases records as they are, so it needs what is observed to be "
                  "real numbers of the kind that is released");
    }
    gate_ =
        Mlp<Scalar>({.inputs = observed.width(), .hidden = options.gate, .activation = options.activation});
  }
  this->parameters_.setZero(gate_offset() + (gated() ? gate_.parameter_count() : 0));
}

template <typename Scalar>
void NoisyCodeMechanism<Scalar>::initialise(RandomSource& random) {
  encoder_.initialise(random, this->parameters_.data());
  decoder_.initialise(random, this->parameters_.data() + encoder_.parameter_count());
  if (!gated()) return;
  gate_.initialise(random, this->parameters_.data() + gate_offset());
  // The bias of its output, the last parameter: it starts mostly open, since nothing is learned about
  // records that never go through the code.
  this->parameters_[this->parameters_.size() - 1] = Scalar(2);
}

template <typename Scalar>
const Matrix<Scalar>& NoisyCodeMechanism<Scalar>::center(const Attribute<Scalar>& observed) {
  if (observed.finite()) {
    input_.resize(observed.rows(), observed.levels);
    write_input(observed, 1, 0, input_);
  }
  const Matrix<Scalar>& e = encoder_.forward(this->parameters_.data(),
                                             observed.finite() ? input_ : observed.value, encoder_workspace_);
  const auto radius = static_cast<Scalar>(this->options_.code_radius);
  center_ = (radius * (e.array() / radius).tanh()).matrix();
  return center_;
}

template <typename Scalar>
void NoisyCodeMechanism<Scalar>::draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                                      Draws<Scalar>& draws) {
  draw_part({}, observed, noise, draws);
}

template <typename Scalar>
void NoisyCodeMechanism<Scalar>::draw_part(DrawScope scope, const Attribute<Scalar>& observed,
                                           const Matrix<Scalar>& noise, Draws<Scalar>& draws) {
  const Index n = observed.rows();
  draws.set_equal_weights(n, this->options_.draws);
  draws.has_code = true;
  if (!scope.same_records) center(observed);
  if (gated()) {
    if (!scope.same_records) {
      open_ = gate_.forward(this->parameters_.data() + gate_offset(), observed.value, gate_workspace_)
                  .col(0)
                  .array()
                  .logistic()
                  .matrix();
    }
    draws.weights_learned = true;
    draws.rest_unchanged = true;
    draws.weight.array().colwise() *= open_.array();
  }
  draws.code.resize(n * draws.per_record, this->options_.code);
  for (Index t = 0; t < draws.per_record; ++t) {
    draws.code.middleRows(t * n, n) = center_ + noise.middleRows(t * n, n);
  }
  if (scope.seen_only) return;
  write_output(
      decoder_.forward(this->parameters_.data() + encoder_.parameter_count(), draws.code, decoder_workspace_),
      this->options_.sigmoid_output, draws);
}

template <typename Scalar>
void NoisyCodeMechanism<Scalar>::backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& /*noise*/,
                                          const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                                          Vector<Scalar>& parameter_gradient) {
  const Index n = observed.rows();
  parameter_gradient.resize(this->parameters_.size());
  output_backward(draws, gradient, d_output_);
  decoder_.backward(this->parameters_.data() + encoder_.parameter_count(), draws.code, d_output_,
                    decoder_workspace_, parameter_gradient.data() + encoder_.parameter_count(), &d_code_);
  if (gradient.has_seen) d_code_ += gradient.seen;
  d_center_ = d_code_.topRows(n);
  for (Index t = 1; t < draws.per_record; ++t) d_center_ += d_code_.middleRows(t * n, n);
  // d mu / d e = 1 - tanh^2 = 1 - (mu / R)^2
  const auto radius = static_cast<Scalar>(this->options_.code_radius);
  d_center_.array() *= Scalar(1) - (center_.array() / radius).square();
  encoder_.backward(this->parameters_.data(), observed.finite() ? input_ : observed.value, d_center_,
                    encoder_workspace_, parameter_gradient.data(), nullptr);
  if (gated()) {
    const auto share = Scalar(1) / static_cast<Scalar>(draws.per_record);
    d_gate_ = share * gradient.weight.rowwise().sum();
    d_gate_.col(0).array() *= open_.array() * (Scalar(1) - open_.array());
    gate_.backward(this->parameters_.data() + gate_offset(), observed.value, d_gate_, gate_workspace_,
                   parameter_gradient.data() + gate_offset(), nullptr);
  }
}

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> NoisyCodeMechanism<Scalar>::clone(Index draws) const {
  auto copy = std::unique_ptr<NoisyCodeMechanism>(new NoisyCodeMechanism(*this));
  copy->options_.draws = draws;
  return copy;
}

template class NoisyCodeMechanism<float>;
template class NoisyCodeMechanism<double>;

}  // namespace ppan
