#include "ppan/audit/text_words.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace ppan {
namespace {

constexpr std::size_t kLeastWordRows = 20;
constexpr std::size_t kRowsPerWord = 200;
constexpr double kWordsPerText = 1.5;
constexpr std::size_t kMostWordLength = 64;  // of what is compared
constexpr std::size_t kMostCounted = 200'000;

// Bytes beyond ASCII are parts of letters.
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < text.size();) {
    const bool letter = is_letter(text[i]);
    if (!letter && !is_digit(text[i])) {
      ++i;
      continue;
    }
    std::size_t end = i + 1;
    while (end < text.size() && (letter ? is_letter(text[end]) : is_digit(text[end]))) ++end;
    std::string word(text.substr(i, std::min(end - i, kMostWordLength)));
    for (char& c : word) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    words.push_back(std::move(word));
    i = end;
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

std::vector<std::string> frequent_words(const std::vector<std::string>& text, const Symbols& code,
                                        std::size_t most) {
  std::vector<std::size_t> text_rows(text.size(), 0);
  for (const std::int32_t c : code) ++text_rows[static_cast<std::size_t>(c)];
  std::unordered_map<std::string, std::size_t> rows;
  double all = 0;
  for (std::size_t t = 0; t < text.size(); ++t) {
    if (text_rows[t] == 0) continue;
    for (std::string& word : words_of(text[t])) {
      all += static_cast<double>(text_rows[t]);
      const auto at = rows.find(word);
      if (at != rows.end()) {
        at->second += text_rows[t];
      } else if (rows.size() < kMostCounted) {
        rows.emplace(std::move(word), text_rows[t]);
      }
    }
  }
  std::vector<std::string> out;
  if (all < kWordsPerText * static_cast<double>(code.size())) return out;
  const std::size_t least = std::max(kLeastWordRows, code.size() / kRowsPerWord);
  std::vector<std::pair<std::size_t, std::string>> order;  // rows that have it, or have it not: the fewer
  for (const auto& [word, count] : rows) {
    const std::size_t rarer = std::min(count, code.size() - count);
    if (rarer >= least) order.emplace_back(rarer, word);
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  for (std::size_t w = 0; w < std::min(most, order.size()); ++w) out.push_back(std::move(order[w].second));
  return out;
}

}  // namespace ppan
