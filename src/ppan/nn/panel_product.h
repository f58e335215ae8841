#pragma once

// The three products of a wide dense layer for a mini-batch, faster than a general BLAS by what it cannot
// know: that one factor, the batch, is small. Only the batch is brought into panels (a register's width of
// rows, term after term); the weights, ten times as much, are read once where they lie. And rows that do not
// fill a register cost what they are, not a register. docs/decisions/0002-dense-kernels.md has the
// measurement.

#include "ppan/core/matrix.h"

namespace ppan {

/// True where panels pay: the build is for AVX-512, whose 32 registers hold the tiles, and the batch is small
/// enough to stay in the second-level cache.
bool fits_panels(Index rows, Index inputs);

// As dense_forward() and the others of dense.h; the layer must fit.
template <typename Scalar>
void panel_forward(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w,
                   const Scalar* bias, bool relu, Scalar* z);
template <typename Scalar>
void panel_backward_input(Index rows, Index inputs, Index outputs, const Scalar* dz, const Scalar* w,
                          Scalar* da);
template <typename Scalar>
void panel_backward_weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz,
                            Scalar* dw);

}  // namespace ppan
