#pragma once

// From released columns to what a learning attacker looks at. Beside the values themselves it is given every
// trace that a careless mechanism may leave: how a number is written, its digits (digit_form.h), how often
// its exact value occurs in the table, its last binary digit, letter case and spaces of a text, which cells
// are missing, how many of a row and how that is marked, how often the whole row occurs, what day of the week
// and what time of day it was, which words a text has, and where in the file the row stands. Constant
// features are dropped, all others standardised. Keys are what an attacker counts by: last digits, first
// digits, exact values, parts of texts (text_parts.h), days and hours, blocks of neighbouring rows.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ppan/audit/attacker.h"
#include "ppan/audit/audit_table.h"
#include "ppan/audit/relation.h"
#include "ppan/audit/row_profile.h"
#include "ppan/core/problem.h"

namespace ppan {

struct FeatureOptions {
  bool row_position = true;  ///< Attackers know where in the file a row stands.
  std::int32_t most_levels =
      64;  ///< Texts of a column told apart one by one; rarer ones share a feature. 2 to 1000.
  std::int32_t trace_columns = 64;  ///< The traces of all columns are given if there are no more. At least 0.
  /// Of a wider table those of so many columns that by themselves tell most (trace_screen.h), the others as
  /// values only. At least 0.
  std::int32_t screened_columns = 16;
  [[nodiscard]] Problems check() const;
};

/// Where a feature comes from: the column, and which side of it.
struct FeatureSource {
  std::string column;
  std::string aspect;  ///< "value", "text", "missing", "format", "digits", "repeats", "low bits", "calendar",
                       ///< "equality", "pattern" of several columns, "together", "relation", "position" or
                       ///< "neighbours".
  friend bool operator==(const FeatureSource&, const FeatureSource&) = default;
};

/// Rows as attackers see them.
struct AttackFeatures {
  Matrix<float> data;  ///< Rows x features.
  KeyMatrix keys;      ///< Rows x keys.
  KeyMatrix coarse{};  ///< Rows x coarse codes, few values each: what is counted by together (key_tuples.h).
  Matrix<double>
      number{};  ///< Rows x columns of numbers, NaN where there is none: relations are made of them.
  Symbols cell;  ///< The exact released row as one symbol; -1: not among those the map was built on.
  std::int32_t cells = 0;  ///< Different rows the map was built on.
};

/// Built once on the released rows (which every attacker has), applied to them and to further releases.
class FeatureMap {
 public:
  /// The last `trained_rows` have no place in the released file. `traced`: for each column, whether its
  /// traces are given; empty: those of all columns, or of none if there are more than `trace_columns`.
  FeatureMap(const AuditTable& released, const FeatureOptions& options, Index trained_rows = 0,
             const std::vector<bool>& traced = {});

  /// A release of the same records, row by row.
  [[nodiscard]] AttackFeatures apply(const AuditTable& released) const;
  [[nodiscard]] Index width() const { return static_cast<Index>(source_.size()); }
  /// Of each feature.
  [[nodiscard]] const std::vector<FeatureSource>& source() const { return source_; }
  /// Features that measure closeness between rows (values, not traces), for nearest neighbours.
  [[nodiscard]] const std::vector<Index>& values() const { return values_; }
  /// Different values of each key.
  [[nodiscard]] const std::vector<std::int32_t>& key_values() const { return key_values_; }
  /// Where each key comes from.
  [[nodiscard]] const std::vector<FeatureSource>& key_source() const { return key_source_; }
  /// Different values of each coarse code.
  [[nodiscard]] const std::vector<std::int32_t>& coarse_values() const { return coarse_values_; }
  /// Of each column of AttackFeatures::number.
  [[nodiscard]] const std::vector<NumberColumn>& numbers() const { return numbers_; }
  /// Whether it is counted by in threes as well as in pairs.
  [[nodiscard]] const std::vector<bool>& coarse_in_threes() const { return coarse_in_threes_; }
  /// The column of each coarse code.
  [[nodiscard]] const std::vector<std::string>& coarse_column() const { return coarse_column_; }

 private:
  struct Column;
  struct Raw;
  struct RawFeature;
  struct Written;
  using TakeFeature = std::function<void(const RawFeature&)>;
  void write(const AuditTable& released, const std::vector<RowTrace>& traces, const TakeFeature& take) const;
  void learn_number(const AuditColumn& from, Column& column) const;
  void learn_text(const AuditColumn& from, Column& column) const;
  void learn_writing(const AuditColumn& from, Column& column);
  void add_key(std::size_t values, const std::string& column, const char* aspect);
  void add_coarse(std::size_t values, const std::string& column, bool in_threes = true);
  void learn_alike(const AuditTable& released);
  void learn_coarse(const AuditColumn& from, Column& column);
  void learn_words(const Written& written, Column& column);
  void learn_characters(const Written& written, Index rows, Column& column);
  void learn_row_keys(Index rows);
  void learn_parts(const Written& written, Index rows, Column& column);
  void write_number(const Column& column, const AuditColumn& from, Raw& raw) const;
  void write_levels(const Column& column, const AuditColumn& from, Raw& raw) const;
  void write_digits(const Column& column, const Written& written, Raw& raw) const;
  void write_format(const Column& column, const AuditColumn& from, Raw& raw) const;
  void write_alike(const AuditTable& released, const TakeFeature& take) const;
  void write_row(const AuditTable& released, const TakeFeature& take) const;
  void write_place(const AuditTable& released, const TakeFeature& take) const;
  void write_neighbours(const AuditTable& released, const TakeFeature& take) const;
  void write_row_keys(const std::vector<RowTrace>& traces, AttackFeatures& features) const;
  static void write_pairs(const Column& column, const AuditColumn& from, Raw& raw);
  static void write_characters(const Column& column, const AuditColumn& from, KeyMatrix& coarse);
  static Symbols coarse_digits(const Column& column, const AuditColumn& from);
  template <typename Use>
  static void for_each_word(const Column& column, const AuditColumn& from, const Use& use);
  static void write_coarse(const Column& column, const AuditColumn& from, KeyMatrix& coarse);
  static void write_calendar(const Column& column, const AuditColumn& from, Raw& raw);
  void write_keys(const Column& column, const AuditColumn& from, KeyMatrix& keys) const;

  FeatureOptions options_;
  Index trained_rows_;
  std::size_t text_columns_ = 0;  // whose texts may be taken apart
  std::vector<std::shared_ptr<const Column>> columns_;
  std::vector<FeatureSource> source_;  // of the features that are kept
  std::vector<Index> kept_;            // positions among the raw features
  std::vector<Index> values_;
  std::vector<std::int32_t> key_values_;
  std::vector<FeatureSource> key_source_;
  std::vector<std::int32_t> coarse_values_;
  std::vector<std::string> coarse_column_;
  std::vector<bool> coarse_in_threes_;
  std::vector<NumberColumn> numbers_;
  std::vector<std::pair<std::size_t, std::size_t>>
      alike_;  // columns of which some rows have the same in both
  RowProfile profile_;
  std::vector<std::int32_t> trace_values_;  // of the profile's traces
  std::vector<Index> neighbour_code_;       // coarse codes whose neighbours in the file are keys
  std::size_t character_codes_ = 0;
  Index first_row_key_ = 0;
  std::vector<float> mean_;
  std::vector<float> scale_;
  std::unordered_map<std::uint64_t, std::int32_t> cell_;
  std::vector<Index> cell_rows_;  // how many rows have each
  Symbols row_cell_;              // which one each row has
};

}  // namespace ppan
