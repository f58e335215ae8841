#pragma once

// Rows of heads as the players of their game see them.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/game/cell_network.h"
#include "ppan/table/heads_numbers.h"
#include "ppan/table/heads_shape.h"

namespace ppan {

/// What the players see of a head: its cells, with all bins of a number as one, since the number itself
/// stands beside them. Bins each by themselves would let an adversary overfit the training rows.
struct HeadTokens {
  std::vector<Symbols> of_cell{};
  std::vector<Index> count{};
  std::vector<Index> first{};  ///< Among those of all heads.
};
HeadTokens tokens_of(const HeadsFit& fit);
void to_tokens(const CellRows& cells, const HeadTokens& tokens, CellRows& out);

/// What the players see of rows: tokens, and numbers in their codes.
struct HeadsView {
  explicit HeadsView(const HeadsFit& fit) : tokens(tokens_of(fit)), numbers(fit.numbers) {}
  HeadTokens tokens;
  NumberCodes<float> numbers;
};

/// Some of the rows.
struct HeadsBatch {
  Matrix<float> features{};
  CellRows own{};
  CellRows token{};  ///< Of `own`.
  Matrix<float> number{};
  Matrix<float> number_code{};  ///< Of `number`.
  std::vector<Symbols> hidden{};
  std::vector<Symbols> task{};
  Symbols kept{};
  void gather(const HeadsRows& from, const HeadsView& view, std::span<const std::int32_t> which);
};

std::vector<std::int32_t> levels_of_all(const std::vector<CodedAttribute>& attributes);
/// Rows of a mini-batch, fewer than `batch` of a small table.
Index heads_batch_size(Index rows, Index batch);
/// Units of the players' layers, fewer than `hidden` for few rows: they would overfit them.
std::vector<Index> player_units(const std::vector<Index>& hidden, Index rows);
/// Decay of the weights of the path's players: `least` for many rows, more for few, in inverse proportion.
double player_decay(double least, Index rows);

/// Takes row numbers in batches, shuffled anew when they are used up.
class BatchCycle {
 public:
  BatchCycle(std::vector<std::int32_t> rows, Index batch);
  std::span<const std::int32_t> next(RandomSource& random);

 private:
  std::vector<std::int32_t> rows_;
  std::size_t batch_;
  std::size_t at_;
};

/// Rows to learn from and at most `most` others to test on, at random.
struct LearnAndTest {
  std::vector<std::int32_t> learn{};
  std::vector<std::int32_t> test{};
};
LearnAndTest learn_and_test(Index rows, double share, std::size_t most, RandomSource& random);

}  // namespace ppan
