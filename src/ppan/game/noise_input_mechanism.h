#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// The paper's universal approximator: z = f(w, u), u uniform on [-1, 1]^s or normal, f a network (followed
/// by a sigmoid if asked). It has no density that could be evaluated.
template <typename Scalar>
class NoiseInputMechanism final : public Mechanism<Scalar> {
 public:
  NoiseInputMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed);

  void initialise(RandomSource& random) override;
  void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) override;
  void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, const Draws<Scalar>& draws,
                const DrawsGradient<Scalar>& gradient, Vector<Scalar>& parameter_gradient) override;
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> clone(Index draws) const override;

 private:
  Mlp<Scalar> network_;
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> d_output_;
};

}  // namespace ppan
