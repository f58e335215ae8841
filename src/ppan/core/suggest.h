#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ppan {

/// The candidates nearest to `word` by edit distance (insert, delete, replace, swap neighbours), nearest
/// first; only those near enough to be a likely typing error. A candidate that starts with `word` is
/// always included.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> candidates);

/// "unknown WHAT 'word'" followed by " (did you mean 'a' or 'b'?)" or " (known: a, b, c)".
std::string unknown_name(std::string_view what, std::string_view word,
                         std::span<const std::string> candidates);

}  // namespace ppan
