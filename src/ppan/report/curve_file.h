#pragma once

// curve.csv: a trade-off curve as a table. Every command that trains or compares mechanisms writes one, and
// the report, the terminal plot and the figures are drawn from it.
//
// Columns begin with
//     series,budget,weight,distortion,leakage,optimum,excess
// and further ones may follow. Information is in nats. A cell is empty where the value is unknown. Numbers
// are the shortest text that reads back to the same double.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan {

inline constexpr std::array<std::string_view, 7> kCurveColumns{"series",  "budget",  "weight", "distortion",
                                                               "leakage", "optimum", "excess"};

/// Further columns that the report knows how to show. Others are kept and listed, but not interpreted.
namespace curve_column {
inline constexpr std::string_view kPoint = "point";  ///< Number of the point within its series, from 1.
inline constexpr std::string_view kLeakageLow = "leakage_low";        ///< 95 % interval, nats.
inline constexpr std::string_view kLeakageHigh = "leakage_high";      ///< 95 % interval, nats.
inline constexpr std::string_view kLeakageKind = "leakage_kind";      ///< A Bound, as to_string() writes it.
inline constexpr std::string_view kLeakageMethod = "leakage_method";  ///< How leakage was found.
inline constexpr std::string_view kUpperBound = "leakage_upper";      ///< An upper bound, nats.
inline constexpr std::string_view kUpperBoundHigh = "leakage_upper_high";  ///< The end of its interval.
/// Upper end of the finding, nats: the upper end of its interval, widened by what the audit could have
/// missed. Choices are based on it.
inline constexpr std::string_view kUpperEnd = "leakage_upper_end";
inline constexpr std::string_view kPower =
    "leakage_power";  ///< Smallest leakage found with probability 0.9, nats.
inline constexpr std::string_view kForecast = "leakage_10x_rows";  ///< Forecast for ten times the rows, nats.
inline constexpr std::string_view kForecastLow = "leakage_10x_rows_low";
inline constexpr std::string_view kForecastHigh = "leakage_10x_rows_high";
inline constexpr std::string_view kInconclusive = "inconclusive";  ///< "yes": the audit was inconclusive.
inline constexpr std::string_view kKsg = "ksg";                    ///< Nearest-neighbour estimate, nats.
inline constexpr std::string_view kKsgLow = "ksg_low";
inline constexpr std::string_view kKsgHigh = "ksg_high";
inline constexpr std::string_view kTrainingDistortion = "training_distortion";
/// What the adversary of the game believed in the end, nats. Never evidence.
inline constexpr std::string_view kTrainingBelief = "training_belief";
inline constexpr std::string_view kStop = "stop";  ///< Why training ended.
inline constexpr std::string_view kSeed = "seed";
inline constexpr std::string_view kSeconds = "seconds";
// The recipient's loss for the first task; for images, rows are images.
inline constexpr std::string_view kTaskMetric = "task_metric";  ///< "income: AUC".
inline constexpr std::string_view kTaskScore =
    "task_score";                                         ///< Learned from released rows, on original ones.
inline constexpr std::string_view kTaskLow = "task_low";  ///< 95 % interval.
inline constexpr std::string_view kTaskHigh = "task_high";
inline constexpr std::string_view kTaskReleased = "task_released";  ///< The same on released rows.
/// The largest loss of all tasks on original rows, relative to the unchanged table.
inline constexpr std::string_view kTaskLoss = "task_loss";
inline constexpr std::string_view kTasks = "tasks";  ///< A description of every task.
}  // namespace curve_column

struct CurveRow {
  std::string series;                ///< WHO/OBSERVATION, for example "ppan/useful-only".
  std::optional<double> budget;      ///< Largest distortion allowed.
  std::optional<double> weight;      ///< lambda, in the weighted form.
  std::optional<double> distortion;  ///< Measured.
  std::optional<double> leakage;     ///< The leakage by which the experiment is scored, nats.
  std::optional<double> optimum;     ///< Least leakage at the measured distortion, nats; may be infinite.
  std::optional<double> excess;      ///< leakage - optimum, nats.
  std::map<std::string, std::string, std::less<>> more;  ///< Cells of further columns, as written.

  void set(std::string_view column, double value);  ///< Not a number: the cell stays empty.
  void set(std::string_view column, std::string_view text);
  /// Fills leakage and its kind, method and interval columns.
  void set_leakage(const Estimate& estimate);
  /// A cell of a further column; empty when there is none.
  [[nodiscard]] std::string_view text(std::string_view column) const;
  /// The same as a number; absent when empty or not a number.
  [[nodiscard]] std::optional<double> number(std::string_view column) const;
  /// The leakage with what is known about it: direction and method from their columns (without them: an
  /// estimate by a method not stated), interval when both ends are there. Absent without leakage.
  [[nodiscard]] std::optional<Estimate> leakage_estimate() const;
  friend bool operator==(const CurveRow&, const CurveRow&) = default;
};

struct CurveTable {
  /// Order of the further columns. Cells of rows in columns not listed here follow in alphabetical order.
  std::vector<std::string> more_columns;
  std::vector<CurveRow> rows;
};

/// Names of series in order of appearance.
std::vector<std::string> series_of(const CurveTable& table);
/// The number of each row's point within its series: its `point` cell, or else its position, from 1.
std::vector<int> point_numbers(const CurveTable& table);

std::string to_csv(const CurveTable& table);
/// Throws Error(kBadInput) naming line and column: the seven columns absent or in another order, a cell that
/// is not a number. `name` is what messages call the file.
CurveTable from_csv(const std::string& text, const std::string& name = "curve.csv");

/// Shortest text that reads back equal; "inf" and "-inf"; empty for not-a-number.
std::string shortest(double value);
/// What to_csv writes, read back; absent unless the whole text is a number.
std::optional<double> parse_shortest(std::string_view text);

}  // namespace ppan
