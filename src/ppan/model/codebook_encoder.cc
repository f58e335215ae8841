#include "ppan/model/codebook_encoder.h"

#include <cmath>

namespace ppan {

template <typename Scalar>
CodebookEncoder<Scalar>::CodebookEncoder(Index features, std::vector<Index> hidden, Index codewords)
    : network_({.inputs = features, .hidden = std::move(hidden), .outputs = codewords}) {}

template <typename Scalar>
void CodebookEncoder<Scalar>::initialise(double beta, RandomSource& random,
                                         Vector<Scalar>& parameters) const {
  constexpr Scalar kSmall = Scalar(0.05);
  parameters.resize(parameter_count());
  network_.initialise(random, parameters.data() + 1);
  const Index inputs =
      network_.shape().hidden.empty() ? network_.shape().inputs : network_.shape().hidden.back();
  parameters.tail((inputs + 1) * codewords()) *= kSmall;
  parameters[0] = static_cast<Scalar>(std::log(beta));
}

template <typename Scalar>
const Matrix<Scalar>& CodebookEncoder<Scalar>::forward(const Vector<Scalar>& parameters,
                                                       const CodebookCentres<Scalar>& centres,
                                                       const Matrix<Scalar>& features) {
  const Matrix<Scalar> weighted = centres.centre * centres.weight.asDiagonal();
  relative_.noalias() = features * weighted.transpose();
  relative_ *= Scalar(-2);
  const Vector<Scalar> norm = weighted.cwiseProduct(centres.centre).rowwise().sum();
  relative_.rowwise() += norm.transpose();
  const Scalar beta = std::exp(parameters[0]);
  probability_ = network_.forward(parameters.data() + 1, features, workspace_) - beta * relative_;
  const Vector<Scalar> most = probability_.rowwise().maxCoeff();
  probability_.colwise() -= most;
  probability_ = probability_.array().exp();
  const Vector<Scalar> sum = probability_.rowwise().sum();
  probability_.array().colwise() /= sum.array();
  return probability_;
}

template <typename Scalar>
void CodebookEncoder<Scalar>::distances(const CodebookCentres<Scalar>& centres,
                                        const Matrix<Scalar>& features, Matrix<Scalar>& out) const {
  const Vector<Scalar> own = features.cwiseAbs2() * centres.weight;
  out = relative_;
  out.colwise() += own;
  out = out.cwiseMax(Scalar(0));
}

template <typename Scalar>
void CodebookEncoder<Scalar>::backward(const Vector<Scalar>& parameters, const Matrix<Scalar>& features,
                                       const Matrix<Scalar>& cost, Vector<Scalar>& gradient) {
  const Vector<Scalar> mean = probability_.cwiseProduct(cost).rowwise().sum();
  delta_ = cost;
  delta_.colwise() -= mean;
  delta_.array() *= probability_.array() / static_cast<Scalar>(features.rows());
  gradient.resize(parameter_count());
  gradient[0] = -std::exp(parameters[0]) * delta_.cwiseProduct(relative_).sum();
  network_.backward(parameters.data() + 1, features, delta_, workspace_, gradient.data() + 1, nullptr);
}

template class CodebookEncoder<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class CodebookEncoder<double>;
#endif

}  // namespace ppan
