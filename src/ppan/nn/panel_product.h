#pragma once

// The three products of a wide dense layer for a mini-batch. They are faster than a general BLAS because they
// use what it cannot know: that one factor, the batch, is small. Only the batch is packed into panels (a
// register's width of rows, term after term); the weights, ten times as much, are read once, in place. Rows
// that do not fill a register cost only their share of it. docs/decisions/0002-dense-kernels.md has the
// measurement.

// They need AVX-512, whose 32 registers hold the tiles. Only panel_product.cc is compiled for it, on every
// x86-64 machine, and dense.cc queries the processor before it calls anything here. So that no code for
// AVX-512 reaches other files through the linker, panel_product.cc includes nothing with inline functions of
// its own: no Eigen, no containers.

#include <cstddef>
#include <cstdint>

#include "ppan/nn/cell_draw.h"
#include "ppan/nn/record_layers.h"

namespace ppan {

/// Whether this processor has the features that panel_product.cc is compiled for, whatever the other files
/// are compiled for (CMakeLists.txt).
bool processor_has_avx512();

/// True where panels pay on a processor with AVX-512: the batch is small enough to stay in the second-level
/// cache.
constexpr bool fits_panels(std::ptrdiff_t rows, std::ptrdiff_t inputs) {
  return rows <= 512 && inputs >= 32;
}

// As dense_forward() and the others of dense.h; the layer must fit.
template <typename Scalar>
void panel_forward(std::ptrdiff_t rows, std::ptrdiff_t inputs, std::ptrdiff_t outputs, const Scalar* a,
                   const Scalar* w, const Scalar* bias, bool relu, Scalar* z);
template <typename Scalar>
void panel_backward_input(std::ptrdiff_t rows, std::ptrdiff_t inputs, std::ptrdiff_t outputs,
                          const Scalar* dz, const Scalar* w, Scalar* da);
template <typename Scalar>
void panel_backward_weights(std::ptrdiff_t rows, std::ptrdiff_t inputs, std::ptrdiff_t outputs,
                            const Scalar* a, const Scalar* dz, Scalar* dw);

// add_record_product(), add_sparse_product() and first_record_layer() of record_layers.h.
void panel_add_records(std::ptrdiff_t records, std::ptrdiff_t inputs, std::ptrdiff_t outputs, const float* x,
                       const float* w, bool relu, float* z);
void panel_add_sparse(std::ptrdiff_t records, std::ptrdiff_t inputs, std::ptrdiff_t outputs, const float* x,
                      const float* w, bool relu, float* z);
void panel_first_layer(const FirstLayer& layer, std::ptrdiff_t records, const FirstInput& in, bool relu,
                       float* z);
// And those of cell_draw.h.
void panel_draw_cells(const CellDraw& how, std::ptrdiff_t records, const CellRecord* record, const float* x,
                      std::int32_t* cell);
void panel_draw_known(std::ptrdiff_t cells, const float* sums, std::ptrdiff_t records,
                      const CellRecord* record, std::int32_t* cell);
void panel_open_gates(const GateEnds& ends, std::ptrdiff_t count, float* gate);

}  // namespace ppan
