#include "ppan/table/heads_numbers.h"

#include <algorithm>

namespace ppan {
namespace {

constexpr std::size_t kMostBins = 12;
constexpr std::size_t kRowsPerBin = 200;  // with fewer, players overfit them
constexpr std::size_t kMostInputs = 512;  // of all numbers: each is a column of weights of every player

}  // namespace

Vector<float> number_knots(std::vector<double> values, std::size_t numbers) {
  const std::size_t bins =
      std::min({kMostBins, values.size() / kRowsPerBin, kMostInputs / std::max<std::size_t>(1, numbers)});
  if (bins < 2) return {};
  std::sort(values.begin(), values.end());
  std::vector<float> knots;
  for (std::size_t t = 0; t <= bins; ++t) {
    const auto knot = static_cast<float>(values[std::min(t * values.size() / bins, values.size() - 1)]);
    if (knots.empty() || knot > knots.back()) knots.push_back(knot);
  }
  if (knots.size() < 3) return {};
  return Eigen::Map<const Vector<float>>(knots.data(), static_cast<Index>(knots.size()));
}

template <typename Scalar>
NumberCodes<Scalar>::NumberCodes(const std::vector<HeadNumber>& numbers) {
  for (std::size_t n = 0; n < numbers.size(); ++n) {
    knots_.push_back(numbers[n].knots.template cast<Scalar>());
    const Index inputs = 1 + std::max<Index>(0, knots_.back().size() - 1);
    first_.push_back(first_.back() + inputs);
    const Matrix<float>& sample = numbers[n].sample;
    Matrix<Scalar>& mean = mean_.emplace_back(Matrix<Scalar>::Zero(inputs, sample.cols()));
    Vector<Scalar> one(inputs);
    for (Index l = 0; l < sample.cols(); ++l) {
      for (Index s = 0; s < sample.rows(); ++s) {
        encode(n, static_cast<Scalar>(sample(s, l)), one.data());
        mean.col(l) += one / static_cast<Scalar>(sample.rows());
      }
    }
  }
}

template <typename Scalar>
void NumberCodes<Scalar>::encode(std::size_t n, Scalar v, Scalar* out) const {
  const Vector<Scalar>& knots = knots_[n];
  out[0] = v;
  for (Index t = 0; t + 1 < knots.size(); ++t)
    out[t + 1] = std::clamp((v - knots[t]) / (knots[t + 1] - knots[t]), Scalar(0), Scalar(1)) - Scalar(0.5);
}

template <typename Scalar>
void NumberCodes<Scalar>::encode(const Matrix<Scalar>& v, Matrix<Scalar>& out) const {
  out.resize(inputs(), v.cols());
  for (Index i = 0; i < v.cols(); ++i) {
    for (std::size_t n = 0; n < knots_.size(); ++n)
      encode(n, v(static_cast<Index>(n), i), &out(first_[n], i));
  }
}

template <typename Scalar>
void NumberCodes<Scalar>::of_levels(std::size_t n, const Matrix<Scalar>& gradient,
                                    Matrix<Scalar>& out) const {
  out.noalias() = mean_[n].transpose() * gradient.middleRows(first_[n], mean_[n].rows());
}

template class NumberCodes<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class NumberCodes<double>;
#endif

}  // namespace ppan
