#pragma once

// What a FeatureMap (attack_features.h) learned about one column, and its features before constant ones are
// dropped. Shared by the files that implement the map, each of which is about one kind of feature.

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/letter_pairs.h"
#include "ppan/audit/text_form.h"
#include "ppan/audit/text_words.h"

namespace ppan {

// A column of few texts, or of many rows to each, is known text by text; its parts say no more.
inline constexpr std::size_t kLeastTexts = 30;
inline constexpr std::size_t kMostBefore = 24;  // columns whose cells are held against the row before

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

  explicit Written(const AuditColumn& column);
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

}  // namespace ppan
