#pragma once

#include "ppan/core/matrix.h"

namespace ppan {

/// out(i, :) = softmax(logits(i, :)), stable for any finite logits. `out` may be `logits`.
template <typename Scalar>
void softmax_rows(const Matrix<Scalar>& logits, Matrix<Scalar>& out);

/// out(i, :) = log softmax(logits(i, :)). `out` must not be `logits`.
template <typename Scalar>
void log_softmax_rows(const Matrix<Scalar>& logits, Matrix<Scalar>& out);

/// Back through the softmax: d_logits(i, k) = p(i, k) (d_p(i, k) - sum_l p(i, l) d_p(i, l)).
template <typename Scalar>
void softmax_rows_backward(const Matrix<Scalar>& p, const Matrix<Scalar>& d_p, Matrix<Scalar>& d_logits);

}  // namespace ppan
