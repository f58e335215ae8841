#pragma once

// Cells drawn for records by the last layer of a network: of a record j with inputs x
//
//     P(c) = softmax(W x + table(own_j) + model(slot_j))
//
// and the cell at the share left_j of their sum. A record's logits never leave the first-level cache.

#include <cstddef>
#include <cstdint>

namespace ppan {

/// What the cells of a head are drawn from. Columns of all three begin 64 bytes apart at least: `cells` is a
/// multiple of kRecordOutputs, filled up with minus infinity in `table`.
struct CellDraw {
  std::ptrdiff_t inputs = 0;      ///< A multiple of kRecordOutputs. Many of them may be 0.
  std::ptrdiff_t cells = 0;       ///< At most kMostDrawnCells.
  const float* weight = nullptr;  ///< Cells x inputs.
  const float* table = nullptr;   ///< Cells x own cells: what is added, minus infinity for what is left out.
  const float* model = nullptr;   ///< Cells x slots.
};

/// A record for which a cell is drawn.
struct CellRecord {
  std::int32_t record = 0;  ///< Its inputs: a column.
  std::int32_t own = 0;
  std::int32_t slot = 0;
  float left = 0;  ///< On [0, 1).
};

/// More cells than a head of a model may have.
inline constexpr std::ptrdiff_t kMostDrawnCells = 4096 + 16;

/// The cell of each record. `x` is inputs x records. Cells with less than 1e-30 of the largest probability
/// are never drawn. If there is no other cell, or a logit is not a number, the result is any cell for which
/// `table` is finite, or 0.
void draw_record_cells(const CellDraw& how, std::ptrdiff_t records, const CellRecord* record, const float* x,
                       std::int32_t* cell);
/// The same where the probabilities of a slot are known: `sums` holds, cells x slots, their cumulative sums.
/// `left` is on [0, 1 - probability of the own cell), which is left out. Cells of probability 0 are never
/// drawn.
void draw_known_cells(std::ptrdiff_t cells, const float* sums, std::ptrdiff_t records,
                      const CellRecord* record, std::int32_t* cell);

/// Where gates are clipped, and where they never or always keep.
struct GateEnds {
  float most = 0;
  float never = 0;
  float always = 0;
};
/// Logits g of gates, a multiple of kRecordOutputs of them, become 1 / (1 + e^-g).
void open_gates(const GateEnds& ends, std::ptrdiff_t count, float* gate);

}  // namespace ppan
