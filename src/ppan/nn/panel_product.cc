#include "ppan/nn/panel_product.h"

#include <new>

#include "ppan/core/per_thread.h"
#include "ppan/nn/record_tile.h"
#include "ppan/nn/register_tile.h"

namespace ppan {
namespace {

using tile::in_blocks;
using tile::Index;
using tile::kLanes;
#if defined(__x86_64__)
static_assert(tile::kPackBytes == 64, "compiled for AVX-512: see CMakeLists.txt");
#endif

// Tiles of 3 packs x 8 columns: 24 of 32 registers add up, and 11 loads feed 24 multiplications.
constexpr int kPacks = 3;
constexpr int kColumns = 8;
// Packs of inputs whose weights backward_input brings together at a time.
constexpr Index kStripPacks = 2;
// How far ahead weights are asked for that lie a column apart, where no processor foresees them.
constexpr Index kAhead = 12;

// Memory that stays from call to call; each thread has one for each number `kUse`.
template <typename Scalar>
struct Scratch {
  Scalar* data = nullptr;
  Index size = 0;
  ~Scratch() { release(); }
  void grow(Index wanted) {
    release();
    size = 0;
    data = static_cast<Scalar*>(
        ::operator new (static_cast<std::size_t>(wanted) * sizeof(Scalar), std::align_val_t{64}));
    size = wanted;
  }
  void release() {
    if (data) ::operator delete (data, std::align_val_t{64});
    data = nullptr;
  }
};
template <typename Scalar, int kUse>
Scalar* scratch(Index size) {
  static PerThread<Scratch<Scalar>> memory;
  Scratch<Scalar>& own = memory.get();
  if (own.size < size) own.grow(size);
  return own.data;
}

// Full packs of rows of a matrix, each a panel of its own: term i of panel p at [(p * terms + i) * lanes].
template <typename Scalar>
const Scalar* row_panels(Index rows, Index terms, const Scalar* matrix) {
  constexpr Index kL = kLanes<Scalar>;
  Scalar* panels = scratch<Scalar, 0>(rows * terms);
  for (Index p = 0; p < rows / kL; ++p) {
    for (Index i = 0; i < terms; ++i) {
      tile::store(panels + (p * terms + i) * kL, tile::load(matrix + i * rows + p * kL));
    }
  }
  return panels;
}

}  // namespace

static_assert(!fits_panels(1, kStripPacks* kLanes<float> - 1), "a strip of inputs must be there");

// The weights of 8 outputs stay in the first-level cache while all rows go by. Rows beyond the last full pack
// take dot products along the inputs, which fill the registers whatever their number.
template <typename Scalar>
void panel_forward(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* w,
                   const Scalar* bias, bool relu, Scalar* z) {
  constexpr Index kL = kLanes<Scalar>;
  const Scalar* panels = row_panels(rows, inputs, a);
  const Index full = rows / kL * kL;
  const Index tail = rows - full;
  Scalar* tail_rows = scratch<Scalar, 1>(kL * inputs);
  for (Index i = 0; i < inputs; ++i) {
    for (Index r = 0; r < tail; ++r) tail_rows[r * inputs + i] = a[i * rows + full + r];
  }
  in_blocks<kColumns>(outputs, [&]<int kWidth>(Index j) {
    in_blocks<kPacks>(full / kL, [&]<int kHeight>(Index p) {
      tile::product<kHeight, kWidth>(inputs, panels + p * kL * inputs, {kL * inputs, kL}, w + j * inputs,
                                     {1, inputs}, bias ? bias + j : nullptr, relu, z + j * rows + p * kL,
                                     rows);
    });
    if (tail == 0) return;
    Scalar* below = z + j * rows + full;
    in_blocks<4>(kWidth, [&]<int kRight>(Index k) {
      in_blocks<4>(tail, [&]<int kLeft>(Index r) {
        tile::dots<kLeft, kRight>(inputs, tail_rows + r * inputs, inputs, w + (j + k) * inputs, inputs,
                                  below + k * rows + r, rows);
      });
    });
    for (Index k = 0; k < kWidth; ++k) {
      for (Index r = 0; r < tail; ++r) {
        Scalar& value = below[k * rows + r];
        if (bias) value += bias[j + k];
        if (relu && !(value > 0)) value = 0;
      }
    }
  });
}

// The weights of a strip of inputs, which lie a column apart, are brought together once for all rows. For
// rows beyond the last full pack the inputs take the lanes.
template <typename Scalar>
void panel_backward_input(Index rows, Index inputs, Index outputs, const Scalar* dz, const Scalar* w,
                          Scalar* da) {
  constexpr Index kL = kLanes<Scalar>;
  constexpr Index kStrip = kStripPacks * kL;
  const Scalar* panels = row_panels(rows, outputs, dz);
  const Index full = rows / kL * kL;
  Scalar* strip = scratch<Scalar, 1>(kStrip * outputs);
  const auto work = [&](Index first) {
    for (Index j = 0; j < outputs; ++j) {
      const Scalar* column = w + j * inputs + first;
      if (j + kAhead < outputs) {
        for (Index p = 0; p < kStripPacks; ++p) __builtin_prefetch(column + kAhead * inputs + p * kL);
      }
      for (Index p = 0; p < kStripPacks; ++p) {
        tile::store(strip + (p * outputs + j) * kL, tile::load(column + p * kL));
      }
    }
    for (Index q = 0; q < kStripPacks; ++q) {
      in_blocks<kColumns>(kL, [&]<int kWidth>(Index i) {
        in_blocks<kPacks>(full / kL, [&]<int kHeight>(Index p) {
          tile::product<kHeight, kWidth, Scalar>(outputs, panels + p * kL * outputs, {kL * outputs, kL},
                                                 strip + q * kL * outputs + i, {kL, 1}, nullptr, false,
                                                 da + (first + q * kL + i) * rows + p * kL, rows);
        });
      });
    }
    in_blocks<4>(rows - full, [&]<int kWidth>(Index r) {
      Scalar across[kWidth * kStrip];
      tile::product<kStripPacks, kWidth, Scalar>(outputs, strip, {kL * outputs, kL}, dz + full + r, {rows, 1},
                                                 nullptr, false, across, kStrip);
      for (Index i = 0; i < kStrip; ++i) {
        for (Index k = 0; k < kWidth; ++k) da[(first + i) * rows + full + r + k] = across[k * kStrip + i];
      }
    });
  };
  Index first = 0;
  for (; first + kStrip <= inputs; first += kStrip) work(first);
  if (first < inputs) work(inputs - kStrip);  // overlaps the one before it and writes the same values again
}

// Inputs take the lanes, in panels of the transposed batch; the last panel overlaps the one before it.
template <typename Scalar>
void panel_backward_weights(Index rows, Index inputs, Index outputs, const Scalar* a, const Scalar* dz,
                            Scalar* dw) {
  constexpr Index kL = kLanes<Scalar>;
  const Index full = inputs / kL;
  Scalar* panels = scratch<Scalar, 0>((full + 1) * rows * kL);
  const auto pack = [&](Index panel, Index first) {
    for (Index i = 0; i < kL; ++i) {
      const Scalar* from = a + (first + i) * rows;
      Scalar* to = panels + panel * rows * kL + i;
      for (Index r = 0; r < rows; ++r) to[r * kL] = from[r];
    }
  };
  for (Index p = 0; p < full; ++p) pack(p, p * kL);
  const bool overlap = full * kL < inputs;
  if (overlap) pack(full, inputs - kL);
  in_blocks<kColumns>(outputs, [&]<int kWidth>(Index j) {
    const auto block = [&]<int kHeight>(Index panel, Index first) {
      tile::product<kHeight, kWidth, Scalar>(rows, panels + panel * rows * kL, {rows * kL, kL}, dz + j * rows,
                                             {1, rows}, nullptr, false, dw + j * inputs + first, inputs);
    };
    in_blocks<kPacks>(full, [&]<int kHeight>(Index p) { block.template operator()<kHeight>(p, p * kL); });
    if (overlap) block.template operator()<1>(full, inputs - kL);
  });
}

void panel_add_records(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                       float* z) {
  tile::add_record_product(records, inputs, outputs, x, w, relu, z);
}

// Inputs are a multiple of 16, as outputs are.
void panel_add_sparse(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                      float* z) {
  in_blocks<4>(outputs / kLanes<float>, [&]<int kPacks>(Index p) {
    const Index first = p * kLanes<float>;
    for (Index r = 0; r < records; ++r) {
      float* const to = z + r * outputs + first;
      tile::Pack<float> sum[kPacks];
      for (int k = 0; k < kPacks; ++k) sum[k] = tile::load(to + k * kLanes<float>);
      tile::add_terms<kPacks>(inputs, outputs, x + r * inputs, w + first, sum);
      const tile::Pack<float> zero{};
      for (int k = 0; k < kPacks; ++k)
        tile::store(to + k * kLanes<float>, relu ? (sum[k] > zero ? sum[k] : zero) : sum[k]);
    }
  });
}

void panel_first_layer(const FirstLayer& layer, Index records, const FirstInput& in, bool relu, float* z) {
  tile::first_record_layer(layer, records, in, relu, z);
}

void panel_draw_cells(const CellDraw& how, Index records, const CellRecord* record, const float* x,
                      std::int32_t* cell) {
  tile::draw_record_cells(how, records, record, x, cell);
}

void panel_draw_known(Index cells, const float* sums, Index records, const CellRecord* record,
                      std::int32_t* cell) {
  tile::draw_known_cells(cells, sums, records, record, cell);
}

void panel_open_gates(const GateEnds& ends, Index count, float* gate) {
  tile::open_gates(ends, count, gate);
}

template void panel_forward(Index, Index, Index, const float*, const float*, const float*, bool, float*);
template void panel_backward_input(Index, Index, Index, const float*, const float*, float*);
template void panel_backward_weights(Index, Index, Index, const float*, const float*, float*);
template void panel_forward(Index, Index, Index, const double*, const double*, const double*, bool, double*);
template void panel_backward_input(Index, Index, Index, const double*, const double*, double*);
template void panel_backward_weights(Index, Index, Index, const double*, const double*, double*);

}  // namespace ppan
