#include "ppan/nn/activation.h"

namespace ppan {

std::string_view to_string(Activation activation) {
  switch (activation) {
    case Activation::kIdentity:
      return "identity";
    case Activation::kRelu:
      return "relu";
    case Activation::kTanh:
      return "tanh";
    case Activation::kSigmoid:
      return "sigmoid";
  }
  return "identity";
}

template <typename Scalar>
void activate(Activation activation, Matrix<Scalar>& values) {
  auto v = values.array();
  switch (activation) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      v = v.max(Scalar(0));
      break;
    case Activation::kTanh:
      v = v.tanh();
      break;
    case Activation::kSigmoid:
      v = v.logistic();
      break;
  }
}

template <typename Scalar>
void activate_backward(Activation activation, const Matrix<Scalar>& values, Matrix<Scalar>& gradient) {
  const auto v = values.array();
  auto g = gradient.array();
  switch (activation) {
    case Activation::kIdentity:
      break;
    case Activation::kRelu:
      g = (v > Scalar(0)).select(g, Scalar(0));
      break;
    case Activation::kTanh:
      g *= Scalar(1) - v.square();
      break;
    case Activation::kSigmoid:
      g *= v * (Scalar(1) - v);
      break;
  }
}

template void activate(Activation, Matrix<float>&);
template void activate_backward(Activation, const Matrix<float>&, Matrix<float>&);
template void activate(Activation, Matrix<double>&);
template void activate_backward(Activation, const Matrix<double>&, Matrix<double>&);

}  // namespace ppan
