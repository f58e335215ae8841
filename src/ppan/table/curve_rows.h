#pragma once

// The rows of a table by what a curve does with them: the part of a curve that is the same in every process
// that has the table and the options.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/audit_table.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/table_model.h"
#include "ppan/read/schema.h"
#include "ppan/read/table.h"
#include "ppan/table/codebook_training.h"
#include "ppan/table/heads_training.h"
#include "ppan/table/recipient_measure.h"
#include "ppan/table/table_curve.h"
#include "ppan/table/table_training.h"

namespace ppan {

/// Rows that something is measured on, with what goes with them.
struct CurvePart {
  EncodedRows rows{};
  Units unit{};
  std::vector<AuditColumn> kept{};
};

struct CurveRows {
  TableCurveOptions options{};
  Schema schema{};  ///< In the order of the table's columns.
  Encoding encoding{};
  TableSplit split{};
  std::int64_t rows = 0;
  std::vector<std::string> notices{};
  EncodedRows train{};
  std::vector<AuditColumn> train_kept{};  ///< What goes with `train`.
  CurvePart validation{};  ///< Empty where no choice is made on them: then they are among the held-out rows.
  CurvePart held_out{};    ///< Rows that no mechanism saw and no choice was made on.
  std::vector<std::int32_t>
      sample{};  ///< Positions in `train` of as many rows; see train_sample(). What goes with them:
  Units sample_unit{};
  std::vector<AuditColumn> sample_kept{};
  double grid_cost = 0;                  ///< Distortion of the table as it is, rounded to the grids.
  double most_distortion = 0;            ///< Of the constant release, on the training rows.
  std::optional<TableModel> constant{};  ///< Always there.
  std::optional<TableGame> game{};       ///< Absent for a codebook and for heads.
  CodebookShape codebook_shape{};        ///< Of a codebook, like the following.
  CodebookRows codebook_train{};
  CodebookRows codebook_held_out{};
  HeadsFit heads_fit{};  ///< Of heads, like the following.
  HeadsRows heads_train{};
  /// A head for each column, where `heads_fit` has some of several; see redrawn_columns.h.
  std::optional<HeadsFit> single_heads{};
  [[nodiscard]] const HeadsFit& redrawn_fit() const { return single_heads ? *single_heads : heads_fit; }
  RecipientMeasure recipient{};  ///< Of releases of the held-out rows.

  [[nodiscard]] bool codebook() const { return options.training.family == MechanismFamily::kCodebook; }
  [[nodiscard]] bool heads() const { return options.training.family == MechanismFamily::kHeads; }
  /// Whether the mechanism sees every column that it releases.
  [[nodiscard]] bool observes_useful() const;
  [[nodiscard]] EncodedRows useful(const EncodedRows& rows) const;
  /// As many training rows as are held out, so that attackers have the same chances on both. Made anew by
  /// each call: of a wide table they take 80 MB for 4,000 rows.
  [[nodiscard]] CurvePart train_sample() const;
  [[nodiscard]] std::string mechanism() const;  ///< The family that is used.
  /// A seed of its own for everything that draws.
  [[nodiscard]] std::uint64_t seed_of(std::string_view what, std::uint64_t number = 0) const;
};

/// Throws Error(kBadInput) for a table that cannot be used, Error(kUsage) for options that do not fit it.
CurveRows make_curve_rows(const Table& table, const Schema& schema, const EncodingOptions& encoding,
                          const TableCurveOptions& options);

/// All rows through a model, chunk by chunk.
EncodedRows release_all(const TableModel& model, const EncodedRows& rows, RandomSource& random);

}  // namespace ppan
