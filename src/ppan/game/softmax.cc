#include "ppan/game/softmax.h"

namespace ppan {
namespace {

// Rows are handled a block at a time, so that row-wise quantities live on the stack and nothing is allocated.
constexpr Index kBlock = 64;
template <typename Scalar>
using RowBlock = Eigen::Array<Scalar, Eigen::Dynamic, 1, 0, kBlock, 1>;

template <typename Scalar, typename Body>
void for_row_blocks(Index rows, const Body& body) {
  for (Index first = 0; first < rows; first += kBlock) body(first, std::min(kBlock, rows - first));
}

template <typename Scalar>
void row_max(const Matrix<Scalar>& m, Index first, Index count, RowBlock<Scalar>& most) {
  most = m.col(0).segment(first, count).array();
  for (Index k = 1; k < m.cols(); ++k) most = most.max(m.col(k).segment(first, count).array());
}

// out = exp(logits - the row's largest). All exponentials in one run over the matrix: column by column, a
// matrix of ten rows would not fill one vector register, and every one of them would be computed alone.
template <typename Scalar>
void exp_above_most(const Matrix<Scalar>& logits, Matrix<Scalar>& out) {
  out.resize(logits.rows(), logits.cols());
  for_row_blocks<Scalar>(logits.rows(), [&](Index first, Index count) {
    RowBlock<Scalar> most(count);
    row_max(logits, first, count, most);
    for (Index k = 0; k < logits.cols(); ++k) {
      out.col(k).segment(first, count).array() = logits.col(k).segment(first, count).array() - most;
    }
  });
  out.array() = out.array().exp();
}

}  // namespace

template <typename Scalar>
void softmax_rows(const Matrix<Scalar>& logits, Matrix<Scalar>& out) {
  exp_above_most(logits, out);
  for_row_blocks<Scalar>(logits.rows(), [&](Index first, Index count) {
    RowBlock<Scalar> sum = out.col(0).segment(first, count).array();
    for (Index k = 1; k < out.cols(); ++k) sum += out.col(k).segment(first, count).array();
    sum = sum.inverse();
    for (Index k = 0; k < out.cols(); ++k) out.col(k).segment(first, count).array() *= sum;
  });
}

template <typename Scalar>
void log_softmax_rows(const Matrix<Scalar>& logits, Matrix<Scalar>& out) {
  exp_above_most(logits, out);
  for_row_blocks<Scalar>(logits.rows(), [&](Index first, Index count) {
    RowBlock<Scalar> shift(count);
    row_max(logits, first, count, shift);
    RowBlock<Scalar> sum = out.col(0).segment(first, count).array();
    for (Index k = 1; k < out.cols(); ++k) sum += out.col(k).segment(first, count).array();
    shift += sum.log();
    for (Index k = 0; k < out.cols(); ++k) {
      out.col(k).segment(first, count).array() = logits.col(k).segment(first, count).array() - shift;
    }
  });
}

template <typename Scalar>
void softmax_rows_backward(const Matrix<Scalar>& p, const Matrix<Scalar>& d_p, Matrix<Scalar>& d_logits) {
  d_logits.resize(p.rows(), p.cols());
  for_row_blocks<Scalar>(p.rows(), [&](Index first, Index count) {
    RowBlock<Scalar> mean = RowBlock<Scalar>::Zero(count);
    for (Index k = 0; k < p.cols(); ++k) {
      mean += p.col(k).segment(first, count).array() * d_p.col(k).segment(first, count).array();
    }
    for (Index k = 0; k < p.cols(); ++k) {
      d_logits.col(k).segment(first, count).array() =
          p.col(k).segment(first, count).array() * (d_p.col(k).segment(first, count).array() - mean);
    }
  });
}

template void softmax_rows(const Matrix<float>&, Matrix<float>&);
template void log_softmax_rows(const Matrix<float>&, Matrix<float>&);
template void softmax_rows_backward(const Matrix<float>&, const Matrix<float>&, Matrix<float>&);
template void softmax_rows(const Matrix<double>&, Matrix<double>&);
template void log_softmax_rows(const Matrix<double>&, Matrix<double>&);
template void softmax_rows_backward(const Matrix<double>&, const Matrix<double>&, Matrix<double>&);

}  // namespace ppan
