#pragma once

// What the heads of a table are (model/heads.h), fitted to its training rows: cells, columns that are drawn
// together, cells that never stand together, and what it costs to change one into another.

#include <cstdint>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/heads.h"
#include "ppan/read/schema.h"
#include "ppan/table/codebook_training.h"
#include "ppan/table/feature_rows.h"

namespace ppan {

/// A number among the members of the heads, as the players of the game see it.
struct HeadNumber {
  std::int32_t head = 0;
  Symbols level{};  ///< Of each cell of the head.
  Matrix<float>
      sample{};  ///< Values v that training rows of each level have, evenly through them; a column each.
  Vector<float> knots{};  ///< Of the bins in which players see it (heads_numbers.h); empty: as one input.
};

struct HeadsFit {
  CodebookShape coded{};
  std::vector<Head> heads{};
  std::vector<HeadPair> pairs{};
  /// Of each head, cells x own cells: distortion (see TableChange) in shares of the whole table, and the same
  /// with what leaving or entering a spike costs.
  std::vector<Matrix<float>> distortion{};
  std::vector<Matrix<float>> cost{};
  std::vector<Matrix<float>>
      near{};  ///< Added to the tables that heads begin with: 0, and less for cells farther off.
  std::vector<HeadNumber> numbers{};
};

/// Throws Error(kUsage) unless every useful column is observed. Not `joined`: a head for each column; what
/// excludes each other is kept apart by pairs alone.
HeadsFit fit_heads(const EncodedRows& train, const Schema& schema, const Encoding& encoding,
                   const LevelOptions& levels, std::int64_t least_rows, bool joined = true);

/// Rows as heads are trained on them.
struct HeadsRows {
  FeatureRows features{};
  CodedRows coded{};
  CellRows own{};          ///< Heads x rows.
  Matrix<float> number{};  ///< Numbers x rows: v, 0 where missing.
  [[nodiscard]] Index rows() const { return features.rows(); }
};
HeadsRows heads_rows(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                     const HeadsFit& fit);

/// The same with heads `order`[0], `order`[1], ... in this order.
HeadsFit reordered(const HeadsFit& fit, const std::vector<std::int32_t>& order);
CellRows reordered(const CellRows& own, const std::vector<std::int32_t>& order);

}  // namespace ppan
