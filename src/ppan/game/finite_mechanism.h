#pragma once

#include "ppan/game/mechanism.h"

namespace ppan {

/// P(z|w) = softmax of logits over the alphabet of z. With finite W and no hidden layer the logits are a
/// |W| x |Z| table without bias; otherwise a network gives them. The loss is the direct expectation
/// sum_z P(z|w)(.), never a sample of it.
///
/// As kGumbel the expectation is replaced by one relaxed draw, z = softmax((logits + g) / temperature) with
/// g standard Gumbel (Jang et al. 2017; Maddison et al. 2017), which the paper found to do worse.
template <typename Scalar>
class FiniteMechanism final : public Mechanism<Scalar> {
 public:
  FiniteMechanism(const MechanismOptions& options, const Attribute<Scalar>& observed);

  void initialise(RandomSource& random) override;
  void draw(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, Draws<Scalar>& draws) override;
  void backward(const Attribute<Scalar>& observed, const Matrix<Scalar>& noise, const Draws<Scalar>& draws,
                const DrawsGradient<Scalar>& gradient, Vector<Scalar>& parameter_gradient) override;
  [[nodiscard]] std::unique_ptr<Mechanism<Scalar>> clone(Index draws) const override;

 private:
  const Matrix<Scalar>& logits_of(const Attribute<Scalar>& observed);
  // Whether probabilities are computed once for each symbol of W and looked up for the records, which is
  // faster once a batch has as many records as W has symbols.
  [[nodiscard]] bool by_level(const Attribute<Scalar>& observed) const;

  Mlp<Scalar> network_;
  bool table_;  // logits looked up, not computed
  MlpWorkspace<Scalar> workspace_;
  Matrix<Scalar> input_;
  Matrix<Scalar> logits_;
  Matrix<Scalar> d_logits_;
  Matrix<Scalar> level_probability_;  // by_level(): a row per symbol of W
  Matrix<Scalar> d_draws_;
  Matrix<Scalar> d_soft_;  // kGumbel only
};

}  // namespace ppan
