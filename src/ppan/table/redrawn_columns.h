#pragma once

// Releases in which some columns are redrawn from the others and nothing else changes. Whoever has the other
// columns could draw them too, so such a release tells no more than one that leaves the columns out
// (data-processing inequality), and rows stay plausible. Where the columns that tell about the secret say
// nothing about the tasks, a recipient loses nothing. No training is needed, but a path (heads_path.h) that
// counts the tasks first, and links (heads_links.h) to what is left of the row. Every column has a head of
// its own here: one of two that exclude each other's values can be redrawn alone.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/encode/encoder.h"
#include "ppan/table/heads_training.h"

namespace ppan {

struct RedrawnColumns {
  std::vector<std::int32_t> order{};   ///< Of the heads, see HeadsPath.
  std::vector<std::int32_t> counts{};  ///< Of each release, how many of the last heads it redraws; rising.
  std::vector<HeadLink> links{};       ///< See HeadLinks, like the following; heads in that order.
  std::vector<Vector<float>> base{};
};

/// Which steps of a path are offered, from 1, by what is told before it and after each step: all of a short
/// path; of a long one `most`, nearest to levels that fall by the same factor down to nothing. None where
/// nothing is told.
std::vector<std::int32_t> offered_steps(double told_at_first, std::span<const double> told, std::size_t most);

/// At most `most` releases along the path of `fit`, whose heads are of one column each. It goes on to the end
/// (find_path), as whoever leaves out columns does.
RedrawnColumns find_redrawn(const HeadsFit& fit, const HeadsRows& rows, const HeadsOptions& options,
                            std::size_t most, std::uint64_t seed);

/// The heads of release `number` (from 0), for rows with so many features.
Heads redrawn_heads(const HeadsFit& fit, const RedrawnColumns& redrawn, std::size_t number, Index features);

/// The columns that such heads redraw: those of the heads, and those that follow from them.
std::vector<std::int32_t> redrawn_columns_of(const Heads& heads, const Encoding& encoding,
                                             const std::vector<std::int32_t>& released, Index features);

}  // namespace ppan
