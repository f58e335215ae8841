#include "ppan/nn/dense.h"

#include <cblas.h>

#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace ppan {
namespace {

#if defined(__AVX512F__)
constexpr Index kPackBytes = 64;
#elif defined(__AVX__)
constexpr Index kPackBytes = 32;
#else
constexpr Index kPackBytes = 16;
#endif

// A vector register of `Scalar`s, by the vector extension of GCC and Clang.
template <typename Scalar>
struct PackOf;
template <>
struct PackOf<float> {
  using Type __attribute__((vector_size(kPackBytes))) = float;
};
template <>
struct PackOf<double> {
  using Type __attribute__((vector_size(kPackBytes))) = double;
};
template <typename Scalar>
using Pack = typename PackOf<Scalar>::Type;
template <typename Scalar>
constexpr Index kLanes = kPackBytes / static_cast<Index>(sizeof(Scalar));

template <typename Scalar>
Pack<Scalar> load(const Scalar* p) {
  Pack<Scalar> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <typename Scalar>
void store(Scalar* p, Pack<Scalar> v) {
  std::memcpy(p, &v, sizeof v);
}

// Sum of the lanes in a fixed order, so that the result does not depend on the optimiser: halves are added
// until one number is left, lane i to lane i + half.
template <typename Scalar, Index kBytes>
struct LaneSum {
  using Whole __attribute__((vector_size(kBytes))) = Scalar;
  using Half __attribute__((vector_size(kBytes / 2))) = Scalar;
  static Scalar of(Whole v) {
    Half half[2];
    std::memcpy(half, &v, sizeof v);
    return LaneSum<Scalar, kBytes / 2>::of(half[0] + half[1]);
  }
};
template <>
struct LaneSum<float, 16> {
  using Whole __attribute__((vector_size(16))) = float;
  static float of(Whole v) { return (v[0] + v[2]) + (v[1] + v[3]); }
};
template <>
struct LaneSum<double, 16> {
  using Whole __attribute__((vector_size(16))) = double;
  static double of(Whole v) { return v[0] + v[1]; }
};

template <typename Scalar>
Scalar sum_lanes(Pack<Scalar> v) {
  return LaneSum<Scalar, kPackBytes>::of(v);
}

// Weight of input i for output j, at w[i * input_step + j * output_step]: one kernel serves W and W^T.
struct WeightSteps {
  Index input_step;
  Index output_step;
};

// kColumns outputs of 2 packs of rows starting at `row`.
template <int kColumns, typename Scalar>
inline void product_tile(Index rows, Index inputs, const Scalar* a, const Scalar* w, WeightSteps steps,
                         const Scalar* bias, bool relu, Scalar* z, Index row) {
  constexpr Index kL = kLanes<Scalar>;
  Pack<Scalar> low[kColumns];
  Pack<Scalar> high[kColumns];
  for (int j = 0; j < kColumns; ++j) {
    const Scalar start = bias ? bias[j] : Scalar(0);
    low[j] = Pack<Scalar>{} + start;
    high[j] = low[j];
  }
  const Scalar* column = a + row;
  for (Index i = 0; i < inputs; ++i, column += rows) {
    const Pack<Scalar> a_low = load(column);
    const Pack<Scalar> a_high = load(column + kL);
    const Scalar* weight = w + i * steps.input_step;
    for (int j = 0; j < kColumns; ++j) {
      const Scalar wij = weight[j * steps.output_step];
      low[j] += a_low * wij;
      high[j] += a_high * wij;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    if (relu) {
      const Pack<Scalar> zero{};
      low[j] = low[j] > zero ? low[j] : zero;
      high[j] = high[j] > zero ? high[j] : zero;
    }
    store(z + j * rows + row, low[j]);
    store(z + j * rows + row + kL, high[j]);
  }
}

template <int kColumns, typename Scalar>
inline void product_columns(Index rows, Index inputs, const Scalar* a, const Scalar* w, WeightSteps steps,
                            const Scalar* bias, bool relu, Scalar* z) {
  constexpr Index kBlock = 2 * kLanes<Scalar>;
  if (rows < kBlock) {
    for (int j = 0; j < kColumns; ++j) {
      for (Index r = 0; r < rows; ++r) {
        Scalar sum = bias ? bias[j] : Scalar(0);
        for (Index i = 0; i < inputs; ++i) {
          sum += a[i * rows + r] * w[i * steps.input_step + j * steps.output_step];
        }
        z[j * rows + r] = relu && !(sum > 0) ? Scalar(0) : sum;
      }
    }
    return;
  }
  Index row = 0;
  for (; row + kBlock <= rows; row += kBlock) {
    product_tile<kColumns>(rows, inputs, a, w, steps, bias, relu, z, row);
  }
  // The last block overlaps the one before it and writes the same values again.
  if (row < rows) product_tile<kColumns>(rows, inputs, a, w, steps, bias, relu, z, rows - kBlock);
}

template <typename Scalar>
void product(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w, WeightSteps steps,
             const Scalar* bias, bool relu, Scalar* z) {
  Index j = 0;
  const auto run = [&]<int kColumns>() {
    product_columns<kColumns>(rows, inputs, a, w + j * steps.output_step, steps, bias ? bias + j : nullptr,
                              relu, z + j * rows);
    j += kColumns;
  };
  while (outputs - j >= 5 && (outputs - j) % 4 != 0) run.template operator()<5>();
  while (outputs - j >= 4) run.template operator()<4>();
  if (outputs - j == 3) run.template operator()<3>();
  if (outputs - j == 2) run.template operator()<2>();
  if (outputs - j == 1) run.template operator()<1>();
}

// Lanes that the overlapping last pack must not count again.
template <typename Scalar>
Pack<Scalar> tail_mask(Index fresh) {
  Scalar lane[kLanes<Scalar>];
  for (Index i = 0; i < kLanes<Scalar>; ++i) lane[i] = i >= kLanes<Scalar> - fresh ? Scalar(1) : Scalar(0);
  return load(lane);
}

// dW for kIn inputs and kOut outputs: dot products over the records.
template <int kIn, int kOut, typename Scalar>
inline void weights_tile(Index rows, Index inputs, const Scalar* a, const Scalar* dz, Scalar* dw) {
  constexpr Index kL = kLanes<Scalar>;
  if (rows < kL) {
    for (int j = 0; j < kOut; ++j) {
      for (int i = 0; i < kIn; ++i) {
        Scalar sum = 0;
        for (Index r = 0; r < rows; ++r) sum += a[i * rows + r] * dz[j * rows + r];
        dw[j * inputs + i] = sum;
      }
    }
    return;
  }
  Pack<Scalar> sum[kOut][kIn] = {};
  const auto add = [&](Index row, const Pack<Scalar>* mask) {
    Pack<Scalar> left[kIn];
    for (int i = 0; i < kIn; ++i) left[i] = load(a + i * rows + row);
    for (int j = 0; j < kOut; ++j) {
      Pack<Scalar> right = load(dz + j * rows + row);
      if (mask) right *= *mask;
      for (int i = 0; i < kIn; ++i) sum[j][i] += left[i] * right;
    }
  };
  Index row = 0;
  for (; row + kL <= rows; row += kL) add(row, nullptr);
  if (row < rows) {
    const Pack<Scalar> mask = tail_mask<Scalar>(rows - row);
    add(rows - kL, &mask);
  }
  for (int j = 0; j < kOut; ++j) {
    for (int i = 0; i < kIn; ++i) dw[j * inputs + i] = sum_lanes<Scalar>(sum[j][i]);
  }
}

template <int kOut, typename Scalar>
inline void weights_columns(Index rows, Index inputs, const Scalar* a, const Scalar* dz, Scalar* dw) {
  Index i = 0;
  const auto run = [&]<int kIn>() {
    weights_tile<kIn, kOut>(rows, inputs, a + i * rows, dz, dw + i);
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
  constexpr int kWide = kPackBytes == 64 ? 4 : 2;  // accumulators must fit the register file
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
  for (; row + kL <= rows; row += kL) sum += load(column + row);
  Scalar total = sum_lanes<Scalar>(sum);
  for (; row < rows; ++row) total += column[row];
  return total;
}

// OpenBLAS picks its kernels from a list of processor models. One that is newer than the list gets those for
// SSE3, which on a processor with AVX-512 are four times slower than the right ones. Choosing again, by what
// the processor can do, goes through two functions that OpenBLAS exports but does not document; where they
// are missing, or where the user has chosen (OPENBLAS_CORETYPE), nothing is done.
extern "C" void gotoblas_dynamic_quit() __attribute__((weak));
extern "C" void gotoblas_dynamic_init() __attribute__((weak));

bool choose_blas_kernels() {
#if defined(__x86_64__)
  constexpr const char* kChoice = "OPENBLAS_CORETYPE";
  if (!gotoblas_dynamic_quit || !gotoblas_dynamic_init || std::getenv(kChoice)) return false;
  if (std::strcmp(openblas_get_corename(), "Prescott") != 0) return false;
  const char* kernels = nullptr;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) kernels = "Haswell";
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    kernels = "SkylakeX";
  }
  if (!kernels) return false;
  ::setenv(kChoice, kernels, 0);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  ::unsetenv(kChoice);
  return true;
#else
  return false;
#endif
}

// Before main(), while nothing can be using BLAS.
[[maybe_unused]] const bool blas_kernels_chosen = choose_blas_kernels();

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

bool uses_blas(Index rows, Index inputs, Index outputs) {
  return rows >= 16 && inputs >= 16 && outputs >= 8 && inputs * outputs >= 64 * 64;
}

template <typename Scalar>
void dense_forward(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w,
                   const Scalar* bias, bool relu, Scalar* z) {
  if (!uses_blas(rows, inputs, outputs)) {
    product(rows, inputs, outputs, a, w, {1, inputs}, bias, relu, z);
    return;
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
  if (!uses_blas(rows, inputs, outputs)) {
    product<Scalar>(rows, outputs, inputs, dz, w, {inputs, 1}, nullptr, false, da);
    return;
  }
  gemm(CblasNoTrans, CblasTrans, rows, inputs, outputs, dz, rows, w, inputs, da, rows);
}

template <typename Scalar>
void dense_backward_weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz,
                            Scalar* dw, Scalar* db) {
  if (uses_blas(rows, inputs, outputs)) {
    gemm(CblasTrans, CblasNoTrans, inputs, outputs, rows, a, rows, dz, rows, dw, inputs);
  } else {
    weights(rows, inputs, outputs, a, dz, dw);
  }
  if (db) {
    for (Index j = 0; j < outputs; ++j) db[j] = column_sum(rows, dz + j * rows);
  }
}

void set_blas_threads(int threads) {
  openblas_set_num_threads(threads);
}
const char* blas_description() {
  return openblas_get_config();
}

template void dense_forward(Index, Index, Index, const float*, const float*, const float*, bool, float*);
template void dense_forward(Index, Index, Index, const double*, const double*, const double*, bool, double*);
template void dense_backward_input(Index, Index, Index, const float*, const float*, float*);
template void dense_backward_input(Index, Index, Index, const double*, const double*, double*);
template void dense_backward_weights(Index, Index, Index, const float*, const float*, float*, float*);
template void dense_backward_weights(Index, Index, Index, const double*, const double*, double*, double*);

}  // namespace ppan
