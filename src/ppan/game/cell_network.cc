#include "ppan/game/cell_network.h"

#include <cmath>

namespace ppan {

template <typename Scalar>
CellNetwork<Scalar>::CellNetwork(CellNetworkShape shape) : shape_(std::move(shape)) {
  for (const Index count : shape_.cells) {
    first_.push_back(cells_);
    cells_ += count;
  }
  units_ = shape_.hidden.front();
  layers_ = Mlp<Scalar>({.inputs = units_,
                         .hidden = {shape_.hidden.begin() + 1, shape_.hidden.end()},
                         .outputs = shape_.outputs});
}

template <typename Scalar>
Index CellNetwork<Scalar>::parameter_count() const {
  return width() * (cells_ + shape_.numbers + 1) + layers_.parameter_count();
}

template <typename Scalar>
void CellNetwork<Scalar>::initialise(RandomSource& random, Vector<Scalar>& parameters) const {
  parameters.setZero(parameter_count());
  // A row has one cell of each group, so that many inputs are felt at once.
  const auto felt = static_cast<Scalar>(shape_.cells.size()) + static_cast<Scalar>(shape_.numbers);
  const Scalar bound = std::sqrt(Scalar(6) / (felt + static_cast<Scalar>(units_)));
  for (Index c = 0; c < cells_ + shape_.numbers; ++c) {
    for (Index u = 0; u < units_; ++u)
      parameters[c * width() + u] = bound * static_cast<Scalar>(2 * random.uniform() - 1);
  }
  layers_.initialise(random, parameters.data() + width() * (cells_ + shape_.numbers + 1));
  const Index last = shape_.hidden.back();
  parameters.tail((last + 1) * shape_.outputs).setZero();
}

template <typename Scalar>
const Matrix<Scalar>& CellNetwork<Scalar>::forward(const Vector<Scalar>& parameters, const CellRows& rows,
                                                   const Matrix<Scalar>& numbers) {
  const Index wide = width();
  const Index count = rows.cols();
  const Eigen::Map<const Matrix<Scalar>> cell(parameters.data(), wide, cells_);
  const Eigen::Map<const Matrix<Scalar>> number(parameters.data() + wide * cells_, wide, shape_.numbers);
  const Eigen::Map<const Vector<Scalar>> bias(parameters.data() + wide * (cells_ + shape_.numbers), wide);
  sum_.resize(wide, count);
  for (Index i = 0; i < count; ++i) {
    auto to = sum_.col(i);
    to = bias;
    for (Index g = 0; g < rows.rows(); ++g) to += cell.col(first_[static_cast<std::size_t>(g)] + rows(g, i));
  }
  if (shape_.numbers > 0) sum_.noalias() += number * numbers;
  first_layer_ = sum_.topRows(units_).cwiseMax(Scalar(0)).transpose();
  const Scalar* behind = parameters.data() + wide * (cells_ + shape_.numbers + 1);
  output_ = layers_.forward(behind, first_layer_, workspace_);
  output_ += sum_.bottomRows(shape_.outputs).transpose();
  return output_;
}

template <typename Scalar>
void CellNetwork<Scalar>::backward(const Vector<Scalar>& parameters, const CellRows& rows,
                                   const Matrix<Scalar>& numbers, const Matrix<Scalar>& d_output,
                                   Vector<Scalar>* gradient, Matrix<Scalar>* d_cells,
                                   Matrix<Scalar>* d_numbers) {
  const Index wide = width();
  const Index count = rows.cols();
  const Index behind = wide * (cells_ + shape_.numbers + 1);
  if (gradient != nullptr) gradient->setZero(parameter_count());
  layers_.backward(parameters.data() + behind, first_layer_, d_output, workspace_,
                   gradient != nullptr ? gradient->data() + behind : nullptr, &d_first_);
  d_sum_.resize(wide, count);
  d_sum_.topRows(units_) = (sum_.topRows(units_).array() > Scalar(0)).select(d_first_.transpose(), Scalar(0));
  d_sum_.bottomRows(shape_.outputs) = d_output.transpose();
  if (gradient != nullptr) {
    Eigen::Map<Matrix<Scalar>> cell(gradient->data(), wide, cells_);
    for (Index i = 0; i < count; ++i) {
      for (Index g = 0; g < rows.rows(); ++g)
        cell.col(first_[static_cast<std::size_t>(g)] + rows(g, i)) += d_sum_.col(i);
    }
    if (shape_.numbers > 0) {
      Eigen::Map<Matrix<Scalar>>(gradient->data() + wide * cells_, wide, shape_.numbers).noalias() =
          d_sum_ * numbers.transpose();
    }
    Eigen::Map<Vector<Scalar>>(gradient->data() + wide * (cells_ + shape_.numbers), wide) =
        d_sum_.rowwise().sum();
  }
  if (d_cells != nullptr) {
    const Eigen::Map<const Matrix<Scalar>> cell(parameters.data(), wide, cells_);
    d_cells->noalias() = cell.transpose() * d_sum_;
  }
  if (d_numbers != nullptr) {
    const Eigen::Map<const Matrix<Scalar>> number(parameters.data() + wide * cells_, wide, shape_.numbers);
    d_numbers->noalias() = number.transpose() * d_sum_;
  }
}

template class CellNetwork<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class CellNetwork<double>;
#endif

}  // namespace ppan
