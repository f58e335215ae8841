#pragma once

// Beliefs of an attacker brought into line with what turned out true on rows it did not learn from.

#include "ppan/core/matrix.h"
#include "ppan/core/records.h"

namespace ppan {

/// Q' = (1 - e) softmax(log Q / T) + e prior. A small e bounds the loss of a row at log(1/e) above the
/// prior's, a large one admits that nothing was learned.
struct Calibration {
  double temperature = 1;
  double prior_share = 0;

  void apply(const Vector<double>& prior, Matrix<float>& log_probability) const;
};

/// The one of a grid that makes the values x likeliest.
Calibration calibrate(const Matrix<float>& log_probability, const Symbols& x, const Vector<double>& prior);

}  // namespace ppan
