#pragma once

// The codebook family: a codeword is drawn from P(c|w), then a row from a decoder that knows nothing but c.
// For records that did not train it, Z depends on W only through C, so I(X;Z) <= I(X;C), which can be
// estimated by counting (audit/code_certificate.h).
//
// The decoder never releases a stored row. Columns are levels (codebook_levels.h) connected by a tree, the
// Chow-Liu tree of the training rows: the root is drawn from its shares within c, every other column from
//
//     P(z_j | z_parent, c)  ~  n_c(z_parent, z_j) + s * P(z_j | z_parent) n_c(z_j) / n(z_j),
//
// where n_c are counts weighted with P(c|w). The first term comes from the rows of the codeword; the second,
// which dominates where these are few, from all rows, reweighted by the codeword. Pairs with fewer than
// `least_rows` people are never drawn if the level of the parent has another pair. Every codeword stands for
// at least `least_rows` training people, none of whom makes up more than 1 / least_rows of it.

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/model/codebook_encoder.h"
#include "ppan/model/codebook_levels.h"

namespace ppan {

/// What the decoder knows about one released column.
struct DecoderColumn {
  ColumnLevels levels{};
  std::int32_t parent = -1;  ///< Its parent among the released columns, or -1 for the root.
  Matrix<float> in_code{};   ///< Codewords x levels: n_c(z_j).
  Matrix<float> pair{};      ///< Parent's levels x levels: n(z_parent, z_j), 0 for pairs with too few people.
  Matrix<float> pair_in_code{};  ///< Codeword, parent's level, level, n_c: a row for each, sorted.
};

/// A trained codebook as a value.
struct Codebook {
  std::vector<Index> hidden{};           ///< Layers of the network.
  std::vector<ColumnLevels> observed{};  ///< Of the observed columns: where their spikes are.
  Vector<float> parameters{};            ///< See CodebookEncoder.
  CodebookCentres<float> centres{};
  std::vector<std::int32_t> order{};     ///< Released columns, parents before children.
  std::vector<DecoderColumn> columns{};  ///< One for each released column.
  double least_rows = 5;                 ///< s and k above.

  [[nodiscard]] Index codewords() const { return centres.centre.rows(); }
  /// Problems of a codebook for these columns: sizes, trees with cycles, numbers that are not finite.
  [[nodiscard]] Problems check(const Encoding& encoding, const Layout& observed_layout,
                               const std::vector<std::int32_t>& released) const;
};

/// The encoder clips numbers at this many standard deviations.
inline constexpr float kFarthestFeature = 5;
/// Number of features that the encoder sees.
Index codebook_features(const Layout& observed_layout, const std::vector<ColumnLevels>& observed);
/// The observed columns as features: the layout's matrix, numbers clipped at 5 standard deviations, and a 1
/// where a number is at a spike.
void codebook_features(const EncodedRows& rows, const Encoding& encoding, const Layout& observed_layout,
                       const std::vector<ColumnLevels>& observed, Matrix<float>& out);
/// The same where levels are known: of each observed column levels_of(), or null for one without spikes.
void codebook_features(const EncodedRows& rows, const Layout& observed_layout,
                       const std::vector<ColumnLevels>& observed, const std::vector<const Symbols*>& level,
                       Matrix<float>& out);
/// Weights of the features in the distance: a category that differs costs its column's weight, as do a number
/// that is a standard deviation off and one that leaves or enters a spike; columns that are not released cost
/// nothing. In shares of the released columns' total weight.
Vector<float> codebook_distance_weights(const Encoding& encoding, const Layout& observed_layout,
                                        const std::vector<ColumnLevels>& observed,
                                        const std::vector<std::int32_t>& released);

/// Releases rows through a codebook, which must outlive it. One for each thread.
class CodebookReleaser {
 public:
  CodebookReleaser(const Codebook& codebook, const Encoding& encoding, const Layout& observed_layout);
  /// Fills the columns of `out`, in the order of the released columns.
  void release(const EncodedRows& in, RandomSource& random, std::vector<EncodedColumn>& out);
  /// P(c|w), rows x codewords.
  const Matrix<float>& probabilities(const EncodedRows& in);
  /// One row of levels from codeword `c`.
  void draw_row(std::int32_t c, RandomSource& random, std::vector<std::int32_t>& level);

 private:
  std::int32_t draw_level(std::size_t column, std::int32_t c, std::int32_t parent_level,
                          RandomSource& random);

  const Codebook* codebook_;
  const Encoding* encoding_;
  const Layout* layout_;
  CodebookEncoder<float> encoder_;
  Matrix<float> features_;
  std::vector<Vector<float>> share_;              // n(z_j) of each column
  std::vector<std::vector<std::int32_t>> first_;  // of pair_in_code, by codeword and parent's level
  std::vector<double> weight_;
};

/// JSON and named tensors, and back. Names of tensors begin with `prefix`.
nlohmann::json codebook_to_json(const Codebook& codebook, const std::string& prefix,
                                std::map<std::string, Matrix<float>>& tensors);
/// Throws Error(kBadInput); `used` counts the tensors taken.
Codebook codebook_from_json(const nlohmann::json& json, const std::map<std::string, Matrix<float>>& tensors,
                            std::size_t& used);

}  // namespace ppan
