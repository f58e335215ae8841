#pragma once

// Two characters beside each other, wherever in a text they stand: endings, double spaces, a code inside a
// longer one, a capital after a space. Words (text_words.h) are found between spaces and marks only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/records.h"

namespace ppan {

using LetterPair = std::uint16_t;

/// Bytes beside each other, each pair once; letters are told apart by case.
std::vector<LetterPair> letter_pairs(std::string_view text);

/// Pairs that occur in at least 20 rows and a two-hundredth of them, and are missing in as many. Nearest to
/// half of the rows first, at most `most`. `code`: the text of each row.
std::vector<LetterPair> frequent_pairs(const std::vector<std::string>& text, const Symbols& code,
                                       std::size_t most);

}  // namespace ppan
