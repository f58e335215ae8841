#pragma once

#include <string_view>

#include "ppan/core/matrix.h"

namespace ppan {

enum class Activation { kIdentity, kRelu, kTanh, kSigmoid };

std::string_view to_string(Activation activation);

/// values <- f(values), elementwise.
template <typename Scalar>
void activate(Activation activation, Matrix<Scalar>& values);

/// gradient <- gradient * f'(.), elementwise, with the derivative written in the value f(.):
///     ReLU 1(f > 0);  tanh 1 - f^2;  sigmoid f (1 - f).
template <typename Scalar>
void activate_backward(Activation activation, const Matrix<Scalar>& values, Matrix<Scalar>& gradient);

}  // namespace ppan
