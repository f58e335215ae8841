#pragma once

// Tiles of a matrix product that fit into the registers. All products of dense layers, narrow and wide, are
// made of these two tiles; dense.cc and panel_product.cc differ in how they traverse memory.

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ppan::tile {

using Index = std::ptrdiff_t;

// Files of one program may be compiled for different processors; the name keeps their tiles apart.
#if defined(__AVX512F__)
inline namespace pack64 {
inline constexpr Index kPackBytes = 64;
#elif defined(__AVX__)
inline namespace pack32 {
inline constexpr Index kPackBytes = 32;
#else
inline namespace pack16 {
inline constexpr Index kPackBytes = 16;
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
inline constexpr Index kLanes = kPackBytes / static_cast<Index>(sizeof(Scalar));

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

// Where the factors of a product lie: pack p of term i of the left one at a[p * pack + i * term], term i of
// column j of the right one at w[i * input + j * output]. One kernel so serves W and W^T, packed or not.
struct LeftSteps {
  Index pack;
  Index term;
};
struct WeightSteps {
  Index input;
  Index output;
};

// kColumns columns of kPacks packs of rows of Z = A W + bias, then max(0, .) if `relu`: a sum over `terms`,
// in their order, in every lane. Column j goes to z + j * z_column.
template <int kPacks, int kColumns, typename Scalar>
inline void product(Index terms, const Scalar* a, LeftSteps left, const Scalar* w, WeightSteps steps,
                    const Scalar* bias, bool relu, Scalar* z, Index z_column) {
  constexpr Index kL = kLanes<Scalar>;
  Pack<Scalar> sum[kColumns][kPacks];
  for (int j = 0; j < kColumns; ++j) {
    const Scalar start = bias ? bias[j] : Scalar(0);
    for (int p = 0; p < kPacks; ++p) sum[j][p] = Pack<Scalar>{} + start;
  }
  for (Index i = 0; i < terms; ++i) {
    Pack<Scalar> rows[kPacks];
    for (int p = 0; p < kPacks; ++p) rows[p] = load(a + p * left.pack + i * left.term);
    const Scalar* weight = w + i * steps.input;
    for (int j = 0; j < kColumns; ++j) {
      const Scalar wij = weight[j * steps.output];
      for (int p = 0; p < kPacks; ++p) sum[j][p] += rows[p] * wij;
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int p = 0; p < kPacks; ++p) {
      const Pack<Scalar> zero{};
      if (relu) sum[j][p] = sum[j][p] > zero ? sum[j][p] : zero;
      store(z + j * z_column + p * kL, sum[j][p]);
    }
  }
}

// z += W^T x for kRecords records that lie one after the other, then max(0, .) if `relu`: kPacks packs of
// outputs. Term i of record j is x[j * x_step + i], its weights begin at w + i * w_step, and outputs at
// z + j * z_step.
template <int kPacks, int kRecords, typename Scalar>
inline void add_records(Index terms, const Scalar* x, Index x_step, const Scalar* w, Index w_step, bool relu,
                        Scalar* z, Index z_step) {
  constexpr Index kL = kLanes<Scalar>;
  Pack<Scalar> sum[kRecords][kPacks];
  for (int j = 0; j < kRecords; ++j) {
    for (int p = 0; p < kPacks; ++p) sum[j][p] = load(z + j * z_step + p * kL);
  }
  for (Index i = 0; i < terms; ++i) {
    Pack<Scalar> weight[kPacks];
    for (int p = 0; p < kPacks; ++p) weight[p] = load(w + i * w_step + p * kL);
    for (int j = 0; j < kRecords; ++j) {
      const Scalar term = x[j * x_step + i];
      for (int p = 0; p < kPacks; ++p) sum[j][p] += weight[p] * term;
    }
  }
  for (int j = 0; j < kRecords; ++j) {
    for (int p = 0; p < kPacks; ++p) {
      const Pack<Scalar> zero{};
      if (relu) sum[j][p] = sum[j][p] > zero ? sum[j][p] : zero;
      store(z + j * z_step + p * kL, sum[j][p]);
    }
  }
}

// Calls `block.operator()<n>(first)` for blocks that cover [0, count), as large as kMost and then smaller.
template <int kMost, typename Block>
void in_blocks(Index count, const Block& block, Index first = 0) {
  for (; count - first >= kMost; first += kMost) block.template operator()<kMost>(first);
  constexpr int kNext = kMost > 4 ? kMost / 2 : kMost - 1;
  if constexpr (kNext > 0) {
    if (first < count) in_blocks<kNext>(count, block, first);
  }
}

// As record_layers.h has them. A tile of outputs and records adds up in 24 of 32 registers, or 12 of 16.
inline constexpr int kOutputPacks = kPackBytes == 64 ? 4 : 2;

template <typename Scalar>
void add_record_product(Index records, Index inputs, Index outputs, const Scalar* x, const Scalar* w,
                        bool relu, Scalar* z) {
  constexpr Index kL = kLanes<Scalar>;
  in_blocks<kOutputPacks>(outputs / kL, [&]<int kPacks>(Index p) {
    in_blocks<6>(records, [&]<int kRecords>(Index r) {
      add_records<kPacks, kRecords>(inputs, x + r * inputs, inputs, w + p * kL, outputs, relu,
                                    z + r * outputs + p * kL, outputs);
    });
  });
}

// Lanes that the overlapping last pack must not count again.
template <typename Scalar>
Pack<Scalar> tail_mask(Index fresh) {
  Scalar lane[kLanes<Scalar>];
  for (Index i = 0; i < kLanes<Scalar>; ++i) lane[i] = i >= kLanes<Scalar> - fresh ? Scalar(1) : Scalar(0);
  return load(lane);
}

// Dot products over `terms` contiguous numbers: of kLeft vectors, a_step apart, with kRight, b_step apart.
// That of left i and right j goes to out[j * out_step + i].
template <int kLeft, int kRight, typename Scalar>
inline void dots(Index terms, const Scalar* a, Index a_step, const Scalar* b, Index b_step, Scalar* out,
                 Index out_step) {
  constexpr Index kL = kLanes<Scalar>;
  if (terms < kL) {
    for (int j = 0; j < kRight; ++j) {
      for (int i = 0; i < kLeft; ++i) {
        Scalar sum = 0;
        for (Index t = 0; t < terms; ++t) sum += a[i * a_step + t] * b[j * b_step + t];
        out[j * out_step + i] = sum;
      }
    }
    return;
  }
  Pack<Scalar> sum[kRight][kLeft] = {};
  const auto add = [&](Index term, const Pack<Scalar>* mask) {
    Pack<Scalar> left[kLeft];
    for (int i = 0; i < kLeft; ++i) left[i] = load(a + i * a_step + term);
    for (int j = 0; j < kRight; ++j) {
      Pack<Scalar> right = load(b + j * b_step + term);
      if (mask) right *= *mask;
      for (int i = 0; i < kLeft; ++i) sum[j][i] += left[i] * right;
    }
  };
  Index term = 0;
  for (; term + kL <= terms; term += kL) add(term, nullptr);
  if (term < terms) {
    const Pack<Scalar> mask = tail_mask<Scalar>(terms - term);
    add(terms - kL, &mask);
  }
  for (int j = 0; j < kRight; ++j) {
    for (int i = 0; i < kLeft; ++i) out[j * out_step + i] = sum_lanes<Scalar>(sum[j][i]);
  }
}

}  // namespace of the width
}  // namespace ppan::tile
