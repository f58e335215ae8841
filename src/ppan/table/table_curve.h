#pragma once

// The trade-off curve of a table: mechanisms trained for a range of distortion budgets, each measured on rows
// it never saw by attackers it never met, beside the references that any reader wants to see, and completed
// to its convex hull.
//
//     table ──► encode ──► split ──► start (a mechanism that hides nothing)
//           ──► a training for each budget ──► measure ──► references ──► hull

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/hull.h"
#include "ppan/core/problem.h"
#include "ppan/model/table_model.h"
#include "ppan/read/table.h"
#include "ppan/table/codebook_training.h"
#include "ppan/table/heads_training.h"
#include "ppan/table/recipient_measure.h"
#include "ppan/table/table_measure.h"
#include "ppan/table/table_training.h"
#include "ppan/table/task_measure.h"

namespace ppan {

struct TableCurveOptions {
  /// Budgets. The last allows almost everything and its point stops where nothing is left to hide (see
  /// BudgetOptions::idle_price); the others are spread from almost untouched up to there. 1 to 200.
  int points = 12;
  std::vector<double> budgets{};  ///< Instead of `points`; each at least 0.
  TableTrainingOptions training{};
  CodebookOptions codebook{};      ///< Used when training.family is kCodebook.
  HeadsOptions heads{};            ///< Used when training.family is kHeads.
  std::vector<double> leakages{};  ///< Codebook only, instead of `points`: nats that the points aim at.
  double validation = 0.15;        ///< Share of the rows used to choose between trainings. 0 to 0.5.
  double test = 0.25;              ///< Share of the rows the mechanism never sees. Above 0, at most 0.8.
  LeakageOptions leakage{};
  int redrawn = 6;  ///< Heads only: releases at most that redraw some columns and keep the rest. 0 to 12.
  bool references = true;  ///< Measure reference/noise and reference/dropped as well.
  int threads = 0;         ///< 0: one per core. Does not change any number.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

/// Numbers, from 0 in order of appearance, that tell which rows name the same group; empty without a group
/// column. A row that names none is alone.
Units row_units(const Table& table, const Schema& schema);

/// Rows of a table by what they are used for, each ascending.
struct TableSplit {
  std::vector<std::int32_t> train{};
  std::vector<std::int32_t> validation{};
  std::vector<std::int32_t> test{};
};
/// At random, by `seed`; rows with the same value of the group column (if the schema names one) stay
/// together.
TableSplit split_rows(const Table& table, const Schema& schema, double validation, double test,
                      std::uint64_t seed);

/// A release measured: a trained point or a reference.
struct MeasuredRelease {
  std::string series{};  ///< ppan/table, ppan/hull, reference/unchanged, ...
  std::string label{};   ///< For people: "point 3", "without age and job".
  std::optional<double> budget{};
  /// On rows the mechanism never saw: the test rows, and the validation rows too when nothing was chosen on
  /// them (one training per point).
  TableChange change{};
  /// Models meet the whole suite of attackers, other references all but two (LeakageDetail::kNumber).
  AuditReport audit{};
  /// I(X;Z) of all hidden columns together, on the same rows: the tightest upper bound that the distribution
  /// of the mechanism allows, see table_bound.h, or H(X). Absent for references that are no model.
  std::optional<Estimate> upper{};
  /// What a recipient loses, for each task column: learned from released training rows, tested on the same
  /// rows that are attacked.
  std::vector<TaskScore> task{};
  /// Models and noise: what the released rows are like.
  std::optional<RecipientView> recipient{};
};

/// One trained point.
struct TablePoint {
  int number = 1;  ///< From 1, by rising budget.
  double budget = 0;
  MeasuredRelease measured{};
  double training_distortion = 0;
  /// Small tables of categories: the least leakage at its distortion, and what it leaks beyond that, both for
  /// the empirical distribution of the training rows (table_optimum.h). Where P(z|w) of the point is not
  /// known, its measured leakage counts.
  std::optional<double> optimum{};
  std::optional<double> excess{};
  Estimate training_leakage{};  ///< On training rows, by the same kind of attackers: to see overfitting.
  double training_belief = 0;   ///< I(X;C) as the adversary of the game believes it, nats.
  bool dominated = false;       ///< By the hull of the other points; see is_dominated().
  TrainSummary training{};
  std::vector<std::string> warnings{};
  double seconds = 0;
  std::optional<TableModel> model{};  ///< Always there for a finished point.
};

/// Some columns redrawn from the others, which stay as they are (redrawn_columns.h).
struct RedrawnRelease {
  MeasuredRelease measured{};
  bool dominated = false;             ///< As that of a point.
  std::optional<TableModel> model{};  ///< Always there.
};

struct TableCurveResult {
  TableCurveOptions given{};
  Schema schema{};
  Encoding encoding{};
  TableSplit split{};
  std::int64_t rows = 0;
  std::string mechanism{};           ///< The family that was used.
  double most_distortion = 0;        ///< Of the constant release, on the training rows.
  std::vector<TablePoint> points{};  ///< Finished ones, by number.
  int planned = 0;
  bool interrupted = false;
  std::optional<MeasuredRelease> unchanged{};  ///< Absent when not every useful column is observed.
  std::optional<MeasuredRelease> constant{};
  std::optional<TableModel> constant_model{};  ///< Of `constant`.
  /// Heads: the end of the completed curve instead of `constant`. As private, and of use to whoever has the
  /// rows: one row for a part of the people would distort every statistic.
  std::optional<MeasuredRelease> independent{};
  std::optional<TableModel> independent_model{};
  std::vector<RedrawnRelease> redrawn{};      ///< Heads: ppan/redrawn, more and more columns.
  std::vector<MeasuredRelease> references{};  ///< noise, dropped, time-sharing.
  std::vector<MeasuredRelease> hull{};        ///< ppan/hull: the vertices, by rising distortion.
  std::vector<std::string> notices{};
  std::vector<std::string> warnings{};

  /// What tells nothing, and where the completed curve ends: `independent`, or else `constant`.
  [[nodiscard]] const std::optional<MeasuredRelease>& end() const {
    return independent ? independent : constant;
  }
  /// The points of the completed curve in this order: unchanged (if there), the trained points, those with
  /// redrawn columns, the end.
  [[nodiscard]] std::vector<HullPoint> hull_points() const;
  /// The model of hull_points()[index].
  [[nodiscard]] TableModel model_of(std::size_t index) const;
  /// The model that a mixture of hull_points() stands for.
  [[nodiscard]] TableModel model_of(const HullMixture& mixture) const;
};

struct TableCurveHooks {
  /// Asked between epochs; true ends the run, keeping finished points.
  std::function<bool()> interrupted{};
  /// What is being done, in words: "encoding", "learning the table", "point 3", "references". Called from
  /// several threads at once.
  std::function<void(const std::string&)> phase{};
  /// After each epoch of each point (number from 1; 0 is the common start); from several threads at once.
  std::function<void(int point, const EpochReport&)> epoch{};
  /// After each finished point, one call at a time.
  std::function<void(const TablePoint&)> finished{};
};

/// What a reader must know about a measured point: training diverged, held-out rows leak at least 0.05 nats
/// more than training rows, the attacks were inconclusive, or the distortion is above the budget by more than
/// a tenth and 0.005.
std::vector<std::string> point_warnings(const TablePoint& point);

/// Number of trained points.
int planned_points(const TableCurveOptions& options);

/// Trains and measures the whole curve. `schema` in the order of the table's columns is what the models
/// carry. The same arguments give the same bits, whatever the number of threads. Throws Error(kUsage) for bad
/// options and Error(kBadInput) for a table that cannot be used.
TableCurveResult table_curve(const Table& table, const Schema& schema, const EncodingOptions& encoding,
                             const TableCurveOptions& options, const TableCurveHooks& hooks = {});

}  // namespace ppan
