// Features of texts: the frequent ones one by one, how they are written, their words, parts and pairs of
// characters.

#include <algorithm>
#include <cmath>

#include "ppan/audit/feature_column.h"
#include "ppan/audit/text_parts.h"

namespace ppan {
namespace {

constexpr Index kRowsPerText = 100;
constexpr std::size_t kMostParts = 300;  // of all columns: each is a number in every row, in every release
constexpr std::size_t kMostWords = 256;  // of all columns
// The same that are counted by in pairs: with more of them there is no room for triples of columns.
constexpr std::size_t kMostPairedWords = 40;
constexpr std::size_t kMostPairs = 128;  // of characters, of all columns

}  // namespace

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

void FeatureMap::learn_words(const Written& written, Column& column) {
  if (written.text.size() < kLeastTexts) return;
  const std::size_t share = std::max<std::size_t>(1, text_columns_);
  column.pairs = frequent_pairs(written.text, written.code, kMostPairs / share);
  column.words = frequent_words(written.text, written.code, kMostWords / share);
  column.paired_words = std::min(column.words.size(), kMostPairedWords / share);
  column.first_word_code = static_cast<Index>(coarse_values_.size());
  for (std::size_t w = 0; w < column.paired_words; ++w) add_coarse(2, column.name);
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

}  // namespace ppan
