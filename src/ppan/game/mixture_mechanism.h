#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// A mixture of m Gaussians, mu_l + A_l u. The network outputs, component after component, mu_l (d numbers)
/// and A_l: its d diagonal entries, made positive by softplus, or with `full_components` the whole lower
/// triangle row by row, off-diagonal entries as they are; then m logits of the component probabilities pi_l.
/// The loss takes the expectation over the component exactly, sum_l pi_l (.), with one reparameterised draw
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
  // Columns of the network's output that hold mu_l(row) and A_l(row, column).
  [[nodiscard]] Index mean_column(Index component, Index row) const;
  [[nodiscard]] Index scale_column(Index component, Index row, Index column) const;
  // Of row `row` of A_l, the first entry that is not 0 by construction.
  [[nodiscard]] Index first_column(Index row) const { return this->options_.full_components ? 0 : row; }

  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> output_;  // scales already positive
  Matrix<Scalar> d_output_;
  Matrix<Scalar> logits_;
  Matrix<Scalar> d_logits_;
};

}  // namespace ppan
