#pragma once

// Every hand-written gradient owes one call of expect_gradient_matches: central differences in double.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "ppan/core/matrix.h"

namespace ppan::testing {

/// Checks `analytic` against (f(p + h e_i) - f(p - h e_i)) / 2h at `point`, to relative 1e-6 (absolute 1e-8).
inline void expect_gradient_matches(const std::function<double(const Vector<double>&)>& f,
                                    const Vector<double>& analytic, const Vector<double>& point,
                                    double tolerance = 1e-6) {
  ASSERT_EQ(analytic.size(), point.size());
  Vector<double> p = point;
  for (Index i = 0; i < p.size(); ++i) {
    const double h = 1e-5 * std::max(1.0, std::abs(point[i]));
    p[i] = point[i] + h;
    const double above = f(p);
    p[i] = point[i] - h;
    const double below = f(p);
    p[i] = point[i];
    const double numeric = (above - below) / (2 * h);
    const double scale = std::max({std::abs(numeric), std::abs(analytic[i]), 1e-2});
    EXPECT_LE(std::abs(numeric - analytic[i]), tolerance * scale)
        << "component " << i << ": analytic " << analytic[i] << ", numeric " << numeric;
  }
}

inline Vector<double> flatten(const Matrix<double>& m) {
  return Eigen::Map<const Vector<double>>(m.data(), m.size());
}
inline Matrix<double> unflatten(const Vector<double>& v, Index rows, Index cols) {
  return Eigen::Map<const Matrix<double>>(v.data(), rows, cols);
}

}  // namespace ppan::testing
