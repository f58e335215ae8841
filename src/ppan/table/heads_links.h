#pragma once

// A model of the heads, one after the other: P(c_h | c_1, ..., c_{h-1}) as a softmax of base_h(c) and a
// matrix for each earlier head that tells about this one (HeadLink). A head that is redrawn is drawn from it.

#include <cstdint>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/game/cell_network.h"
#include "ppan/model/heads_network.h"

namespace ppan {

struct HeadLinks {
  std::vector<Vector<float>> base{};  ///< Of each head.
  std::vector<HeadLink> links{};
};
/// Fitted to the cells of rows (heads x rows), each head on most of them and kept where it predicts the
/// others best. Heads before `first` have the shares of their cells alone.
HeadLinks fit_links(const CellRows& own, const std::vector<Index>& cells, std::uint64_t seed,
                    Index first = 0);

}  // namespace ppan
