#pragma once

#include <utility>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan {

/// Step size over a training of known length: `rate` until `decay_from` of the steps are done, then falling
/// along half a cosine to `rate * final_fraction` at the end.
struct RateSchedule {
  double rate = 0.001;          ///< Greater than 0.
  double decay_from = 1.0;      ///< Share of the training, 0 to 1; 1 means constant.
  double final_fraction = 0.0;  ///< 0 to 1.

  [[nodiscard]] double at(double progress) const;  ///< `progress` from 0 to 1.
  [[nodiscard]] Problems check() const;
};

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  [[nodiscard]] Problems check() const;
};

/// Adam (Kingma, Ba 2015) in the form p <- p - a sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + e), one pass over
/// the parameters.
template <typename Scalar>
class Adam {
 public:
  /// Everything that the next step depends on, except the options. Moments are empty before the first step.
  struct State {
    double beta1_power = 1;
    double beta2_power = 1;
    Vector<Scalar> m;
    Vector<Scalar> v;
  };

  explicit Adam(AdamOptions options = {}) : options_(options) {}
  void step(double rate, const Vector<Scalar>& gradient, Vector<Scalar>& parameters);
  [[nodiscard]] const State& state() const { return state_; }
  void resume(State state) { state_ = std::move(state); }

 private:
  AdamOptions options_;
  State state_;
};

}  // namespace ppan
