#include "ppan/nn/dense.h"

#include <cblas.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <cstddef>
#include <type_traits>

#include "ppan/nn/panel_product.h"
#include "ppan/nn/register_tile.h"

namespace ppan {
namespace {

static_assert(std::is_same_v<Index, std::ptrdiff_t>, "as register_tile.h and panel_product.h have it");

using tile::kLanes;
using tile::Pack;
using tile::WeightSteps;

// kColumns outputs for all rows.
template <int kColumns, typename Scalar>
inline void product_columns(Index rows, Index inputs, const Scalar* a, const Scalar* w, WeightSteps steps,
                            const Scalar* bias, bool relu, Scalar* z) {
  constexpr Index kL = kLanes<Scalar>;
  constexpr Index kBlock = 2 * kL;
  if (rows < kBlock) {
    for (int j = 0; j < kColumns; ++j) {
      for (Index r = 0; r < rows; ++r) {
        Scalar sum = bias ? bias[j] : Scalar(0);
        for (Index i = 0; i < inputs; ++i) sum += a[i * rows + r] * w[i * steps.input + j * steps.output];
        z[j * rows + r] = relu && !(sum > 0) ? Scalar(0) : sum;
      }
    }
    return;
  }
  const auto block = [&](Index row) {
    tile::product<2, kColumns>(inputs, a + row, {kL, rows}, w, steps, bias, relu, z + row, rows);
  };
  Index row = 0;
  for (; row + kBlock <= rows; row += kBlock) block(row);
  // The last block overlaps the one before it and writes the same values again.
  if (row < rows) block(rows - kBlock);
}

template <typename Scalar>
void product(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w, WeightSteps steps,
             const Scalar* bias, bool relu, Scalar* z) {
  Index j = 0;
  const auto run = [&]<int kColumns>() {
    product_columns<kColumns>(rows, inputs, a, w + j * steps.output, steps, bias ? bias + j : nullptr, relu,
                              z + j * rows);
    j += kColumns;
  };
  while (outputs - j >= 5 && (outputs - j) % 4 != 0) run.template operator()<5>();
  while (outputs - j >= 4) run.template operator()<4>();
  if (outputs - j == 3) run.template operator()<3>();
  if (outputs - j == 2) run.template operator()<2>();
  if (outputs - j == 1) run.template operator()<1>();
}

// dW for kOut outputs: dot products over the records.
template <int kOut, typename Scalar>
inline void weights_columns(Index rows, Index inputs, const Scalar* a, const Scalar* dz, Scalar* dw) {
  Index i = 0;
  const auto run = [&]<int kIn>() {
    tile::dots<kIn, kOut>(rows, a + i * rows, rows, dz, rows, dw + i, inputs);
    i += kIn;
  };
  while (inputs - i >= 5 && (inputs - i) % 4 != 0) run.template operator()<5>();
  while (inputs - i >= 4) run.template operator()<4>();
  if (inputs - i == 3) run.template operator()<3>();
  if (inputs - i == 2) run.template operator()<2>();
  if (inputs - i == 1) run.template operator()<1>();
}

template <typename Scalar>
void weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz, Scalar* dw) {
  constexpr int kWide = tile::kPackBytes == 64 ? 4 : 2;  // accumulators must fit the register file
  Index j = 0;
  for (; j + kWide <= outputs; j += kWide)
    weights_columns<kWide>(rows, inputs, a, dz + j * rows, dw + j * inputs);
  for (; j < outputs; ++j) weights_columns<1>(rows, inputs, a, dz + j * rows, dw + j * inputs);
}

template <typename Scalar>
Scalar column_sum(Index rows, const Scalar* column) {
  constexpr Index kL = kLanes<Scalar>;
  Pack<Scalar> sum{};
  Index row = 0;
  for (; row + kL <= rows; row += kL) sum += tile::load(column + row);
  Scalar total = tile::sum_lanes<Scalar>(sum);
  for (; row < rows; ++row) total += column[row];
  return total;
}

// C (m x n) = op(A) op(B), column-major.
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, Index m, Index n, Index k, const float* a, Index lda,
          const float* b, Index ldb, float* c, Index ldc) {
  cblas_sgemm(CblasColMajor, ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0F, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), 0.0F, c, static_cast<int>(ldc));
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, Index m, Index n, Index k, const double* a, Index lda,
          const double* b, Index ldb, double* c, Index ldc) {
  cblas_dgemm(CblasColMajor, ta, tb, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0, a,
              static_cast<int>(lda), b, static_cast<int>(ldb), 0.0, c, static_cast<int>(ldc));
}

}  // namespace

bool processor_has_avx512() {
#if defined(__x86_64__)
  static const bool has = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                          __builtin_cpu_supports("fma");
  return has;
#else
  return false;
#endif
}

DenseKernel dense_kernel(Index rows, Index inputs, Index outputs) {
  const bool wide = rows >= 16 && inputs >= 16 && outputs >= 8 && inputs * outputs >= 64 * 64;
  if (!wide) return DenseKernel::kNarrow;
  return processor_has_avx512() && fits_panels(rows, inputs) ? DenseKernel::kPanels : DenseKernel::kBlas;
}

template <typename Scalar>
void dense_forward(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w,
                   const Scalar* bias, bool relu, Scalar* z) {
  switch (dense_kernel(rows, inputs, outputs)) {
    case DenseKernel::kNarrow:
      product(rows, inputs, outputs, a, w, {1, inputs}, bias, relu, z);
      return;
    case DenseKernel::kPanels:
      panel_forward(rows, inputs, outputs, a, w, bias, relu, z);
      return;
    case DenseKernel::kBlas:
      break;
  }
  gemm(CblasNoTrans, CblasNoTrans, rows, outputs, inputs, a, rows, w, inputs, z, rows);
  if (!bias && !relu) return;
  for (Index j = 0; j < outputs; ++j) {
    const Scalar start = bias ? bias[j] : Scalar(0);
    Scalar* column = z + j * rows;
    if (relu) {
      for (Index r = 0; r < rows; ++r) column[r] = column[r] + start > 0 ? column[r] + start : Scalar(0);
    } else {
      for (Index r = 0; r < rows; ++r) column[r] += start;
    }
  }
}

template <typename Scalar>
void dense_backward_input(Index rows, Index inputs, Index outputs, const Scalar* dz, const Scalar* w,
                          Scalar* da) {
  switch (dense_kernel(rows, inputs, outputs)) {
    case DenseKernel::kNarrow:
      product<Scalar>(rows, outputs, inputs, dz, w, {inputs, 1}, nullptr, false, da);
      return;
    case DenseKernel::kPanels:
      panel_backward_input(rows, inputs, outputs, dz, w, da);
      return;
    case DenseKernel::kBlas:
      gemm(CblasNoTrans, CblasTrans, rows, inputs, outputs, dz, rows, w, inputs, da, rows);
      return;
  }
}

template <typename Scalar>
void dense_backward_weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz,
                            Scalar* dw, Scalar* db) {
  switch (dense_kernel(rows, inputs, outputs)) {
    case DenseKernel::kNarrow:
      weights(rows, inputs, outputs, a, dz, dw);
      break;
    case DenseKernel::kPanels:
      panel_backward_weights(rows, inputs, outputs, a, dz, dw);
      break;
    case DenseKernel::kBlas:
      gemm(CblasTrans, CblasNoTrans, inputs, outputs, rows, a, rows, dz, rows, dw, inputs);
      break;
  }
  if (db) {
    for (Index j = 0; j < outputs; ++j) db[j] = column_sum(rows, dz + j * rows);
  }
}

template void dense_forward(Index, Index, Index, const float*, const float*, const float*, bool, float*);
template void dense_backward_input(Index, Index, Index, const float*, const float*, float*);
template void dense_backward_weights(Index, Index, Index, const float*, const float*, float*, float*);
template void dense_forward(Index, Index, Index, const double*, const double*, const double*, bool, double*);
template void dense_backward_input(Index, Index, Index, const double*, const double*, double*);
template void dense_backward_weights(Index, Index, Index, const double*, const double*, double*, double*);

}  // namespace ppan
