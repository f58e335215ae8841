#pragma once

#include "ppan/core/random.h"
#include "ppan/game/draws.h"
#include "ppan/nn/mlp.h"

namespace ppan {

struct DiscriminatorOptions {
  double weight = 0;  ///< gamma; 0: no discriminator.
  std::vector<Index> hidden;
  Activation activation = Activation::kTanh;
  [[nodiscard]] Problems check() const;
};

/// Distinguishes releases from originals: D = sigmoid(network), trained towards 1 on releases and 0 on useful
/// records, by ascent on  gamma (mean log D(z) + mean log(1 - D(y))).  The mechanism descends on the same, of
/// which only gamma mean log D(z) depends on it; so releases come to look like records. (The paper's images,
/// gamma = 2.)
template <typename Scalar>
class Discriminator {
 public:
  Discriminator(const DiscriminatorOptions& options, Index width);

  [[nodiscard]] Vector<Scalar>& parameters() { return parameters_; }
  void initialise(RandomSource& random);

  /// The objective, and its gradient in the parameters. Weighted draws count with their weight.
  double evaluate(const Draws<Scalar>& draws, const Matrix<Scalar>& useful,
                  Vector<Scalar>& parameter_gradient);

  /// gamma mean log D(z), and its gradient added to what is released.
  double evaluate_release(const Draws<Scalar>& draws, DrawsGradient<Scalar>& gradient);
  /// Adds gamma/n log D(z_ik) to the gradient in weight_ik, after evaluate_release() on the same draws.
  void add_weight_gradient(DrawsGradient<Scalar>& gradient) const;

 private:
  double weight_;
  Mlp<Scalar> network_;
  Vector<Scalar> parameters_;
  Vector<Scalar> useful_gradient_;
  MlpWorkspace<Scalar> workspace_;         // on releases, of which there are K per record
  MlpWorkspace<Scalar> useful_workspace_;  // on useful records
  Matrix<Scalar> log_release_;             // log D(z), records x K
  Matrix<Scalar> d_logit_;
  Matrix<Scalar> d_useful_logit_;
  Matrix<Scalar> d_released_;
};

}  // namespace ppan
