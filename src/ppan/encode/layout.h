#pragma once

// Encoded columns as the columns of a matrix: what networks take in and output heads give back.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/records.h"
#include "ppan/encode/encoder.h"

namespace ppan {

enum class BlockKind {
  kNumber,           ///< One matrix column: v.
  kNumberOrMissing,  ///< Two: v, and 1 where it is missing.
  kCategory,         ///< One for each level, 1 at the level and 0 elsewhere.
};

/// The matrix columns of one column of the encoding.
struct Block {
  std::int32_t column = 0;  ///< Of the encoding.
  BlockKind kind = BlockKind::kNumber;
  Index first = 0;
  Index width = 0;
  double weight = 1;  ///< Importance in the distortion.
};

struct Layout {
  std::vector<Block> blocks{};
  Index width = 0;
};
Layout make_layout(const Encoding& encoding, std::span<const std::int32_t> columns);

/// Rows as a matrix; `out` is resized. Every column of the layout must have been encoded.
template <typename Scalar>
void to_matrix(const EncodedRows& rows, const Layout& layout, Matrix<Scalar>& out);

/// The nearest encoded rows: the largest of a category's columns (the first of equals), missing where the
/// indicator is above 1/2. `out` holds the layout's columns and no faults.
template <typename Scalar>
void from_matrix(const MatrixRef<Scalar>& matrix, const Layout& layout, EncodedRows& out);

/// What the heads of a network release (see table_distortion.h): the likeliest level of a category, the value
/// of a number, missing where its logit is above 0. `out` holds the layout's columns and no faults.
template <typename Scalar>
void read_heads(const MatrixRef<Scalar>& output, const Layout& layout, EncodedRows& out);

/// One column as an attribute of the game: codes of a category, or v (and the indicator) of a number.
template <typename Scalar>
Attribute<Scalar> to_attribute(const EncodedRows& rows, const Encoding& encoding, std::int32_t column);

/// Number of cells of the joint alphabet of some columns; nothing if one of them is a number or there are
/// more than 2^30 cells.
std::optional<std::int32_t> joint_levels(const Encoding& encoding, std::span<const std::int32_t> columns);
/// One code for each row: mixed radix, the first column changes slowest.
Symbols join_codes(const EncodedRows& rows, const Encoding& encoding, std::span<const std::int32_t> columns);
/// The inverse of join_codes(). `out` holds these columns and no faults.
void split_codes(const Symbols& joint, const Encoding& encoding, std::span<const std::int32_t> columns,
                 EncodedRows& out);

}  // namespace ppan
