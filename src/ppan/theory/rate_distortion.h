#pragma once

// W = X = Y Gaussian with independent components, distortion ||y - z||^2: the least I(X;Z) is the
// rate-distortion function. Source: T. M. Cover, J. A. Thomas, Elements of Information Theory, 2nd ed.,
// theorem 10.3.3.

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan::theory {

struct GaussianSource {
  Vector<double> variances;  ///< Of each component, greater than 0; at least one.

  [[nodiscard]] Problems check() const;
};

struct RateDistortionOptimum {
  double rate = 0;                      ///< nats; infinite at distortion 0.
  Vector<double> component_distortion;  ///< D_j.
  double level = 0;                     ///< t.
};

/// Reverse water-filling: D_j = min(t, s_j), sum_j D_j = distortion, R = sum_j 1/2 log(s_j / D_j).
/// From distortion = sum_j s_j on the rate is 0. Attained by Z_j = (1 - D_j/s_j) Y_j + N(0, D_j (1 -
/// D_j/s_j)).
RateDistortionOptimum least_rate(const GaussianSource& source, double distortion);

}  // namespace ppan::theory
