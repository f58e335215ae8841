#pragma once

// The three products of a dense layer, for column-major matrices with a row per record:
//     forward          Z = A W + b          A: n x in,  W: in x out,  Z: n x out
//     backward input   dA = dZ W^T
//     backward weights dW = A^T dZ,  db = column sums of dZ
// Narrow layers (the paper's have 5 or 20 units) run in kernels of our own that vectorise over the records.
// Wide ones go to OpenBLAS or, for mini-batches on a processor with AVX-512, through panels
// (panel_product.h). docs/decisions/0002-dense-kernels.md has the measurements behind the borders.

#include <cstdint>

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

// The same for records that lie one after the other, each with its numbers together, as a release has them:
// what is one column of x and z here is one row above. Weights are outputs x inputs, and outputs are a
// multiple of kRecordOutputs: whoever packs them fills up with 0.

inline constexpr Index kRecordOutputs = 16;

/// z += W x, then max(0, .) if `relu`. x: inputs x records, w: outputs x inputs, z: outputs x records.
void add_record_product(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                        float* z);
/// The same where many numbers of x are 0, as behind max(0, .): their weights are not looked at.
/// Inputs are a multiple of kRecordOutputs too.
void add_sparse_product(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                        float* z);
/// z = bias + the columns of W that `which` names, `count` for each record: W x where x is 1 there and 0
/// elsewhere.
void sum_record_columns(Index records, Index count, Index outputs, const std::int32_t* which, const float* w,
                        const float* bias, float* z);

}  // namespace ppan
