#pragma once

#include <Eigen/Core>

namespace ppan {

/// values <- log(1 + e^values), elementwise, without overflow.
template <typename Derived>
void softplus(Eigen::ArrayBase<Derived>& values) {
  using Scalar = typename Derived::Scalar;
  values = values.max(Scalar(0)) + (-values.abs()).exp().log1p();
}

/// Derivative of softplus written in its value s: sigmoid(r) = 1 - e^-s.
template <typename Derived>
auto softplus_slope(const Eigen::ArrayBase<Derived>& s) {
  using Scalar = typename Derived::Scalar;
  return Scalar(1) - (-s.derived()).exp();
}

}  // namespace ppan
