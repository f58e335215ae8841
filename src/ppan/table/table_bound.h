#pragma once

// Upper bounds on what a model of a table gives away, from the distribution of its mechanism: no attacker is
// involved, so none can be too weak.
//
//     finite       P(z|w) itself
//     noisy code   the heads are functions of the code c, so I(X;Z) <= I(X;C) <= I(W;C), and p(c|w) is normal
//     constant     0
//     mixture      sum_i q_i I_i: knowing which component a row went through can only help an attacker
//     noise-input, unchanged   nothing is known but H(X)

#include <cstdint>
#include <vector>

#include "ppan/audit/density_bound.h"
#include "ppan/model/table_model.h"

namespace ppan {

/// Sensitive columns as one attribute: the code of each row, and whether that is all of it (not so when a
/// number is among them, which only bounds for whatever is sensitive can speak of).
struct HiddenCode {
  Symbols code{};
  std::int32_t levels = 1;
  bool whole = true;
};

/// Every bound that is tighter in kind than H(X), tightest first; none where the distribution says nothing or
/// columns are kept, of which no distribution speaks. `rows` holds the observed columns of the rows that `x`
/// is about; they stand for the population, see density_bound.h. A mixture has one bound, whose interval is
/// that of its parts, ends added as they are.
std::vector<Estimate> table_upper_bounds(const TableModel& model, const EncodedRows& rows,
                                         const HiddenCode& x, const DensityBoundOptions& options = {});

}  // namespace ppan
