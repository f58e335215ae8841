#include "ppan/audit/attack_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "ppan/audit/digit_form.h"
#include "ppan/audit/file_neighbours.h"
#include "ppan/audit/letter_pairs.h"
#include "ppan/audit/text_parts.h"
#include "ppan/audit/text_words.h"

namespace ppan {
namespace {

constexpr float kMostDeviations = 8;  // beyond it a value says no more than its rank does
constexpr double kFarOut = 100;       // standard deviation in widths of the middle eight tenths
// A feature that is set in few rows would otherwise stand far from all others and swamp every distance.
constexpr double kMostScale = 4;
// A column of few texts, or of many rows to each, is known text by text; its parts say no more.
constexpr std::size_t kLeastTexts = 30;
constexpr Index kRowsPerText = 100;
constexpr std::size_t kMostParts = 300;  // of all columns: each is a number in every row, in every release
constexpr std::size_t kMostWords = 256;  // of all columns
// The same that are counted by in pairs: with more of them there is no room for triples of columns.
constexpr std::size_t kMostPairedWords = 40;
constexpr std::size_t kMostPairs = 128;          // of characters, of all columns
constexpr std::size_t kMostBefore = 24;          // columns whose cells are held against the row before
constexpr std::size_t kMostNeighbourCodes = 24;  // coarse codes of the row before and after, as keys
// Identifiers: nearly all different and of one length. Their characters are counted by in pairs.
constexpr std::size_t kMostCharacterCodes = 24;  // of all columns
constexpr std::size_t kLeastIdentifier = 4;      // characters
constexpr std::size_t kMostIdentifier = 24;
constexpr double kOneLength = 0.95;          // share of the rows
constexpr std::size_t kMostCharacters = 16;  // different ones in a place
constexpr std::size_t kCoarseBins = 4;
constexpr std::int32_t kCoarseLevels = 8;
// Columns of fewer values are alike by chance, and small enough for pairs of them to be counted.
constexpr std::size_t kAlikeTexts = 13;
constexpr Index kLeastAlike = 20;     // rows in which two columns are, and are not, the same
constexpr Index kAlikeRows = 20'000;  // that are looked at for it
// Rows of a file that stand together, as keys: sorted files often hold one class after the other.
constexpr std::array<Index, 4> kBlockRows{4, 16, 64, 256};
// Places in turns of so many rows, as keys: files that were put together by turns.
constexpr std::array<Index, 9> kTurns{3, 4, 5, 6, 7, 8, 9, 10, 12};

std::string folded(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

// How a text is written, as numbers. The same for every text column; constant ones are dropped later.
struct TextForm {
  // Capitals, capital first, length, space at the ends, digits, decimals, sign or exponent, parity of last
  // digit.
  std::array<float, 8> value{};
};

TextForm form_of(const std::string& text) {
  float upper = 0;
  float digits = 0;
  float last = 0;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isupper(u)) upper += 1;
    if (std::isdigit(u)) {
      digits += 1;
      last = static_cast<float>((c - '0') % 2);
    }
  }
  const auto edge_space = [&](char c) { return std::isspace(static_cast<unsigned char>(c)) ? 1.0F : 0.0F; };
  const std::size_t mark = text.find_first_of(".,");
  TextForm form;
  form.value = {upper,
                !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) ? 1.0F : 0.0F,
                static_cast<float>(text.size()),
                text.empty() ? 0.0F : edge_space(text.front()) + 2 * edge_space(text.back()),
                digits,
                mark == std::string::npos ? 0.0F : static_cast<float>(text.size() - mark),
                text.find_first_of("+eE") == std::string::npos ? 0.0F : 1.0F,
                last};
  return form;
}

std::vector<TextForm> forms_of(const AuditColumn& column) {
  std::vector<TextForm> forms;
  for (const std::string& text : column.level) forms.push_back(form_of(text));
  return forms;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  hash *= 0xFF51AFD7ED558CCDULL;
  return hash ^ (hash >> 33U);
}

// One hash per row of everything released in it. 64 bits: two of a million rows collide once in 40 million
// tables.
std::vector<std::uint64_t> row_hashes(const AuditTable& table) {
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(table.rows()), 0);
  for (const AuditColumn& column : table.columns) {
    std::vector<std::uint64_t> text;
    for (const std::string& level : column.level) text.push_back(std::hash<std::string>{}(level));
    for (std::size_t i = 0; i < hash.size(); ++i) {
      hash[i] = mix(hash[i], column.has_text()
                                 ? text[static_cast<std::size_t>(column.code[i])]
                                 : std::bit_cast<std::uint64_t>(column.number[static_cast<Index>(i)]));
    }
  }
  return hash;
}

// 1 in the rows that have the same in both columns.
Vector<float> alike(const AuditColumn& a, const AuditColumn& b, Index rows) {
  Vector<float> same = Vector<float>::Zero(rows);
  if (a.numeric() && b.numeric()) {
    for (Index i = 0; i < rows; ++i) same[i] = a.number[i] == b.number[i] ? 1.0F : 0.0F;
    return same;
  }
  if (!a.has_text() || !b.has_text()) return same;
  std::unordered_map<std::string_view, std::int32_t> known;
  for (std::size_t l = 0; l < a.level.size(); ++l)
    known.try_emplace(a.level[l], static_cast<std::int32_t>(l));
  std::vector<std::int32_t> translated;
  for (const std::string& level : b.level) {
    const auto at = known.find(level);
    translated.push_back(at == known.end() ? -1 : at->second);
  }
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    same[i] =
        !a.missing[row] && a.code[row] == translated[static_cast<std::size_t>(b.code[row])] ? 1.0F : 0.0F;
  }
  return same;
}

std::uint64_t mantissa(double value) {
  return std::bit_cast<std::uint64_t>(value) & ((1ULL << 52U) - 1U);
}

}  // namespace

Problems FeatureOptions::check() const {
  ProblemList list;
  list.require_between("most_levels", most_levels, 2, 1000);
  list.require_at_least("trace_columns", trace_columns, 0);
  list.require_at_least("screened_columns", screened_columns, 0);
  return list.take();
}

// What was learned about a column from the released rows.
struct FeatureMap::Column {
  std::string name;
  bool numeric = false;
  bool traced = false;  // digits and the like are given, not the value alone
  double mean = 0;
  double scale = 1;
  std::vector<double> sorted;  // for ranks
  unsigned used_bit = 0;       // lowest bit of the mantissa that any value uses
  bool integers = false;
  std::unordered_map<std::string, std::int32_t> level;    // folded text to its feature
  std::int32_t levels = 0;                                // features of the level; the last: all others
  std::unordered_map<std::string, std::int32_t> missing;  // exact marker to its feature
  TextForm
      usual;  // mean form of the cells that are there: a missing cell shows as missing, not as oddly written
  // Exact texts, how many rows have each, and which one each row has.
  std::unordered_map<std::string, std::int32_t> text;
  std::vector<Index> text_rows;
  Symbols row_text;
  int decimals = 0;  // most that a number is written with
  NumberForm form = NumberForm::kNumber;
  Index first_key = 0;     // of its keys among all
  bool exact_key = false;  // its exact texts are a key
  // Parts of its texts that are keys, and the values each takes.
  struct Part {
    std::size_t which = 0;
    std::unordered_map<std::string, std::int32_t> value;
  };
  std::vector<Part> parts;
  // Words that its texts have or have not; the first so many of them are coarse codes as well.
  std::vector<std::string> words;
  std::size_t paired_words = 0;
  Index first_word_code = 0;
  std::vector<LetterPair> pairs;  // of characters, that its texts have or have not
  // Places of an identifier that are coarse codes, and what stands there.
  struct Character {
    std::size_t place = 0;
    std::array<std::int32_t, 256> code{};  // 0: none of those that were there
  };
  std::vector<Character> characters;
  Index first_character_code = 0;
  // Coarse codes: bins of a number, with one more for missing ones; its last digit; or the most frequent
  // levels.
  Index first_coarse = 0;
  std::vector<double> coarse_edge;
  bool coarse_digit = false;
};

// The exact texts of a column; numbers that never were text are written out in full.
struct FeatureMap::Written {
  std::vector<std::string> text;
  Symbols code;

  explicit Written(const AuditColumn& column) {
    if (column.has_text()) {
      text = column.level;
      code = column.code;
      return;
    }
    std::unordered_map<std::uint64_t, std::int32_t> known;
    for (Index i = 0; i < column.rows(); ++i) {
      const auto [at, added] = known.try_emplace(std::bit_cast<std::uint64_t>(column.number[i]),
                                                 static_cast<std::int32_t>(text.size()));
      if (added) text.push_back(fmt::format("{}", column.number[i]));
      code.push_back(at->second);
    }
  }
};

// One feature before constant ones are dropped.
struct FeatureMap::RawFeature {
  Vector<float> data;
  FeatureSource source;
  bool value = false;
};

// Those of one column: all columns at once would take several times what is kept of them.
struct FeatureMap::Raw {
  Index rows = 0;
  std::deque<RawFeature> features{};  // of which references stay valid while others are added

  Vector<float>& add(const std::string& column, const char* aspect, bool is_value) {
    features.push_back({Vector<float>::Zero(rows), {column, aspect}, is_value});
    return features.back().data;
  }
  [[nodiscard]] std::size_t used() const { return features.size(); }
};

FeatureMap::FeatureMap(const AuditTable& released, const FeatureOptions& options, Index trained_rows,
                       const std::vector<bool>& traced)
    : options_(options), trained_rows_(trained_rows), profile_(released) {
  require_none(options.check(), "these options of the attackers' features cannot be used:");
  const bool all = static_cast<std::int32_t>(released.columns.size()) <= options.trace_columns;
  for (std::size_t c = 0; c < released.columns.size(); ++c) {
    const bool given = traced.empty() ? all : traced[c];
    if (given && !released.columns[c].numeric() && released.columns[c].level.size() >= kLeastTexts)
      ++text_columns_;
  }
  for (std::size_t c = 0; c < released.columns.size(); ++c) {
    const AuditColumn& from = released.columns[c];
    auto column = std::make_shared<Column>();
    column->name = from.name;
    column->numeric = from.numeric();
    column->form = from.form;
    column->traced = traced.empty() ? all : traced[c];
    if (from.numeric()) learn_number(from, *column);
    if (from.has_text()) learn_text(from, *column);
    if (column->traced) {
      learn_writing(from, *column);
    } else {
      learn_coarse(from, *column);
      std::vector<double>().swap(column->sorted);
    }
    columns_.push_back(std::move(column));
  }
  learn_alike(released);
  for (const std::uint64_t h : row_hashes(released)) {
    row_cell_.push_back(cell_.try_emplace(h, static_cast<std::int32_t>(cell_.size())).first->second);
    cell_rows_.resize(cell_.size(), 0);
    ++cell_rows_[static_cast<std::size_t>(row_cell_.back())];
  }
  const std::vector<RowTrace> traces = profile_.traces(released);
  for (const RowTrace& trace : traces) {
    trace_values_.push_back(trace.values);
    if (trace.values > 0) add_key(static_cast<std::size_t>(trace.values), trace.column, "pattern");
  }
  learn_row_keys(released.rows() - trained_rows);

  Index at = 0;
  write(released, traces, [&](const RawFeature& raw) {
    const Index position = at++;
    const auto column = raw.data.array();
    const double mean = column.cast<double>().mean();
    const double variance = (column.cast<double>() - mean).square().mean();
    if (variance < 1e-12 * (1 + mean * mean)) return;
    if (raw.value) values_.push_back(width());
    kept_.push_back(position);
    source_.push_back(raw.source);
    mean_.push_back(static_cast<float>(mean));
    scale_.push_back(static_cast<float>(std::min(kMostScale, 1 / std::sqrt(variance))));
  });
}

// Keys of the row as a whole: where it stands, and what stands beside it.
void FeatureMap::learn_row_keys(Index rows) {
  const auto patterns =
      std::count_if(trace_values_.begin(), trace_values_.end(), [](auto v) { return v > 0; });
  first_row_key_ = static_cast<Index>(key_values_.size()) - static_cast<Index>(patterns);
  if (!options_.row_position) return;
  numbers_.push_back({"row", 1.0, true});
  for (const Index block : kBlockRows) add_key(static_cast<std::size_t>(rows / block + 1), "row", "position");
  for (const Index turn : kTurns) add_key(static_cast<std::size_t>(turn), "row", "position");
  for (std::size_t c = 0; c < coarse_values_.size() && neighbour_code_.size() < kMostNeighbourCodes; ++c) {
    if (!coarse_in_threes_[c]) continue;
    neighbour_code_.push_back(static_cast<Index>(c));
    for (int side = 0; side < 2; ++side)
      add_key(static_cast<std::size_t>(coarse_values_[c]), coarse_column_[c], "neighbours");
  }
}

void FeatureMap::learn_number(const AuditColumn& from, Column& column) const {
  for (Index i = 0; i < from.rows(); ++i) {
    if (!std::isnan(from.number[i])) column.sorted.push_back(from.number[i]);
  }
  std::sort(column.sorted.begin(), column.sorted.end());
  const auto count = static_cast<double>(std::max<std::size_t>(1, column.sorted.size()));
  double square = 0;
  for (const double v : column.sorted) column.mean += v / count;
  for (const double v : column.sorted) square += (v - column.mean) * (v - column.mean) / count;
  if (square > 0) column.scale = 1 / std::sqrt(square);
  // One cell of 1e300 would leave nothing of all others.
  const auto quantile = [&](std::size_t tenths) { return column.sorted[column.sorted.size() * tenths / 10]; };
  if (!column.sorted.empty() && std::sqrt(square) > kFarOut * (quantile(9) - quantile(1)) &&
      quantile(9) > quantile(1)) {
    column.mean = quantile(5);
    column.scale = 1 / (quantile(9) - quantile(1));
  }
  column.used_bit = 52;
  column.integers = true;
  for (const double v : column.sorted) {
    if (mantissa(v) != 0) {
      column.used_bit = std::min(column.used_bit, static_cast<unsigned>(std::countr_zero(mantissa(v))));
    }
    column.integers = column.integers && v == std::floor(v) && std::abs(v) < 0x1p52;
  }
}

void FeatureMap::learn_text(const AuditColumn& from, Column& column) const {
  // Levels of the folded text, most frequent first; for numbers only the texts that are none.
  std::unordered_map<std::string, Index> count;
  const std::vector<TextForm> forms = forms_of(from);
  float present = 0;
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::string& text = from.level[static_cast<std::size_t>(from.code[row])];
    if (from.missing[row]) {
      column.missing.try_emplace(text, static_cast<std::int32_t>(column.missing.size()));
    } else if (!from.numeric() || std::isnan(from.number[i])) {
      ++count[folded(text)];
    }
    if (!from.missing[row]) {
      ++present;
      const TextForm& form = forms[static_cast<std::size_t>(from.code[row])];
      for (std::size_t k = 0; k < form.value.size(); ++k) column.usual.value[k] += form.value[k];
    }
  }
  for (float& v : column.usual.value) v /= std::max(1.0F, present);
  if (column.missing.size() == 1) column.missing.clear();  // one marker says no more than "missing" does
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [text, rows] : count) order.emplace_back(-rows, text);
  std::sort(order.begin(), order.end());
  for (const auto& [rows, text] : order) {
    column.level[text] = std::min(column.levels, options_.most_levels - 1);
    if (column.levels < options_.most_levels) ++column.levels;
  }
}

void FeatureMap::learn_writing(const AuditColumn& from, Column& column) {
  const Written written(from);
  column.text_rows.assign(written.text.size(), 0);
  for (std::size_t t = 0; t < written.text.size(); ++t) {
    column.text.emplace(written.text[t], static_cast<std::int32_t>(t));
    if (column.numeric) column.decimals = std::max(column.decimals, written_decimals(written.text[t]));
  }
  for (const std::int32_t code : written.code) {
    // A text may stand twice among the levels that a column was given.
    column.row_text.push_back(column.text.at(written.text[static_cast<std::size_t>(code)]));
    ++column.text_rows[static_cast<std::size_t>(column.row_text.back())];
  }
  column.first_key = static_cast<Index>(key_values_.size());
  for (const std::size_t values : {10, 100, 1000, 100, 1000}) {
    if (column.numeric) add_key(values, column.name, "digits");
  }
  for (const std::int32_t values : CalendarForm::kValues) {
    if (column.form != NumberForm::kNumber)
      add_key(static_cast<std::size_t>(values), column.name, "calendar");
  }
  // A value that nearly every row has for itself is nothing to count by.
  column.exact_key = static_cast<Index>(written.text.size()) <= from.rows() / 2;
  if (column.exact_key) add_key(written.text.size(), column.name, "value");
  if (!column.numeric) learn_parts(written, from.rows(), column);
  // Of more decimals than these a number was not written by anybody.
  constexpr int kWrittenDecimals = 6;
  if (column.numeric)
    numbers_.push_back(
        {column.name, column.decimals <= kWrittenDecimals ? std::pow(10.0, column.decimals) : 0.0});
  learn_coarse(from, column);
  if (!column.numeric) learn_words(written, column);
  if (!column.exact_key && (!column.numeric || column.decimals == 0) && column.form == NumberForm::kNumber)
    learn_characters(written, from.rows(), column);
}

// What stands in each place of identifiers.
void FeatureMap::learn_characters(const Written& written, Index rows, Column& column) {
  std::array<Index, kMostIdentifier + 1> lengths{};
  for (const std::int32_t code : written.code) {
    const std::size_t length = written.text[static_cast<std::size_t>(code)].size();
    if (length <= kMostIdentifier) ++lengths[length];
  }
  const auto most = std::max_element(lengths.begin(), lengths.end());
  const auto length = static_cast<std::size_t>(most - lengths.begin());
  if (length < kLeastIdentifier || static_cast<double>(*most) < kOneLength * static_cast<double>(rows))
    return;
  column.first_character_code = static_cast<Index>(coarse_values_.size());
  for (std::size_t place = 0; place < length && character_codes_ < kMostCharacterCodes; ++place) {
    Column::Character character{.place = place};
    std::int32_t different = 0;
    for (const std::string& text : written.text) {
      if (text.size() != length) continue;
      std::int32_t& code = character.code[static_cast<unsigned char>(text[place])];
      if (code == 0) code = ++different;
    }
    if (different < 2 || static_cast<std::size_t>(different) > kMostCharacters) continue;
    ++character_codes_;
    add_coarse(static_cast<std::size_t>(different) + 1, column.name, false);
    column.characters.push_back(character);
  }
}

void FeatureMap::write_characters(const Column& column, const AuditColumn& from, KeyMatrix& coarse) {
  if (column.characters.empty()) return;
  const Written written(from);
  for (std::size_t p = 0; p < column.characters.size(); ++p) {
    const Column::Character& character = column.characters[p];
    Symbols code;
    for (const std::string& text : written.text)
      code.push_back(character.place < text.size()
                         ? character.code[static_cast<unsigned char>(text[character.place])]
                         : 0);
    for (Index i = 0; i < from.rows(); ++i)
      coarse(i, column.first_character_code + static_cast<Index>(p)) =
          code[static_cast<std::size_t>(written.code[static_cast<std::size_t>(i)])];
  }
}

void FeatureMap::learn_words(const Written& written, Column& column) {
  if (written.text.size() < kLeastTexts) return;
  const std::size_t share = std::max<std::size_t>(1, text_columns_);
  column.pairs = frequent_pairs(written.text, written.code, kMostPairs / share);
  column.words = frequent_words(written.text, written.code, kMostWords / share);
  column.paired_words = std::min(column.words.size(), kMostPairedWords / share);
  column.first_word_code = static_cast<Index>(coarse_values_.size());
  for (std::size_t w = 0; w < column.paired_words; ++w) add_coarse(2, column.name);
}

void FeatureMap::learn_coarse(const AuditColumn& from, Column& column) {
  column.first_coarse = static_cast<Index>(coarse_values_.size());
  if (!column.numeric) {
    // Missing, and all but the most frequent levels.
    add_coarse(static_cast<std::size_t>(std::min(column.levels, kCoarseLevels)) + 2, column.name);
    return;
  }
  std::vector<double> different = column.sorted;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const bool few = different.size() <= kCoarseBins + 2;
  const std::vector<double>& cut = few ? different : column.sorted;
  const std::size_t bins = few ? different.size() : kCoarseBins;
  for (std::size_t b = 1; b < bins; ++b) {
    const double edge = cut[cut.size() * b / bins];
    if (column.coarse_edge.empty() || edge > column.coarse_edge.back()) column.coarse_edge.push_back(edge);
  }
  add_coarse(column.coarse_edge.size() + 2, column.name);
  column.coarse_digit = column.traced && !few && from.rows() > 0;
  if (column.coarse_digit) add_coarse(3, column.name);
}

void FeatureMap::write_coarse(const Column& column, const AuditColumn& from, KeyMatrix& coarse) {
  const Index rows = from.rows();
  if (!column.numeric) {
    std::vector<std::int32_t> code;
    for (const std::string& text : from.level) {
      const auto at = column.level.find(folded(text));
      code.push_back(at == column.level.end() ? kCoarseLevels : std::min(at->second, kCoarseLevels));
    }
    const std::int32_t most = std::min(column.levels, kCoarseLevels);
    for (Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      coarse(i, column.first_coarse) =
          from.missing[row] ? 0 : 1 + std::min(most, code[static_cast<std::size_t>(from.code[row])]);
    }
    for_each_word(column, from, [&](std::size_t word, const auto& has) {
      if (word >= column.paired_words) return;
      for (Index i = 0; i < rows; ++i)
        coarse(i, column.first_word_code + static_cast<Index>(word)) = has(i) ? 1 : 0;
    });
    return;
  }
  const std::vector<std::int32_t> digit = column.coarse_digit ? coarse_digits(column, from) : Symbols{};
  const std::vector<double>& edge = column.coarse_edge;
  for (Index i = 0; i < rows; ++i) {
    const double value = from.number[i];
    coarse(i, column.first_coarse) =
        std::isnan(value)
            ? 0
            : 1 + static_cast<std::int32_t>(std::upper_bound(edge.begin(), edge.end(), value) - edge.begin());
    if (column.coarse_digit) coarse(i, column.first_coarse + 1) = digit[static_cast<std::size_t>(i)];
  }
}

// Of each row: whether its last digit is 0, odd or even.
Symbols FeatureMap::coarse_digits(const Column& column, const AuditColumn& from) {
  const Written written(from);
  Symbols of_text;
  for (const std::string& text : written.text) {
    const std::int32_t last = digit_form(text, column.decimals).last1;
    of_text.push_back(last == 0 ? 0 : 1 + last % 2);
  }
  Symbols digit;
  digit.reserve(written.code.size());
  for (const std::int32_t code : written.code) digit.push_back(of_text[static_cast<std::size_t>(code)]);
  return digit;
}

// Calls use(word, has) for every word of the column; has(row) says whether the row's text has it.
template <typename Use>
void FeatureMap::for_each_word(const Column& column, const AuditColumn& from, const Use& use) {
  if (column.words.empty()) return;
  std::unordered_map<std::string_view, std::size_t> position;
  for (std::size_t w = 0; w < column.words.size(); ++w) position.emplace(column.words[w], w);
  std::vector<std::vector<std::uint8_t>> has(column.words.size(),
                                             std::vector<std::uint8_t>(from.level.size(), 0));
  for (std::size_t t = 0; t < from.level.size(); ++t) {
    for (const std::string& word : words_of(from.level[t])) {
      const auto at = position.find(word);
      if (at != position.end()) has[at->second][t] = 1;
    }
  }
  for (std::size_t w = 0; w < has.size(); ++w) {
    use(w, [&](Index row) {
      return has[w][static_cast<std::size_t>(from.code[static_cast<std::size_t>(row)])] != 0;
    });
  }
}

void FeatureMap::learn_alike(const AuditTable& released) {
  const Index rows = std::min(released.rows(), kAlikeRows);
  for (std::size_t a = 0; a < columns_.size(); ++a) {
    if (columns_[a]->text.size() < kAlikeTexts) continue;
    for (std::size_t b = a + 1; b < columns_.size(); ++b) {
      if (columns_[b]->text.size() < kAlikeTexts || columns_[a]->numeric != columns_[b]->numeric) continue;
      const Vector<float> same = alike(released.columns[a], released.columns[b], rows);
      const auto count = static_cast<Index>(same.sum());
      if (count >= kLeastAlike && count <= rows - kLeastAlike) alike_.emplace_back(a, b);
    }
  }
}

void FeatureMap::write_alike(const AuditTable& released, const TakeFeature& take) const {
  for (const auto& [a, b] : alike_) {
    Raw raw{released.rows()};
    raw.add(columns_[a]->name + " and " + columns_[b]->name, "equality", false) =
        alike(released.columns[a], released.columns[b], released.rows());
    take(raw.features.front());
  }
}

// What is true of a row as a whole: how many of its cells are missing, and how many rows are exactly the
// same.
void FeatureMap::write_row(const AuditTable& released, const TakeFeature& take) const {
  Raw raw{released.rows()};
  auto& missing = raw.add("row", "missing", false);
  auto& odd = raw.add("row", "missing", false);
  auto& others = raw.add("row", "repeats", false);
  for (const AuditColumn& column : released.columns) {
    for (Index i = 0; i < released.rows(); ++i)
      missing[i] += column.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
  }
  for (Index i = 0; i < released.rows(); ++i) odd[i] = std::fmod(missing[i], 2.0F);
  const std::vector<std::uint64_t> hash = row_hashes(released);
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto at = cell_.find(hash[i]);
    if (at == cell_.end()) continue;
    const Index count =
        cell_rows_[static_cast<std::size_t>(at->second)] - (row_cell_[i] == at->second ? 1 : 0);
    others[static_cast<Index>(i)] = std::log1p(static_cast<float>(count));
  }
  for (const RawFeature& feature : raw.features) take(feature);
}

void FeatureMap::add_key(std::size_t values, const std::string& column, const char* aspect) {
  key_values_.push_back(static_cast<std::int32_t>(values));
  key_source_.push_back({column, aspect});
}

void FeatureMap::add_coarse(std::size_t values, const std::string& column, bool in_threes) {
  coarse_in_threes_.push_back(in_threes);
  coarse_values_.push_back(static_cast<std::int32_t>(values));
  coarse_column_.push_back(column);
}

void FeatureMap::learn_parts(const Written& written, Index rows, Column& column) {
  const std::size_t texts = written.text.size();
  if (texts < kLeastTexts || rows > kRowsPerText * static_cast<Index>(texts)) return;
  std::array<Column::Part, TextParts::kCount> parts;
  for (const std::string& text : written.text) {
    const TextParts own = text_parts(text);
    for (std::size_t p = 0; p < parts.size(); ++p)
      parts[p].value.try_emplace(own.part[p], static_cast<std::int32_t>(parts[p].value.size()));
  }
  const std::size_t room = kMostParts / std::max<std::size_t>(1, text_columns_);
  for (std::size_t p = 0; p < parts.size() && column.parts.size() < room; ++p) {
    // One that is always the same says nothing, one that nearly every text has for itself no more than the
    // text.
    if (parts[p].value.size() < 2 || 2 * parts[p].value.size() > texts) continue;
    parts[p].which = p;
    add_key(parts[p].value.size(), column.name, "text");
    column.parts.push_back(std::move(parts[p]));
  }
}

void FeatureMap::write_number(const Column& column, const AuditColumn& from, Raw& raw) const {
  const Index rows = from.rows();
  auto& value = raw.add(column.name, "value", true);
  for (Index i = 0; i < rows; ++i) {
    if (!std::isnan(from.number[i])) {
      value[i] = std::clamp(static_cast<float>((from.number[i] - column.mean) * column.scale),
                            -kMostDeviations, kMostDeviations);
    }
  }
  if (!column.traced) return;
  auto& rank = raw.add(column.name, "value", true);
  const auto total = static_cast<float>(column.sorted.size());
  for (Index i = 0; i < rows; ++i) {
    if (std::isnan(from.number[i])) {
      rank[i] = 0.5F;
      continue;
    }
    const auto low = std::lower_bound(column.sorted.begin(), column.sorted.end(), from.number[i]);
    const auto high = std::upper_bound(low, column.sorted.end(), from.number[i]);
    rank[i] =
        (static_cast<float>(low - column.sorted.begin()) + static_cast<float>(high - column.sorted.begin())) /
        (2 * total);
  }
  auto& bit = raw.add(column.name, "low bits", false);
  for (Index i = 0; i < rows; ++i) {
    if (std::isnan(from.number[i])) continue;
    const bool odd = column.integers ? std::fmod(std::abs(from.number[i]), 2) == 1
                                     : ((mantissa(from.number[i]) >> column.used_bit) & 1U) != 0;
    bit[i] = odd ? 1.0F : 0.0F;
  }
  auto& zero_sign = raw.add(column.name, "low bits", false);  // -0.0 equals 0.0, and tells
  for (Index i = 0; i < rows; ++i) zero_sign[i] = from.number[i] == 0 && std::signbit(from.number[i]) ? 1 : 0;
}

void FeatureMap::write_levels(const Column& column, const AuditColumn& from, Raw& raw) const {
  const std::size_t first = raw.used();
  for (std::int32_t l = 0; l < column.levels; ++l) raw.add(column.name, "value", true);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (from.missing[row] || !from.has_text() || (column.numeric && !std::isnan(from.number[i]))) continue;
    const auto found = column.level.find(folded(from.level[static_cast<std::size_t>(from.code[row])]));
    const std::int32_t l = found == column.level.end() ? column.levels - 1 : found->second;
    raw.features[first + static_cast<std::size_t>(l)].data[i] = 1;
  }
}

void FeatureMap::write_digits(const Column& column, const Written& written, Raw& raw) const {
  const auto rows = written.code.size();
  if (column.numeric) {
    std::vector<DigitForm> forms;
    for (const std::string& text : written.text) forms.push_back(digit_form(text, column.decimals));
    for (std::size_t k = 0; k < DigitForm::kFeatures; ++k) {
      auto& digit = raw.add(column.name, "digits", false);
      for (std::size_t i = 0; i < rows; ++i)
        digit[static_cast<Index>(i)] = forms[static_cast<std::size_t>(written.code[i])].feature[k];
    }
  }
  // Rows beside this one with exactly the same text, among the released ones.
  std::vector<std::int32_t> known;
  for (const std::string& text : written.text) {
    const auto at = column.text.find(text);
    known.push_back(at == column.text.end() ? -1 : at->second);
  }
  auto& others = raw.add(column.name, "repeats", false);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int32_t text = known[static_cast<std::size_t>(written.code[i])];
    const Index count =
        text < 0 ? 0
                 : column.text_rows[static_cast<std::size_t>(text)] - (column.row_text[i] == text ? 1 : 0);
    others[static_cast<Index>(i)] = std::log1p(static_cast<float>(count));
  }
}

void FeatureMap::write_format(const Column& column, const AuditColumn& from, Raw& raw) const {
  const std::vector<TextForm> forms = forms_of(from);
  for (std::size_t k = 0; k < TextForm{}.value.size(); ++k) {
    auto& form = raw.add(column.name, "format", false);
    for (Index i = 0; i < from.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      form[i] = from.missing[row] ? column.usual.value[k]
                                  : forms[static_cast<std::size_t>(from.code[row])].value[k];
    }
  }
  const std::size_t first = raw.used();
  for (std::size_t m = 0; m < column.missing.size(); ++m) raw.add(column.name, "format", false);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!from.missing[row]) continue;
    const auto found = column.missing.find(from.level[static_cast<std::size_t>(from.code[row])]);
    if (found != column.missing.end())
      raw.features[first + static_cast<std::size_t>(found->second)].data[i] = 1;
  }
}

void FeatureMap::write_calendar(const Column& column, const AuditColumn& from, Raw& raw) {
  const std::size_t first = raw.used();
  for (std::size_t k = 0; k < CalendarForm::kCount; ++k) raw.add(column.name, "calendar", false);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto form = calendar_form(from.number[i], column.form);
    for (std::size_t k = 0; form && k < CalendarForm::kCount; ++k)
      raw.features[first + k].data[i] = static_cast<float>(form->value[k]);
  }
}

void FeatureMap::write_pairs(const Column& column, const AuditColumn& from, Raw& raw) {
  if (column.pairs.empty() || !from.has_text()) return;
  std::vector<std::int32_t> position(std::size_t{1} << 16U, -1);
  for (std::size_t p = 0; p < column.pairs.size(); ++p)
    position[column.pairs[p]] = static_cast<std::int32_t>(p);
  std::vector<std::vector<std::uint8_t>> has(column.pairs.size(),
                                             std::vector<std::uint8_t>(from.level.size(), 0));
  for (std::size_t t = 0; t < from.level.size(); ++t) {
    for (const LetterPair pair : letter_pairs(from.level[t])) {
      if (position[pair] >= 0) has[static_cast<std::size_t>(position[pair])][t] = 1;
    }
  }
  for (const auto& own : has) {
    auto& feature = raw.add(column.name, "text", false);
    for (Index i = 0; i < from.rows(); ++i)
      feature[i] = own[static_cast<std::size_t>(from.code[static_cast<std::size_t>(i)])] != 0 ? 1.0F : 0.0F;
  }
}

void FeatureMap::write(const AuditTable& released, const std::vector<RowTrace>& traces,
                       const TakeFeature& take) const {
  const Index rows = released.rows();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    const AuditColumn& from = released.columns[c];
    Raw raw{rows};
    if (column.numeric) write_number(column, from, raw);
    if (column.levels > 0) write_levels(column, from, raw);
    auto& missing = raw.add(column.name, "missing", false);
    for (Index i = 0; i < rows; ++i) missing[i] = from.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
    if (column.traced) {
      write_digits(column, Written(from), raw);
      if (from.has_text()) write_format(column, from, raw);
      if (column.numeric && column.form != NumberForm::kNumber) write_calendar(column, from, raw);
      for_each_word(column, from, [&](std::size_t, const auto& has) {
        auto& word = raw.add(column.name, "text", false);
        for (Index i = 0; i < rows; ++i) word[i] = has(i) ? 1.0F : 0.0F;
      });
      write_pairs(column, from, raw);
    }
    for (const RawFeature& feature : raw.features) take(feature);
  }
  write_alike(released, take);
  write_row(released, take);
  for (const RowTrace& trace : traces) take({trace.data, {trace.column, "pattern"}, false});
  if (!options_.row_position) return;
  write_place(released, take);
  write_neighbours(released, take);
}

void FeatureMap::write_neighbours(const AuditTable& released, const TakeFeature& take) const {
  std::vector<std::size_t> looked;
  for (std::size_t c = 0; c < columns_.size() && looked.size() < kMostBefore; ++c) {
    if (columns_[c]->traced) looked.push_back(c);
  }
  file_neighbours(released, looked, released.rows() - trained_rows_,
                  [&](const std::string& column, Vector<float> data) {
                    take({std::move(data), {column, "neighbours"}, false});
                  });
}

// Where in the file a row stands, and which of its cells are those of the row before it.
void FeatureMap::write_place(const AuditTable& released, const TakeFeature& take) const {
  const Index rows = released.rows();
  // Rows that trained the mechanism are not part of the file: the middle, which says nothing.
  const Index placed = rows - trained_rows_;
  Raw raw{rows};
  const auto add = [&](const std::string& column, const auto& value) {
    auto& feature = raw.add(column, "position", false);
    for (Index i = 0; i < rows; ++i) feature[i] = i < placed ? value(i) : 0.5F;
  };
  add("row", [&](Index i) { return static_cast<float>(i) / static_cast<float>(placed); });
  add("row", [&](Index i) { return static_cast<float>(i % 2); });
  std::size_t compared = 0;
  for (std::size_t c = 0; c < columns_.size() && compared < kMostBefore; ++c) {
    if (!columns_[c]->traced) continue;
    ++compared;
    const AuditColumn& from = released.columns[c];
    add(from.name, [&](Index i) {
      const auto row = static_cast<std::size_t>(i);
      if (i == 0 || from.missing[row] != from.missing[row - 1]) return 0.0F;
      const bool same = from.missing[row] || (from.has_text() ? from.code[row] == from.code[row - 1]
                                                              : from.number[i] == from.number[i - 1]);
      return same ? 1.0F : 0.0F;
    });
  }
  for (const RawFeature& feature : raw.features) take(feature);
}

void FeatureMap::write_keys(const Column& column, const AuditColumn& from, KeyMatrix& keys) const {
  const Written written(from);
  const auto rows = static_cast<Index>(written.code.size());
  Index key = column.first_key;
  const auto add = [&](const std::vector<std::int32_t>& value) {
    for (Index i = 0; i < rows; ++i)
      keys(i, key) = value[static_cast<std::size_t>(written.code[static_cast<std::size_t>(i)])];
    ++key;
  };
  if (column.numeric) {
    std::array<std::vector<std::int32_t>, 5> value;
    for (const std::string& text : written.text) {
      const DigitForm form = digit_form(text, column.decimals);
      value[0].push_back(form.last1);
      value[1].push_back(form.last2);
      value[2].push_back(form.last3);
      value[3].push_back(form.first2);
      value[4].push_back(form.first3);
    }
    for (const auto& values : value) add(values);
  }
  if (column.form != NumberForm::kNumber) {
    for (Index i = 0; i < rows; ++i) {
      const auto form = calendar_form(from.number[i], column.form);
      for (std::size_t k = 0; k < CalendarForm::kCount; ++k)
        keys(i, key + static_cast<Index>(k)) = form ? form->value[k] : -1;
    }
    key += static_cast<Index>(CalendarForm::kCount);
  }
  if (column.exact_key) {
    std::vector<std::int32_t> value;
    for (const std::string& text : written.text) {
      const auto at = column.text.find(text);
      value.push_back(at == column.text.end() ? -1 : at->second);
    }
    add(value);
  }
  if (column.parts.empty()) return;
  std::vector<std::vector<std::int32_t>> value(column.parts.size());
  for (const std::string& text : written.text) {
    const TextParts own = text_parts(text);
    for (std::size_t p = 0; p < value.size(); ++p) {
      const auto at = column.parts[p].value.find(own.part[column.parts[p].which]);
      value[p].push_back(at == column.parts[p].value.end() ? -1 : at->second);
    }
  }
  for (const auto& values : value) add(values);
}

void FeatureMap::write_row_keys(const std::vector<RowTrace>& traces, AttackFeatures& features) const {
  const Index rows = features.keys.rows();
  const Index placed = rows - trained_rows_;
  Index key = first_row_key_;
  const auto add = [&](const auto& value) {
    for (Index i = 0; i < rows; ++i) features.keys(i, key) = value(i);
    ++key;
  };
  for (std::size_t t = 0; t < traces.size(); ++t) {
    if (trace_values_[t] > 0) add([&](Index i) { return static_cast<std::int32_t>(traces[t].data[i]); });
  }
  if (!options_.row_position) return;
  // Rows that trained the mechanism are not part of the file.
  const auto add_placed = [&](const auto& value) {
    add([&](Index i) { return i < placed ? value(i) : -1; });
  };
  for (const Index block : kBlockRows)
    add_placed([&](Index i) { return static_cast<std::int32_t>(i / block); });
  for (const Index turn : kTurns) add_placed([&](Index i) { return static_cast<std::int32_t>(i % turn); });
  for (const Index code : neighbour_code_) {
    for (const Index step : {Index{-1}, Index{1}}) {
      add_placed([&](Index i) {
        const Index other = i + step;
        return other < 0 || other >= placed ? -1 : features.coarse(other, code);
      });
    }
  }
  for (Index i = 0; i < rows; ++i)
    features.number(i, features.number.cols() - 1) =
        i < placed ? static_cast<double>(i) : std::numeric_limits<double>::quiet_NaN();
}

AttackFeatures FeatureMap::apply(const AuditTable& released) const {
  AttackFeatures features;
  features.data.resize(released.rows(), width());
  Index at = 0;
  std::size_t next = 0;
  const std::vector<RowTrace> traces = profile_.traces(released);
  write(released, traces, [&](const RawFeature& raw) {
    const Index position = at++;
    if (next == kept_.size() || kept_[next] != position) return;
    features.data.col(static_cast<Index>(next)).array() = (raw.data.array() - mean_[next]) * scale_[next];
    ++next;
  });
  features.keys.resize(released.rows(), static_cast<Index>(key_values_.size()));
  features.coarse.resize(released.rows(), static_cast<Index>(coarse_values_.size()));
  features.number.resize(released.rows(), static_cast<Index>(numbers_.size()));
  Index number = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    write_coarse(*columns_[c], released.columns[c], features.coarse);
    write_characters(*columns_[c], released.columns[c], features.coarse);
    if (!columns_[c]->traced) continue;
    if (columns_[c]->numeric) features.number.col(number++) = released.columns[c].number;
    write_keys(*columns_[c], released.columns[c], features.keys);
  }
  write_row_keys(traces, features);
  for (const std::uint64_t h : row_hashes(released)) {
    const auto found = cell_.find(h);
    features.cell.push_back(found == cell_.end() ? -1 : found->second);
  }
  features.cells = static_cast<std::int32_t>(cell_.size());
  return features;
}

}  // namespace ppan
