#include "ppan/table/heads_players.h"

#include <numeric>

namespace ppan {

template <typename Scalar>
CellPlayer<Scalar>::CellPlayer(CellNetworkShape shape, std::vector<std::int32_t> levels)
    : levels_(std::move(levels)) {
  shape.outputs = std::accumulate(levels_.begin(), levels_.end(), Index{0});
  network_ = CellNetwork<Scalar>(std::move(shape));
}

template <typename Scalar>
void CellPlayer<Scalar>::fill_log_probabilities(const Matrix<Scalar>& output) {
  log_ = output;
  Index first = 0;
  for (const std::int32_t levels : levels_) {
    auto block = log_.middleCols(first, levels);
    const Vector<Scalar> most = block.rowwise().maxCoeff();
    block.colwise() -= most;
    const Vector<Scalar> sum = block.array().exp().rowwise().sum().log();
    block.colwise() -= sum;
    first += levels;
  }
  share_ = log_.array().exp();
}

template <typename Scalar>
double CellPlayer<Scalar>::score(const CellRows& rows, const Matrix<Scalar>& numbers,
                                 const std::vector<Symbols>& code) {
  fill_log_probabilities(network_.forward(parameters_, rows, numbers));
  d_output_ = -share_;
  double sum = 0;
  Index first = 0;
  for (std::size_t k = 0; k < levels_.size(); ++k) {
    for (Index i = 0; i < log_.rows(); ++i) {
      const Index at = first + code[k][static_cast<std::size_t>(i)];
      sum += static_cast<double>(log_(i, at));
      d_output_(i, at) += 1;
    }
    first += levels_[k];
  }
  return sum / static_cast<double>(log_.rows());
}

template <typename Scalar>
const Matrix<Scalar>& CellPlayer<Scalar>::probabilities(const CellRows& rows, const Matrix<Scalar>& numbers) {
  fill_log_probabilities(network_.forward(parameters_, rows, numbers));
  return share_;
}

template <typename Scalar>
double CellPlayer<Scalar>::cross_score(const CellRows& rows, const Matrix<Scalar>& numbers,
                                       const Matrix<Scalar>& p) {
  fill_log_probabilities(network_.forward(parameters_, rows, numbers));
  d_output_ = p - share_;
  return static_cast<double>(p.cwiseProduct(log_).sum()) / static_cast<double>(log_.rows());
}

template <typename Scalar>
void CellPlayer<Scalar>::seen_gradient(const CellRows& rows, const Matrix<Scalar>& numbers,
                                       CellGradient<Scalar>& out) {
  network_.backward(parameters_, rows, numbers, d_output_, nullptr, &out.cells, &out.numbers);
}

template <typename Scalar>
void CellPlayer<Scalar>::parameter_gradient(const CellRows& rows, const Matrix<Scalar>& numbers,
                                            Vector<Scalar>& gradient) {
  d_mean_ = d_output_ / static_cast<Scalar>(d_output_.rows());
  network_.backward(parameters_, rows, numbers, d_mean_, &gradient, nullptr, nullptr);
}

template <typename Scalar>
void CellPlayer<Scalar>::step(const CellRows& rows, const Matrix<Scalar>& numbers, double rate,
                              double decay) {
  parameter_gradient(rows, numbers, gradient_);
  gradient_ = -gradient_;
  parameters_ *= static_cast<Scalar>(1 - rate * decay);
  adam_.step(rate, gradient_, parameters_);
}

template class CellPlayer<float>;
#ifdef PPAN_DOUBLE_TRAINING
template class CellPlayer<double>;
#endif

}  // namespace ppan
