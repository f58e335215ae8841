#pragma once

#include <string>
#include <string_view>

namespace ppan {

/// `text` as it can be shown on a terminal and as one line: control characters, marks that change the
/// direction of writing, and bytes that are not UTF-8 are written as \n, \t, \x1B or \u202E.
std::string printable(std::string_view text);

/// The same for text of several lines: line ends stay.
std::string printable_lines(std::string_view text);

}  // namespace ppan
