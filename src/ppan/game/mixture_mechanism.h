#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// A mixture of m diagonal Gaussians. The network outputs, component after component, mu_l (d numbers) and
/// the scales (d numbers, made positive by softplus), then m logits of the component probabilities pi_l. The
/// loss takes the expectation over the component exactly, sum_l pi_l (.), with one reparameterised draw
/// inside each. A release picks one component.
template <typename Scalar>
class MixtureMechanism final : public Mechanism<Scalar> {
 public:
  MixtureMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed);

  void initialise(RandomSource& random) override;
  void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) override;
  void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, const Draws<Scalar>& draws,
                const DrawsGradient<Scalar>& gradient, Vector<Scalar>& parameter_gradient) override;
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> clone(Index draws) const override;

 private:
  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> output_;  // scales already positive
  Matrix<Scalar> d_output_;
  Matrix<Scalar> logits_;
  Matrix<Scalar> d_logits_;
};

}  // namespace ppan
