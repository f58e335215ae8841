#pragma once

// What the columns of a table are (type) and what they are for (role).
//
//   sensitive  X: must not be inferred from the release
//   useful     Y: released in changed form, staying close to the original
//   observed   W: what the mechanism sees; by default the useful columns
//   keep       copied into the release unchanged
//   task       T: what a recipient wants to predict from the release; never observed, and released unchanged
//              (task_kept) or not at all
//   side       U: columns an attacker is assumed to know already; used by audits
//   surrogate  S: stands in for a sensitive attribute that no column holds (X - S - Z)
//   group      rows with the same value here (one person, many rows) stay on one side of every split
//
// Every other column is dropped.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/source/number.h"

namespace ppan {

enum class ColumnType {
  kInteger,     ///< Whole numbers; comes back as whole numbers.
  kReal,        ///< Numbers.
  kCategory,    ///< One of a set of levels.
  kIdentifier,  ///< Names a record; can be kept or group rows, never modelled.
  kDate,        ///< Days: numbers that are written as dates.
  kTimestamp,   ///< Microseconds: numbers that are written as date and time.
};
std::string_view to_string(ColumnType type);
std::optional<ColumnType> column_type(std::string_view name);
inline bool is_numeric(ColumnType type) {
  return type != ColumnType::kCategory && type != ColumnType::kIdentifier;
}
/// Numbers that are whole.
inline bool is_whole(ColumnType type) {
  return is_numeric(type) && type != ColumnType::kReal;
}
/// What the text of such a column's cells is.
inline NumberForm form_of(ColumnType type) {
  return type == ColumnType::kDate        ? NumberForm::kDate
         : type == ColumnType::kTimestamp ? NumberForm::kTimestamp
                                          : NumberForm::kNumber;
}

/// How a numeric column becomes the number a network sees; see encode/encoding.h.
enum class NumericEncoding {
  kAuto,      ///< Ranks for heavy tails, otherwise standardised.
  kStandard,  ///< (x - mean) / standard deviation.
  kRank,      ///< Normal score of the rank.
};
std::string_view to_string(NumericEncoding encoding);
std::optional<NumericEncoding> numeric_encoding(std::string_view name);

struct ColumnSpec {
  std::string name{};
  ColumnType type = ColumnType::kCategory;
  NumericEncoding encoding = NumericEncoding::kAuto;  ///< Numeric columns only.
  double weight = 1;                   ///< Importance in the distortion, relative to other columns. Above 0.
  std::vector<std::string> missing{};  ///< Markers of this column, in addition to those of the whole table.
  std::optional<std::int64_t> max_levels{};  ///< Categories only; absent: encode.max_levels.
  std::optional<double>
      grid{};  ///< Numbers only: released values are its multiples; absent: found by the data.
  std::vector<double> range{};  ///< Numbers only: least and greatest released value; empty: from the data.
  std::string derived_from{};  ///< Column that this one follows from; it is looked up again in every release.
  friend bool operator==(const ColumnSpec&, const ColumnSpec&) = default;
};

struct Schema {
  std::vector<ColumnSpec> columns{};  ///< The typed columns. Columns of no role may be listed or left out.
  std::vector<std::string> sensitive{};
  bool everything_observed = false;  ///< sensitive = "everything observed": X = W.
  std::vector<std::string> useful{};
  std::vector<std::string> observed{};  ///< Empty: the useful columns.
  std::vector<std::string> keep{};
  std::vector<std::string> task{};
  bool task_kept = true;  ///< Task columns are copied into the release untouched; otherwise they are dropped.
  std::vector<std::string> side{};
  std::vector<std::string> surrogate{};
  std::optional<std::string> group{};
  std::vector<std::string> constraints{};  ///< That every released row keeps, see constraint.h.

  /// Problems of the schema by itself: roles that contradict each other, columns without a type.
  [[nodiscard]] Problems check() const;
  /// Roles that one column cannot have together; part of check().
  [[nodiscard]] Problems check_conflicts() const;
  /// Problems with a table of these columns.
  [[nodiscard]] Problems check_names(std::span<const std::string> names) const;

  [[nodiscard]] const ColumnSpec* find(std::string_view name) const;
  /// W: `observed`, or else the useful columns.
  [[nodiscard]] const std::vector<std::string>& observed_columns() const;
  /// What the game hides: the sensitive and surrogate columns, or W when everything observed is sensitive.
  [[nodiscard]] std::vector<std::string> hidden_columns() const;
  /// Columns copied into the release: `keep`, and the task columns if they are kept.
  [[nodiscard]] std::vector<std::string> kept_columns() const;
  /// Every column that needs a type and an encoding, each once, in the order of `columns`.
  [[nodiscard]] std::vector<std::string> modelled_columns() const;
  /// Columns of `names` that have no role, in their order.
  [[nodiscard]] std::vector<std::string> dropped_columns(std::span<const std::string> names) const;
  /// The same schema with `columns` and the role lists in the order of `names`; columns not in `names`
  /// follow. This is the order of the released table.
  [[nodiscard]] Schema in_order_of(std::span<const std::string> names) const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

inline constexpr std::string_view kEverythingObserved = "everything observed";

struct TableProfile;
/// Problems that only the data show: a sensitive column with one value, or with as many as there are rows.
Problems check_data(const Schema& schema, const TableProfile& table);
/// What a user should know although nothing is wrong: dropped columns, useful columns with one value.
std::vector<std::string> notices(const Schema& schema, const TableProfile& table);

}  // namespace ppan
