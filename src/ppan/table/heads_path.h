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
  /// How many of the steps save leakage; the others, if asked for, are those that the tasks can do without.
  std::size_t telling = 0;
};
/// What a step costs: `distortion_weight` times its distortion and `task_weight` times the nats that are lost
/// about the tasks. With tasks, `spare` goes on beyond what saves leakage, as long as they lose little: what
/// no network saw may be hidden there.
HeadsPath find_path(const HeadsFit& fit, const HeadsRows& rows, const std::vector<Index>& hidden, Index batch,
                    double task_weight, std::uint64_t seed, double distortion_weight = 1, bool spare = false);

}  // namespace ppan
