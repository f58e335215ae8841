#pragma once

// Which columns are best redrawn, if any: the path from the whole table to one that tells nothing, on which
// each step redraws the head that saves most leakage for what it costs in distortion and in knowledge about
// the tasks. Leakage of what is left is what a network knows that learned from rows with heads left out at
// random, on rows that it did not learn from.

#include <cstdint>
#include <vector>

#include "ppan/table/heads_shape.h"

namespace ppan {

struct HeadsPath {
  /// Heads in the order in which they are drawn: those that are redrawn first come last, so that whatever
  /// part of the path is redrawn follows what is left.
  std::vector<std::int32_t> order{};
  /// Distortion when the last, the last two, ... heads are redrawn; as many as the path has steps.
  std::vector<double> redrawn{};
  std::vector<double> told{};  ///< Leakage of what is left after each step, nats; estimated.
  double told_at_first = 0;    ///< Before the first.
};
/// What a step costs: `distortion_weight` times its distortion and `task_weight` times the nats that are lost
/// about the tasks. A path ends where no step saves anything worth it. To the end, it goes on, and what a
/// head tells by itself counts as well: of two that say the same, neither saves before the other is gone.
HeadsPath find_path(const HeadsFit& fit, const HeadsRows& rows, const std::vector<Index>& hidden, Index batch,
                    double task_weight, std::uint64_t seed, double distortion_weight = 1,
                    bool to_the_end = false);

}  // namespace ppan
