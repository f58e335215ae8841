#include "ppan/audit/letter_pairs.h"

#include <algorithm>
#include <utility>

namespace ppan {
namespace {

constexpr std::size_t kLeastPairRows = 20;
constexpr std::size_t kRowsPerPair = 200;
constexpr std::size_t kAllPairs = std::size_t{1} << 16U;

}  // namespace

std::vector<LetterPair> letter_pairs(std::string_view text) {
  std::vector<LetterPair> pairs;
  for (std::size_t i = 1; i < text.size(); ++i) {
    const unsigned first = static_cast<unsigned char>(text[i - 1]);
    const unsigned second = static_cast<unsigned char>(text[i]);
    pairs.push_back(static_cast<LetterPair>((first << 8U) | second));
  }
  std::sort(pairs.begin(), pairs.end());
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

std::vector<LetterPair> frequent_pairs(const std::vector<std::string>& text, const Symbols& code,
                                       std::size_t most) {
  std::vector<std::size_t> text_rows(text.size(), 0);
  for (const std::int32_t c : code) ++text_rows[static_cast<std::size_t>(c)];
  std::vector<std::size_t> rows(kAllPairs, 0);
  for (std::size_t t = 0; t < text.size(); ++t) {
    if (text_rows[t] == 0) continue;
    for (const LetterPair pair : letter_pairs(text[t])) rows[pair] += text_rows[t];
  }
  const std::size_t least = std::max(kLeastPairRows, code.size() / kRowsPerPair);
  std::vector<std::pair<std::size_t, LetterPair>> order;  // rows that have it, or have it not: the fewer
  for (std::size_t pair = 0; pair < kAllPairs; ++pair) {
    const std::size_t rarer = std::min(rows[pair], code.size() - rows[pair]);
    if (rarer >= least) order.emplace_back(rarer, static_cast<LetterPair>(pair));
  }
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<LetterPair> out;
  for (std::size_t p = 0; p < std::min(most, order.size()); ++p) out.push_back(order[p].second);
  return out;
}

}  // namespace ppan
