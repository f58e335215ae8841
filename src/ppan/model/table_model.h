#pragma once

// A mechanism for a table, as a value: schema, encoding, and one or more components of which each row goes
// through one, chosen by a hidden coin.
//
//     unchanged   the useful columns as they are
//     constant    the same row for everybody: the mean, the most frequent level
//     codebook    a codeword, then a row drawn by a decoder that knows only the codeword (codebook.h)
//     heads       a cell for each column, drawn by a network that sees the row (heads.h)
//     trained     a network of the game, with a head for each released column:
//                   noisy-code   w -> encoder -> code + noise -> decoder -> heads
//                   noise-input  (w, noise) -> network -> heads
//                   finite       P(z|w) over the joint alphabet of the released columns
//
// Heads (see table_distortion.h): the likeliest level of a category, the value of a number, missing where its
// logit is above 0. The heads are functions of the code, so whatever they do I(X;Z) <= I(X;C). A noise-input
// component may leave numbers unchanged that it would change very little.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/game/mechanism.h"
#include "ppan/model/codebook.h"
#include "ppan/model/heads.h"
#include "ppan/model/row_rules.h"
#include "ppan/read/schema.h"

namespace ppan {

enum class ComponentKind { kUnchanged, kConstant, kTrained, kCodebook, kHeads };
std::string_view to_string(ComponentKind kind);

struct TableComponent {
  ComponentKind kind = ComponentKind::kUnchanged;
  double weight = 1;    ///< Share of the rows that go through it. Above 0; the weights of a model sum to 1.
  std::string label{};  ///< For people: "unchanged", "constant", "point 7".

  // Constant: one value for each released column, as in EncodedColumn.
  std::vector<double> value{};
  Symbols code{};

  // Trained.
  MechanismOptions mechanism{};  ///< kNoisyCode, kNoiseInput or kFinite.
  Vector<float> parameters{};
  /// kNoiseInput: a number that would change by no more than this, in standard deviations of its column, is
  /// released unchanged. 0 to 1.
  double keep_within = 0;

  std::shared_ptr<const Codebook> codebook{};  ///< Codebook.
  std::shared_ptr<const Heads> heads{};        ///< Heads.
};

/// The parts of a model for storage (model_parts.h).
struct ModelParts;

class TableModel {
 public:
  /// Throws Error(kBadInput) listing every problem: columns without an encoding, weights that do not sum to
  /// 1, "unchanged" where the mechanism does not observe every useful column, networks whose shape does not
  /// fit.
  TableModel(Schema schema, Encoding encoding, std::vector<TableComponent> components);

  [[nodiscard]] const Schema& schema() const { return schema_; }
  [[nodiscard]] const Encoding& encoding() const { return encoding_; }
  [[nodiscard]] const std::vector<TableComponent>& components() const { return components_; }
  /// Columns of the encoding that release() looks at: all of them must have been encoded.
  [[nodiscard]] const std::vector<std::int32_t>& observed() const { return observed_; }
  /// Columns of the encoding that a release holds, in this order.
  [[nodiscard]] const std::vector<std::int32_t>& released() const { return released_; }
  [[nodiscard]] const Layout& observed_layout() const { return observed_layout_; }
  [[nodiscard]] const Layout& released_layout() const { return released_layout_; }

  [[nodiscard]] ModelParts to_parts() const;
  /// Throws Error(kBadInput) unless `parts` are what to_parts() gives: every shape, size and number is
  /// checked.
  static TableModel from_parts(const ModelParts& parts);

 private:
  Schema schema_;
  Encoding encoding_;
  std::vector<TableComponent> components_;
  std::vector<std::int32_t> observed_;
  std::vector<std::int32_t> released_;
  Layout observed_layout_;
  Layout released_layout_;
};

/// Releases batches of rows through a model, which must outlive it. One for each thread: it holds the
/// buffers. Batches of a few thousand rows are fastest.
class TableReleaser {
 public:
  explicit TableReleaser(const TableModel& model);
  ~TableReleaser();
  TableReleaser(TableReleaser&&) noexcept;
  TableReleaser& operator=(TableReleaser&&) noexcept;

  /// One release of each row, in order. `in` holds the observed columns; `out` gets the released ones, and
  /// the faults and bad rows of `in` (which are released as if they were good; writers leave them out).
  void release(const EncodedRows& in, RandomSource& random, EncodedRows& out);

 private:
  class Part;
  void release_mixed(const EncodedRows& in, RandomSource& random, EncodedRows& out);
  const TableModel* model_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<double> weights_;
  RowRules rules_;
  std::vector<std::vector<std::int32_t>> rows_of_;  // rows that go through each part
  EncodedRows gathered_;
  EncodedRows released_;
};

/// The largest joint alphabet for which the exact finite form is used.
inline constexpr std::int32_t kMostCells = 1024;

/// Attribute of the game that stands for what a mechanism of these columns observes: joint codes for a finite
/// mechanism over categories of at most 1,024 cells, otherwise the encoded matrix.
Attribute<float> observed_attribute(const EncodedRows& rows, const Encoding& encoding, const Layout& layout,
                                    MechanismKind kind);

/// The mixture of two models of the same schema and encoding: `second` with probability `second_weight`, from
/// 0 to 1. Throws Error(kUsage) if they differ.
TableModel mix(const TableModel& first, const TableModel& second, double second_weight);

/// Models without anything trained. `rows` are the training rows, which fix the constant.
TableModel unchanged_model(const Schema& schema, const Encoding& encoding);
TableModel constant_model(const Schema& schema, const Encoding& encoding, const EncodedRows& rows);

}  // namespace ppan
