#pragma once

// Words of texts, wherever in the text they stand: one word of a note of forty may say what is to be hidden.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/records.h"

namespace ppan {

/// Different runs of letters or of digits, letters of ASCII small, sorted.
std::vector<std::string> words_of(std::string_view text);

/// Words that occur in enough rows, and not in nearly all of them, for anything to be learned from them: at
/// least 20 rows and a two-hundredth of them. Nearest to half of the rows first, at most `most`; none where
/// the texts have hardly more than a word each, since these are known text by text. `code`: the text of each
/// row.
std::vector<std::string> frequent_words(const std::vector<std::string>& text, const Symbols& code,
                                        std::size_t most);

}  // namespace ppan
