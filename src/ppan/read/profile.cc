#include "ppan/read/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "ppan/read/table.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv.h"

namespace ppan {
namespace {

constexpr std::size_t kMostWords = 4;

bool digit(char c) {
  return c >= '0' && c <= '9';
}

// 2024-01-31..., 31.01.2024, 1/31/2024: digits in three groups, one of them of four.
bool looks_like_date(std::string_view text) {
  int groups = 0;
  bool year = false;
  std::size_t at = 0;
  while (at < text.size() && groups < 3) {
    std::size_t length = 0;
    while (at < text.size() && digit(text[at])) ++at, ++length;
    if (length == 0 || length == 3 || length > 4) return false;
    year = year || length == 4;
    ++groups;
    if (groups < 3) {
      if (at == text.size() || (text[at] != '-' && text[at] != '.' && text[at] != '/')) return false;
      ++at;
    }
  }
  return groups == 3 && year;
}

// Rows that must say the same for it to be nobody's own.
constexpr std::int64_t kSharedRows = 5;

// What a few rows say is theirs; a marker of "no value" stands in many, or is a usual one.
bool is_marker(const std::string& word, std::int64_t rows) {
  constexpr std::array<std::string_view, 17> kUsual{
      "-",    "--",   ".",       "*",       "n/a",           "na",      "#n/a",      "n.a.", "nil",
      "none", "null", "missing", "unknown", "not available", "refused", "no answer", "nan"};
  std::string lower = word;
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return rows >= kSharedRows || std::ranges::find(kUsual, lower) != kUsual.end();
}

std::string a_few_words(const ColumnProfile& column) {
  std::string text;
  bool rare = false;
  for (const auto& [word, count] : column.words) {
    if (!is_marker(word, count)) {
      rare = true;
      continue;
    }
    if (!text.empty()) text += ", ";
    text += quoted_text(word);
    if (count >= kSharedRows) text += fmt::format(" ({} rows)", count);
  }
  if (rare) text += text.empty() ? "words in a few rows" : ", and words in a few rows";
  return text;
}

TypeGuess guess_words(const ColumnProfile& c) {
  TypeGuess guess;
  if (c.counted >= 20 && c.distinct_share() >= 0.9) {
    guess.type = ColumnType::kIdentifier;
    guess.reason = fmt::format("{} of {} values differ", c.distinct, c.counted);
    return guess;
  }
  const std::string at_least = c.distinct >= kMostDistinct ? "at least " : "";
  guess.reason = fmt::format("{}{} levels", at_least, c.distinct);
  if (c.dates * 2 > c.present()) {
    guess.sure = false;
    guess.reason +=
        ", dates by the look of them: each date counts as a level of its own; a year or an age as a "
        "number says more";
  } else if (c.distinct > 64) {
    guess.sure = false;
    guess.reason += ": only the most frequent are kept, the others are grouped";
  }
  return guess;
}

// Rows in words that may stand for "no value": few of them, in few rows.
bool few_words(const ColumnProfile& c, std::int64_t others) {
  std::int64_t in_words = 0;
  for (const auto& word : c.words) in_words += word.second;
  return !c.more_words && c.words.size() <= 3 && in_words == c.present() - others &&
         others * 100 >= c.present() * 95;
}

// A column of `values` but for a few words: these are taken for missing.
void take_words(const ColumnProfile& c, const std::string& values, TypeGuess& guess) {
  for (const auto& [word, rows] : c.words) {
    (is_marker(word, rows) ? guess.missing : guess.of_few).push_back(word);
  }
  guess.sure = false;
  guess.reason = fmt::format("{} but for {}", values, a_few_words(c));
  guess.reason += guess.of_few.empty() ? ", taken for missing"
                                       : "; correct these cells, or add the words to `missing` of the column";
}

// ISO dates and times, which a release can write.
TypeGuess guess_iso(const ColumnProfile& c) {
  TypeGuess guess;
  const bool times = c.format.form == NumberForm::kTimestamp;
  guess.type = times ? ColumnType::kTimestamp : ColumnType::kDate;
  guess.reason = times ? "times" : "dates";
  if (!c.format.fixed) {
    guess.sure = false;
    guess.reason +=
        ", released as 2024-01-31 12:30:00 (in UTC where they name a zone), however they are written here";
  }
  if (!c.words.empty()) {
    take_words(c, "all " + guess.reason, guess);
  }
  return guess;
}

// What is not text in the source has a type there.
TypeGuess guess_typed(const ColumnProfile& c) {
  TypeGuess guess;
  const bool all_different = c.distinct == c.counted;
  if (c.meaning == CellMeaning::kBoolean) {
    guess.type = ColumnType::kCategory;
    guess.reason = "true or false";
  } else if (c.meaning == CellMeaning::kDate) {
    guess.type = ColumnType::kDate;
    guess.reason = "dates";
  } else if (c.meaning == CellMeaning::kTimestamp || c.meaning == CellMeaning::kInstant) {
    guess.type = ColumnType::kTimestamp;
    guess.reason = "times";
  } else if (c.storage == CellStorage::kReal || c.meaning == CellMeaning::kDecimal) {
    guess.type = ColumnType::kReal;
    guess.reason = "numbers";
  } else if (c.distinct <= 2) {
    guess.type = ColumnType::kCategory;
    guess.reason = fmt::format("{} different numbers", c.distinct);
  } else if (all_different && (c.increasing ? c.counted >= 20 : c.counted >= 1000)) {
    guess.type = ColumnType::kIdentifier;
    guess.reason = "whole numbers, all different";
  } else {
    guess.type = ColumnType::kInteger;
    guess.reason = "whole numbers";
  }
  return guess;
}

}  // namespace

double ColumnProfile::distinct_share() const {
  return counted == 0 ? 0 : static_cast<double>(distinct) / static_cast<double>(counted);
}

const ColumnProfile* TableProfile::find(std::string_view name) const {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return at == columns.end() ? nullptr : &*at;
}

// Counts of one column while the table goes by.
struct TableProfiler::Counter {
  ColumnProfile profile;
  RowColumn from;
  std::unordered_set<std::size_t> seen;  // hashes: 64 bits, so that two values never meet in practice
  double last = 0;
  std::int64_t iso_dates = 0;
  std::int64_t iso_times = 0;
  std::int64_t as_written = 0;  // times that a release writes in the same way
  std::string written;          // scratch
  int most_decimals = 0;
  int least_decimals = kMostDecimals + 1;
  bool grid = true;

  void add(const RowChunk& chunk, std::size_t column, const TextStyle& style) {
    const RowCells& cells = chunk.cells(column);
    for (std::size_t r = 0; r < static_cast<std::size_t>(chunk.rows()); ++r) {
      ++profile.rows;
      if (cells.is_missing(r)) {
        ++profile.missing;
      } else if (from.storage == CellStorage::kText) {
        add_text(cells.text_at(r), style);
      } else {
        add_typed(cells, r);
      }
    }
  }

  void count_distinct(std::size_t hash) {
    if (profile.distinct >= kMostDistinct) return;
    ++profile.counted;
    if (seen.insert(hash).second) ++profile.distinct;
  }

  void add_typed(const RowCells& cells, std::size_t row) {
    const ParsedNumber number = typed_number(from, cells, row, NumberForm::kNumber);
    const bool finite = number.fault != NumberFault::kNotFinite;
    if (!finite && std::isnan(cells.real[row])) {
      ++profile.missing;
      return;
    }
    count_distinct(from.storage == CellStorage::kReal ? std::hash<double>{}(cells.real[row])
                                                      : std::hash<std::int64_t>{}(cells.integer[row]));
    if (finite) add_number(number);  // an infinite one is there, but not as a number
  }

  void add_text(std::string_view cell, const TextStyle& style) {
    ColumnProfile& p = profile;
    if (is_missing(cell, style.missing)) {
      ++p.missing;
      return;
    }
    if (p.distinct < kMostDistinct) count_distinct(std::hash<std::string_view>{}(cell));
    const ParsedNumber number = parse_number(cell, style.decimal);
    if (number.ok()) {
      add_number(number);
      return;
    }
    if (looks_like_date(cell)) {
      ++p.dates;
      if (add_iso(cell)) return;
    }
    const auto word =
        std::find_if(p.words.begin(), p.words.end(), [&](const auto& w) { return w.first == cell; });
    if (word != p.words.end()) {
      ++word->second;
    } else if (p.words.size() < kMostWords) {
      p.words.emplace_back(cell, 1);
    } else {
      p.more_words = true;
    }
  }

  // Whether the cell is a date or time that a column of that type can hold.
  bool add_iso(std::string_view cell) {
    if (parse_date(cell)) {
      ++iso_dates;
      return true;
    }
    const auto time = parse_timestamp(cell);
    if (!time) return false;
    ++iso_times;
    written.clear();
    append_timestamp(*time, written);
    if (written == cell) ++as_written;
    return true;
  }

  void add_number(const ParsedNumber& number) {
    ColumnProfile& p = profile;
    if (p.numbers == 0) {
      p.least = p.most = number.value;
    } else {
      p.increasing = p.increasing && number.value > last;
      p.least = std::min(p.least, number.value);
      p.most = std::max(p.most, number.value);
    }
    last = number.value;
    ++p.numbers;
    if (std::nearbyint(number.value) == number.value) ++p.whole;
    p.leading_zeros = p.leading_zeros || number.leading_zero;
    grid = grid && !number.exponent && number.decimals <= kMostDecimals;
    most_decimals = std::max(most_decimals, number.decimals);
    least_decimals = std::min(least_decimals, number.decimals);
  }

  ColumnProfile finish(char mark) {
    profile.format.mark = mark;
    if (grid && profile.numbers > 0) {
      profile.format.decimals = most_decimals;
      profile.format.fixed = most_decimals == least_decimals;
    }
    const std::int64_t iso = iso_dates + iso_times;
    if (iso > 0 && few_words(profile, iso)) {
      profile.format.form = iso_times > 0 ? NumberForm::kTimestamp : NumberForm::kDate;
      profile.format.fixed = iso_times == 0 || as_written == iso;
    }
    return std::move(profile);
  }
};

TableProfiler::TableProfiler(const RowSource& source) : style_(source.style()) {
  for (const RowColumn& column : source.columns()) {
    Counter& counter = counters_.emplace_back();
    counter.from = column;
    counter.profile.name = column.name;
    counter.profile.storage = column.storage;
    counter.profile.meaning = column.meaning;
  }
}
TableProfiler::TableProfiler(TableProfiler&&) noexcept = default;
TableProfiler::~TableProfiler() = default;

void TableProfiler::add(const RowChunk& chunk) {
  rows_ += chunk.rows();
  for (std::size_t c = 0; c < counters_.size(); ++c) counters_[c].add(chunk, c, style_);
}

TableProfile TableProfiler::finish() {
  TableProfile table;
  table.rows = rows_;
  for (Counter& counter : counters_) table.columns.push_back(counter.finish(style_.decimal));
  return table;
}

TableProfile profile_table(RowSource& source) {
  TableProfiler profiler(source);
  RowChunk chunk;
  while (source.next(chunk)) profiler.add(chunk);
  return profiler.finish();
}

TypeGuess guess_type(const ColumnProfile& c) {
  TypeGuess guess;
  if (c.present() == 0 || (c.distinct == 1 && c.missing == 0)) {
    guess.constant = true;
    guess.reason = c.present() == 0 ? "no values at all" : "one value everywhere";
    return guess;
  }
  if (c.storage != CellStorage::kText) return guess_typed(c);
  if (c.format.form != NumberForm::kNumber) return guess_iso(c);
  const bool all_numbers = c.numbers == c.present();
  if (!all_numbers) {
    if (!few_words(c, c.numbers)) return guess_words(c);
    take_words(c, "all numbers", guess);
  }
  const bool whole = c.whole == c.numbers;
  const bool all_different = c.distinct == c.counted;
  const bool beyond_exact = std::max(std::abs(c.least), std::abs(c.most)) > 0x1.0p53;
  if (whole && (c.leading_zeros || beyond_exact)) {
    guess = guess_words(c);
    guess.sure = false;
    guess.reason = fmt::format("{}, but {}", guess.reason,
                               c.leading_zeros ? "whole numbers with leading zeros are more likely codes"
                                               : "such large whole numbers are more likely codes");
    return guess;
  }
  if (all_numbers && c.distinct <= 2) {
    guess.type = ColumnType::kCategory;
    guess.reason = fmt::format("{} different numbers", c.distinct);
    return guess;
  }
  guess.type = whole ? ColumnType::kInteger : ColumnType::kReal;
  if (!all_numbers) return guess;
  if (whole && all_different && c.increasing && c.counted >= 20) {
    guess.type = ColumnType::kIdentifier;
    guess.reason = "whole numbers in increasing order, all different";
  } else if (whole && all_different && c.counted >= 1000) {
    guess.type = ColumnType::kIdentifier;
    guess.sure = false;
    guess.reason = "whole numbers, all different; if they are amounts, write integer";
  } else {
    // No values: the column may be or become a sensitive one, and its extremes are single people's.
    guess.reason = whole ? "whole numbers" : "numbers";
    if (c.distinct <= 12 && c.counted >= 50) {
      guess.sure = false;
      guess.reason += fmt::format(", only {} different; if they are codes, write category", c.distinct);
    }
  }
  return guess;
}

}  // namespace ppan
