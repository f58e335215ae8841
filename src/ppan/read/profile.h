#pragma once

// Profiles a table, column by column, in one pass and bounded memory, and guesses the type of each column.
// Only `ppan init` guesses: afterwards the job file fixes every type.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ppan/read/schema.h"
#include "ppan/source/number.h"
#include "ppan/source/row_source.h"

namespace ppan {

struct ColumnProfile {
  std::string name;
  CellStorage storage =
      CellStorage::kText;  ///< As the source holds it: what is not text has a type of its own.
  CellMeaning meaning = CellMeaning::kPlain;
  std::int64_t rows = 0;
  std::int64_t missing = 0;  ///< Cells that are one of the missing markers.
  std::int64_t numbers = 0;  ///< Cells that are finite numbers.
  std::int64_t whole = 0;    ///< Of these, whole ones.
  double least = 0;          ///< Smallest and largest number; 0 when there is none.
  double most = 0;
  NumberFormat format{};  ///< How the numbers are written; its form says that they are ISO dates or times.
  bool leading_zeros = false;  ///< Some whole numbers are written like 007.
  bool increasing = true;      ///< Every number is larger than the one before.
  std::int64_t dates = 0;      ///< Cells that look like 2024-01-31 or 31.01.2024.
  /// Different values, missing not counted; exact up to kMostDistinct, at which counting stops.
  std::int64_t distinct = 0;
  std::int64_t counted = 0;  ///< Values that were compared to find `distinct`.
  /// The first few values that are neither numbers nor ISO dates or times, with how often they occur.
  std::vector<std::pair<std::string, std::int64_t>> words;
  bool more_words = false;  ///< There are other such values.

  [[nodiscard]] std::int64_t present() const { return rows - missing; }
  /// Share of the compared values that are different from all others before them.
  [[nodiscard]] double distinct_share() const;
};

inline constexpr std::int64_t kMostDistinct = 100000;

struct TableProfile {
  std::vector<ColumnProfile> columns;
  std::int64_t rows = 0;
  [[nodiscard]] const ColumnProfile* find(std::string_view name) const;
};

/// A profile under construction, chunk by chunk.
class TableProfiler {
 public:
  explicit TableProfiler(const RowSource& source);
  TableProfiler(TableProfiler&&) noexcept;
  ~TableProfiler();
  void add(const RowChunk& chunk);
  [[nodiscard]] TableProfile finish();

 private:
  struct Counter;
  TextStyle style_;
  std::int64_t rows_ = 0;
  std::vector<Counter> counters_;
};

/// Reads `source` to its end.
TableProfile profile_table(RowSource& source);

struct TypeGuess {
  ColumnType type = ColumnType::kCategory;
  bool constant = false;             ///< One value everywhere.
  bool sure = true;                  ///< False: a person should check it; `reason` says why.
  std::string reason;                ///< A sentence without a full stop.
  std::vector<std::string> missing;  ///< Words that, taken for "no value", make the column numeric.
  std::vector<std::string> of_few;   ///< Further ones, which only a few rows have: never written to a file.
};

/// The first rule that applies decides:
///
///   no values, or one value everywhere                  constant
///   not text in the source: booleans                    category
///                           dates, times                date, timestamp
///                           reals, decimals             real
///                           integers                    as below, but never unsure
///   whole numbers with leading zeros                    category (or identifier, as for words)
///   numbers, at most 2 different                        category
///   whole, increasing, all different, 20 rows or more   identifier
///   whole, all different, 1,000 rows or more            identifier, unsure
///   whole, beyond 2^53                                  identifier or category
///   numbers                                             integer or real; unsure with at most 12 different
///   95 % numbers, and at most 3 different words         numeric, unsure; the words mean "no value"
///                                                       (words of a few rows: only usual markers)
///   words, 90 % of 20 or more different                 identifier
///   ISO dates, ISO times                                date, timestamp
///   other words                                         category; unsure above 64 levels
TypeGuess guess_type(const ColumnProfile& column);

}  // namespace ppan
