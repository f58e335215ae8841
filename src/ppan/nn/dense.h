#pragma once

// The three products of a dense layer, for column-major matrices with a row per record:
//     forward          Z = A W + b          A: n x in,  W: in x out,  Z: n x out
//     backward input   dA = dZ W^T
//     backward weights dW = A^T dZ,  db = column sums of dZ
// Narrow layers (the paper's have 5 or 20 units) run in kernels of our own that vectorise over the records.
// Wide ones go to OpenBLAS or, for mini-batches on a processor with AVX-512, through panels
// (panel_product.h). docs/decisions/0002-dense-kernels.md has the measurements behind the borders.

#include "ppan/core/matrix.h"

namespace ppan {

enum class DenseKernel { kNarrow, kPanels, kBlas };
/// What computes a layer of this size.
DenseKernel dense_kernel(Index rows, Index inputs, Index outputs);

/// Z = A W + b, then max(0, .) if `relu`. `bias` may be null. A and Z must not overlap.
template <typename Scalar>
void dense_forward(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w,
                   const Scalar* bias, bool relu, Scalar* z);

/// dA = dZ W^T.
template <typename Scalar>
void dense_backward_input(Index rows, Index inputs, Index outputs, const Scalar* dz, const Scalar* w,
                          Scalar* da);

/// dW = A^T dZ and db = 1^T dZ, overwriting. `db` may be null.
template <typename Scalar>
void dense_backward_weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz,
                            Scalar* dw, Scalar* db);

}  // namespace ppan
