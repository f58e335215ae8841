#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// z = mu(w) + A(w) u, u ~ N(0, I). The network outputs mu (d numbers), then A: its diagonal through
/// softplus, log(1 + e^r), so that it is positive and an unusual w cannot make it explode as e^r would; with
/// `full_scale` the whole lower triangle row by row, off-diagonal entries as they are; otherwise the d
/// diagonal entries.
template <typename Scalar>
class GaussianMechanism final : public Mechanism<Scalar> {
 public:
  GaussianMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed);

  void initialise(RandomSource& random) override;
  void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) override;
  void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, const Draws<Scalar>& draws,
                const DrawsGradient<Scalar>& gradient, Vector<Scalar>& parameter_gradient) override;
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> clone(Index draws) const override;

 private:
  // Column of the network's output that holds A(row, column).
  [[nodiscard]] Index scale_column(Index row, Index column) const;

  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> output_;  // mu, then A with its diagonal already positive
  Matrix<Scalar> d_output_;
};

}  // namespace ppan
