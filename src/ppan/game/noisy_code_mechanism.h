#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// What to reveal, separated from how to present it:
///     e = encoder(w),  mu = R tanh(e / R),  c = mu + u with u ~ N(0, I),  z = decoder(c).
/// The adversary of the game sees the code c. Since z is a function of c, I(X;Z) <= I(X;C) whatever the
/// decoder does; and since |mu| <= R in each of the m coordinates, I(X;C) <= I(W;C) <= m/2 log(1 + R^2), for
/// every distribution of the data.
///
/// With a gate, a record goes through the code with probability g(w) = sigmoid(gate(w)) and is otherwise
/// released unchanged: its draws have weight g(w) / K each. The gate learns which records are cheap to hide;
/// a coin that does not depend on the record would hide expensive ones as often.
template <typename Scalar>
class NoisyCodeMechanism final : public Mechanism<Scalar> {
 public:
  NoisyCodeMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed);

  [[nodiscard]] Index seen_width() const override { return this->options_.code; }
  void initialise(RandomSource& random) override;
  void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) override;
  void draw_part(DrawScope scope, const Attribute<Scalar>& observed, const Matrix<Scalar>& noise,
                 Draws<Scalar>& draws) override;
  void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, const Draws<Scalar>& draws,
                const DrawsGradient<Scalar>& gradient, Vector<Scalar>& parameter_gradient) override;
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> clone(Index draws) const override;

  /// The noiseless code mu(w), records x code.
  const Matrix<Scalar>& center(const Attribute<Scalar>& observed);

 private:
  [[nodiscard]] bool gated() const { return !this->options_.gate.empty(); }
  [[nodiscard]] Index gate_offset() const { return encoder_.parameter_count() + decoder_.parameter_count(); }

  Mlp<Scalar> encoder_;
  Mlp<Scalar> decoder_;
  Mlp<Scalar> gate_;
  MlpWorkspace<Scalar> encoder_workspace_;
  MlpWorkspace<Scalar> decoder_workspace_;
  MlpWorkspace<Scalar> gate_workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> center_;
  Matrix<Scalar> d_output_;
  Matrix<Scalar> d_code_;
  Matrix<Scalar> d_center_;
  Vector<Scalar> open_;  // g(w)
  Matrix<Scalar> d_gate_;
};

}  // namespace ppan
