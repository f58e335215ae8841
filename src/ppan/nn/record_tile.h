#pragma once

// cell_draw.h and the first layer of record_layers.h, a register at a time, for whatever processor the
// including file is compiled for. As in panel_product.cc, nothing with inline functions of its own is
// included.

#include "ppan/nn/cell_draw.h"
#include "ppan/nn/record_layers.h"
#include "ppan/nn/register_tile.h"

namespace ppan::tile {
#if defined(__AVX512F__)
inline namespace pack64 {
#elif defined(__AVX__)
inline namespace pack32 {
#else
inline namespace pack16 {
#endif

using Floats = Pack<float>;
using Integers __attribute__((vector_size(kPackBytes))) = std::int32_t;
inline constexpr int kFloatLanes = static_cast<int>(kLanes<float>);
inline constexpr float kNoLogit = -__builtin_inff();

// e^x for x <= 0; 0 where that is less than 1e-30 or x is not a number. Cephes' polynomial.
inline Floats exponential(Floats x) {
  constexpr float kOut = -80;
  constexpr float kLeast = 1e-30F;
  constexpr float kRounder = 0x1.8p23F;  // adding it leaves whole numbers in the last bits
  x = x > Floats{} + kOut ? x : Floats{} + kOut;
  const Floats shifted = x * 1.44269504088896341F + kRounder;
  const Floats n = shifted - kRounder;
  Floats r = x - n * 0.693359375F;
  r = r - n * -2.12194440e-4F;
  Floats p = r * 1.9875691500e-4F + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * (r * r) + r + 1.0F;
  Integers power;
  std::memcpy(&power, &shifted, sizeof power);
  power = (power << 23) + (127 << 23);  // what the rounder itself has in these bits is shifted out
  Floats scale;
  std::memcpy(&scale, &power, sizeof scale);
  p *= scale;
  return p < Floats{} + kLeast ? Floats{} : p;
}

template <Index kBytes>
struct LaneMost {
  using Whole __attribute__((vector_size(kBytes))) = float;
  using Half __attribute__((vector_size(kBytes / 2))) = float;
  static float of(Whole v) {
    Half half[2];
    std::memcpy(half, &v, sizeof v);
    return LaneMost<kBytes / 2>::of(half[0] > half[1] ? half[0] : half[1]);
  }
};
template <>
struct LaneMost<8> {
  using Whole __attribute__((vector_size(8))) = float;
  static float of(Whole v) { return v[0] > v[1] ? v[0] : v[1]; }
};

// Sums of each lane and those before it.
template <int... kLane>
struct LaneList {};
template <int kCount, int... kLane>
struct FirstLanes : FirstLanes<kCount - 1, kCount - 1, kLane...> {};
template <int... kLane>
struct FirstLanes<0, kLane...> {
  using Type = LaneList<kLane...>;
};
template <int kShift, int... kLane>
Floats moved_up(Floats v, LaneList<kLane...> /*lanes*/) {
  return __builtin_shufflevector(Floats{}, v, (kLane < kShift ? 0 : kFloatLanes + kLane - kShift)...);
}
template <int kShift = 1>
Floats running_sums(Floats v) {
  if constexpr (kShift >= kFloatLanes) {
    return v;
  } else {
    return running_sums<2 * kShift>(v + moved_up<kShift>(v, typename FirstLanes<kFloatLanes>::Type{}));
  }
}

// How many lanes are at most x.
inline int lanes_at_most(Floats v, float x) {
#if defined(__AVX512F__)
  constexpr int kLessOrEqual = 2;
  return __builtin_popcount(
      static_cast<std::uint16_t>(__builtin_ia32_cmpps512_mask(v, Floats{} + x, kLessOrEqual, 0xffff, 4)));
#else
  int count = 0;
  for (int i = 0; i < kFloatLanes; ++i) count += v[i] <= x ? 1 : 0;
  return count;
#endif
}

// The lane at `left` of the sum of all. If rounding leaves a remainder after the last lane, the last lane is
// returned.
inline int lane_at(Floats weight, float left) {
  const int lane = lanes_at_most(running_sums(weight), left);
  if (lane < kFloatLanes && weight[lane] > 0) return lane;
  for (int i = kFloatLanes - 1; i > 0; --i) {
    if (weight[i] > 0) return i;
  }
  return 0;
}

// The cell at `share` of the sum of all weights; `sum` are those of packs.
inline std::int32_t cell_at(Index packs, const float* weight, const float* sum, float share) {
  float total = 0;
  for (Index p = 0; p < packs; ++p) total += sum[p];
  float left = total * share;
  Index pack = 0;
  float in_pack = left;
  for (Index p = 0; p < packs; ++p) {
    if (!(sum[p] > 0)) continue;
    pack = p;
    in_pack = left;
    if (left < sum[p]) break;
    left -= sum[p];
  }
  const Index first = pack * kFloatLanes;
  return static_cast<std::int32_t>(first + lane_at(load(weight + first), in_pack));
}

// kPacks packs of the first layer of kRecords records.
template <int kPacks, int kRecords>
inline void first_records(const FirstLayer& layer, Index first, Index record, const FirstInput& in, bool relu,
                          float* z) {
  Floats sum[kRecords][kPacks];
  for (int j = 0; j < kRecords; ++j) {
    for (int p = 0; p < kPacks; ++p) sum[j][p] = load(layer.bias + first + p * kFloatLanes);
    for (Index k = 0; k < layer.ones; ++k) {
      const float* const w =
          layer.of_features + in.ones[(record + j) * layer.ones + k] * layer.outputs + first;
      for (int p = 0; p < kPacks; ++p) sum[j][p] += load(w + p * kFloatLanes);
    }
  }
  const auto add = [&](Index count, const float* weights, const float* x) {
    for (Index i = 0; i < count; ++i) {
      Floats weight[kPacks];
      for (int p = 0; p < kPacks; ++p)
        weight[p] = load(weights + i * layer.outputs + first + p * kFloatLanes);
      for (int j = 0; j < kRecords; ++j) {
        for (int p = 0; p < kPacks; ++p) sum[j][p] += weight[p] * x[(record + j) * count + i];
      }
    }
  };
  add(layer.numbers, layer.of_numbers, in.numbers);
  add(layer.noise, layer.of_noise, in.noise);
  for (int j = 0; j < kRecords; ++j) {
    for (int p = 0; p < kPacks; ++p) {
      const Floats zero{};
      if (relu) sum[j][p] = sum[j][p] > zero ? sum[j][p] : zero;
      store(z + (record + j) * layer.outputs + first + p * kFloatLanes, sum[j][p]);
    }
  }
}

inline void first_record_layer(const FirstLayer& layer, Index records, const FirstInput& in, bool relu,
                               float* z) {
  in_blocks<kOutputPacks>(layer.outputs / kFloatLanes, [&]<int kPacks>(Index p) {
    in_blocks<5>(records, [&]<int kRecords>(Index r) {
      first_records<kPacks, kRecords>(layer, p * kFloatLanes, r, in, relu, z);
    });
  });
}

// kPacks packs of sum + W x. Pairs of terms have sums of their own, so that no addition waits for the one
// before it. With AVX-512, which finds the nonzero inputs in one instruction, the weights of the others are
// not read.
template <int kPacks>
inline void add_terms(Index inputs, Index outputs, const float* x, const float* w, Floats* sum) {
  Floats odd[kPacks] = {};
  const auto add = [&](Floats* to, Index term) {
    for (int p = 0; p < kPacks; ++p) to[p] += load(w + term * outputs + p * kFloatLanes) * x[term];
  };
#if defined(__AVX512F__)
  for (Index first = 0; first < inputs; first += 64) {
    const Index end = inputs - first < 64 ? inputs - first : 64;
    std::uint64_t left = 0;
    for (Index i = 0; i < end; i += 16) {
      const auto some =  // its type is signed
          static_cast<std::uint16_t>(
              __builtin_ia32_cmpps512_mask(load(x + first + i), Floats{}, 4, 0xffff, 4));
      left |= std::uint64_t{some} << static_cast<unsigned>(i);
    }
    while (left != 0) {
      add(sum, first + __builtin_ctzll(left));
      left &= left - 1;
      if (left == 0) break;
      add(odd, first + __builtin_ctzll(left));
      left &= left - 1;
    }
  }
#else
  for (Index i = 0; i < inputs; i += 2) {
    add(sum, i);
    add(odd, i + 1);
  }
#endif
  for (int p = 0; p < kPacks; ++p) sum[p] += odd[p];
}

inline void draw_record_cells(const CellDraw& how, Index records, const CellRecord* record, const float* x,
                              std::int32_t* cell) {
  alignas(64) float weight[kMostDrawnCells];
  float sum[kMostDrawnCells / kFloatLanes];
  const Index packs = how.cells / kFloatLanes;
  for (Index j = 0; j < records; ++j) {
    const float* const in = x + record[j].record * how.inputs;
    const float* const table = how.table + record[j].own * how.cells;
    const float* const model = how.model + record[j].slot * how.cells;
    Floats most = Floats{} + kNoLogit;
    in_blocks<4>(packs, [&]<int kPacks>(Index p) {
      const Index first = p * kFloatLanes;
      Floats logit[kPacks];
      for (int k = 0; k < kPacks; ++k)
        logit[k] = load(table + first + k * kFloatLanes) + load(model + first + k * kFloatLanes);
      add_terms<kPacks>(how.inputs, how.cells, in, how.weight + first, logit);
      for (int k = 0; k < kPacks; ++k) {
        most = logit[k] > most ? logit[k] : most;
        store(weight + first + k * kFloatLanes, logit[k]);
      }
    });
    const float top = LaneMost<kPackBytes>::of(most);
    for (Index p = 0; p < packs; ++p) {
      const Floats w = exponential(load(weight + p * kFloatLanes) - top);  // 0 where all are left out
      store(weight + p * kFloatLanes, w);
      sum[p] = sum_lanes<float>(w);
    }
    cell[j] = cell_at(packs, weight, sum, record[j].left);
  }
}

inline void draw_known_cells(Index cells, const float* sums, Index records, const CellRecord* record,
                             std::int32_t* cell) {
  for (Index j = 0; j < records; ++j) {
    const float* const sum = sums + record[j].slot * cells;
    const std::int32_t own = record[j].own;
    const float before = own > 0 ? sum[own - 1] : 0;
    float left = record[j].left;
    if (left >= before) {  // after the own cell
      left += sum[own] - before;
      left = left > sum[own] ? left : sum[own];
    }
    Index found = 0;
    Index first = 0;
    for (; first < cells; first += kFloatLanes) {
      found = first + lanes_at_most(load(sum + first), left);
      if (found < first + kFloatLanes) break;
    }
    if (first >= cells) {  // rounding left a remainder after the last cell: take the last
      found = cells - 1;
      while (found > 0 && (found == own || !(sum[found] > sum[found - 1]))) --found;
    }
    cell[j] = static_cast<std::int32_t>(found);
  }
}

inline void open_gates(const GateEnds& ends, Index count, float* gate) {
  for (Index i = 0; i < count; i += kFloatLanes) {
    const Floats g = load(gate + i);
    Floats size = g < Floats{} ? -g : g;
    size = size < Floats{} + ends.most ? size : Floats{} + ends.most;
    const Floats e = exponential(-size);
    Floats out = (g < Floats{} ? e : Floats{} + 1.0F) / (e + 1.0F);
    out = g <= Floats{} + ends.never ? Floats{} : out;
    out = g >= Floats{} + ends.always ? Floats{} + 1.0F : out;
    store(gate + i, out);
  }
}

}  // namespace pack64, pack32 or pack16
}  // namespace ppan::tile
