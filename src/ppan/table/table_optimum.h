#pragma once

// The least leakage that any mechanism could have on a small table of categories: the convex problem of
// theory/convex_baseline.h solved for the empirical distribution of its rows. What a trained point leaks
// beyond it is the excess of the training, seen on real data.

#include <optional>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/encode/encoder.h"
#include "ppan/model/table_model.h"
#include "ppan/read/schema.h"
#include "ppan/theory/convex_baseline.h"

namespace ppan {

class TableOptimum {
 public:
  /// Nothing unless the observed, released and hidden columns are categories, of at most 64 combinations of
  /// observed levels and 64 of released ones that occur, and at most 16 of hidden ones.
  static std::optional<TableOptimum> fit(const EncodedRows& rows, const Schema& schema,
                                         const Encoding& encoding);

  /// The least leakage at this mean distortion. Its gap says how exactly it is known.
  [[nodiscard]] theory::ConvexSolution at(double distortion) const;
  /// P(z|w) of a model over all combinations of released levels, where it is known: unchanged, constant and
  /// finite components.
  [[nodiscard]] std::optional<Matrix<double>> mechanism_of(const TableModel& model) const;
  /// I(X;Z) and mean distortion of such a mechanism, exactly.
  [[nodiscard]] double leakage(const Matrix<double>& mechanism) const;
  [[nodiscard]] double distortion(const Matrix<double>& mechanism) const;

 private:
  TableOptimum() = default;

  theory::FiniteDistribution distribution_;
  EncodedRows observed_;       // a row for each combination of observed levels
  Symbols released_of_;        // the released combination that such a row has, -1 if it does not show it
  Matrix<double> distortion_;  // useful combinations that occur x released ones that occur
  Matrix<double> all_;         // the same x every released combination
  Index released_cells_ = 0;
};

}  // namespace ppan
