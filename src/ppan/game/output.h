#pragma once

#include "ppan/game/draws.h"

namespace ppan {

/// A network's output as released values: itself, or its sigmoid with the output kept as the logit.
template <typename Scalar>
void write_output(const Matrix<Scalar>& output, bool sigmoid, Draws<Scalar>& draws) {
  draws.has_logit = sigmoid;
  if (!sigmoid) {
    draws.released = output;
    return;
  }
  draws.logit = output;
  draws.released = output.array().logistic().matrix();
}

/// Gradient with respect to that output: through released values (what the adversary sees counts here when
/// there is no code), through the sigmoid where there is one, and directly through the logit.
template <typename Scalar>
void output_backward(const Draws<Scalar>& draws, const DrawsGradient<Scalar>& gradient,
                     Matrix<Scalar>& d_output) {
  const bool seen = gradient.has_seen && !draws.has_code;
  if (seen && gradient.has_released) {
    d_output = gradient.seen + gradient.released;
  } else if (seen) {
    d_output = gradient.seen;
  } else if (gradient.has_released) {
    d_output = gradient.released;
  } else {
    d_output.setZero(draws.released.rows(), draws.released.cols());
  }
  if (draws.has_logit && (seen || gradient.has_released)) {
    d_output.array() *= draws.released.array() * (Scalar(1) - draws.released.array());
  }
  if (gradient.has_logit) d_output += gradient.logit;
}

}  // namespace ppan
