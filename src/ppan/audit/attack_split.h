#pragma once

// Which rows attackers learn from, are chosen on and are reported on.

#include <cstdint>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// Disjoint parts of the rows, each in random order.
struct AttackSplit {
  std::vector<std::int32_t> train;
  std::vector<std::int32_t> selection;
  std::vector<std::int32_t> test;
  std::vector<std::int32_t> trained{};  ///< Trained the mechanism; attackers learn from them and no more.
  Units test_unit{};                    ///< Of each test row; empty: every row is its own.
};
/// Half of the rows to train, a fifth to choose on, what is left for the test. Rows of one unit (there is one
/// for each row, or none) are all in one part. Behind these rows follow `trained_rows` others.
AttackSplit make_split(Index rows, std::uint64_t seed, const Units& unit = {}, Index trained_rows = 0);

}  // namespace ppan
