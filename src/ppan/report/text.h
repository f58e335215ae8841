#pragma once

// Text inside SVG and HTML: escaping, measuring, truncating and wrapping. Private to this stage.

#include <string>
#include <string_view>
#include <vector>

namespace ppan::text {

/// Safe as content and inside double-quoted attributes of HTML, XML and SVG. Control characters, which XML
/// cannot hold, and bytes that are not UTF-8 become U+FFFD.
std::string escape(std::string_view text);

/// Number of code points.
int length_of(std::string_view text);
/// Width in units of the font size, for the widest of the common sans-serif fonts.
double text_width(std::string_view text);
/// `text` if it is at most `width` font sizes wide, otherwise its beginning with an ellipsis.
std::string cut_to_width(std::string_view text, double width);
/// The first `columns` code points, the last replaced by `ellipsis` when something was cut.
std::string cut_to_columns(std::string_view text, int columns, std::string_view ellipsis);
/// Broken at spaces into lines of at most `width` font sizes; words longer than a line are cut.
std::vector<std::string> wrap(std::string_view text, double width);

/// A number for people: about `digits` significant digits, no exponent between 1e-4 and 1e6, true minus sign.
std::string show_number(double value, int digits = 3);

}  // namespace ppan::text
