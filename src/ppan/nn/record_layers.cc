#include "ppan/nn/record_layers.h"

#include "ppan/core/matrix.h"
#include "ppan/nn/cell_draw.h"
#include "ppan/nn/panel_product.h"
#include "ppan/nn/record_tile.h"
#include "ppan/nn/register_tile.h"

namespace ppan {

static_assert(kRecordOutputs % tile::kLanes<float> == 0, "a whole number of registers");

void add_record_product(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                        float* z) {
  if (processor_has_avx512()) {
    panel_add_records(records, inputs, outputs, x, w, relu, z);
  } else {
    tile::add_record_product(records, inputs, outputs, x, w, relu, z);
  }
}

void add_sparse_product(Index records, Index inputs, Index outputs, const float* x, const float* w, bool relu,
                        float* z) {
  if (processor_has_avx512()) {
    panel_add_sparse(records, inputs, outputs, x, w, relu, z);
  } else {
    tile::add_record_product(records, inputs, outputs, x, w, relu, z);
  }
}

void first_record_layer(const FirstLayer& layer, Index records, const FirstInput& in, bool relu, float* z) {
  if (processor_has_avx512()) {
    panel_first_layer(layer, records, in, relu, z);
  } else {
    tile::first_record_layer(layer, records, in, relu, z);
  }
}

void draw_record_cells(const CellDraw& how, Index records, const CellRecord* record, const float* x,
                       std::int32_t* cell) {
  if (processor_has_avx512()) {
    panel_draw_cells(how, records, record, x, cell);
  } else {
    tile::draw_record_cells(how, records, record, x, cell);
  }
}

void draw_known_cells(Index cells, const float* sums, Index records, const CellRecord* record,
                      std::int32_t* cell) {
  if (processor_has_avx512()) {
    panel_draw_known(cells, sums, records, record, cell);
  } else {
    tile::draw_known_cells(cells, sums, records, record, cell);
  }
}

void open_gates(const GateEnds& ends, Index count, float* gate) {
  if (processor_has_avx512()) {
    panel_open_gates(ends, count, gate);
  } else {
    tile::open_gates(ends, count, gate);
  }
}

}  // namespace ppan
