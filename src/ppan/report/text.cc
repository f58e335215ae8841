#include "ppan/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ppan::text {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";
constexpr std::string_view kMinus = "\xE2\x88\x92";

struct CodePoint {
  char32_t value = 0;
  std::size_t bytes = 1;
  bool valid = false;
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return {};
  char32_t value = lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    value = (value << 6U) | (byte(i) & 0x3FU);
  }
  const char32_t least = bytes == 2 ? 0x80 : bytes == 3 ? 0x800 : 0x10000;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  const bool noncharacter = value == 0xFFFE || value == 0xFFFF;
  if (value < least || value > 0x10FFFF || surrogate || noncharacter) return {};
  return {value, bytes, true};
}

double width_of(char32_t c) {
  constexpr std::string_view kNarrow = "ijlI.,:;'|!()[]{}/ ft-`\"";
  constexpr std::string_view kWide = "mwMWQOG@%&";
  if (c >= 0x1100 && (c < 0x2000 || c > 0x2FFF)) return 1.0;
  if (c >= 0x80) return 0.65;
  const char letter = static_cast<char>(c);
  if (kNarrow.find(letter) != std::string_view::npos) return 0.37;
  if (kWide.find(letter) != std::string_view::npos) return 0.92;
  if (letter >= 'A' && letter <= 'Z') return 0.72;
  return 0.62;
}

template <typename Visit>
void for_each_point(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const CodePoint point = decode(text);
    if (!visit(point, text.substr(0, point.bytes))) return;
    text.remove_prefix(point.bytes);
  }
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for_each_point(text, [&](const CodePoint& point, std::string_view bytes) {
    const char32_t c = point.value;
    const bool control = (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || (c >= 0x7F && c < 0xA0);
    if (!point.valid || control) {
      out += kReplacement;
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else if (c == '\'') {
      out += "&#39;";
    } else {
      out += bytes;
    }
    return true;
  });
  return out;
}

int length_of(std::string_view text) {
  int length = 0;
  for_each_point(text, [&](const CodePoint&, std::string_view) { return ++length > 0; });
  return length;
}

double text_width(std::string_view text) {
  double width = 0;
  for_each_point(text, [&](const CodePoint& point, std::string_view) {
    width += width_of(point.value);
    return true;
  });
  return width;
}

std::string cut_to_width(std::string_view text, double width) {
  if (text_width(text) <= width) return std::string(text);
  std::string out;
  double used = 1.0;  // the ellipsis
  for_each_point(text, [&](const CodePoint& point, std::string_view bytes) {
    used += width_of(point.value);
    if (used > width) return false;
    out += bytes;
    return true;
  });
  return out.append(kEllipsis);
}

std::string cut_to_columns(std::string_view text, int columns, std::string_view ellipsis) {
  if (length_of(text) <= columns) return std::string(text);
  std::string out;
  int used = length_of(ellipsis);
  for_each_point(text, [&](const CodePoint&, std::string_view bytes) {
    if (++used > columns) return false;
    out += bytes;
    return true;
  });
  return out.append(ellipsis);
}

std::vector<std::string> wrap(std::string_view text, double width) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n\t"), text.size());
    const std::string word = cut_to_width(text.substr(0, end), width);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    if (!lines.empty() && text_width(lines.back()) + text_width(" ") + text_width(word) <= width) {
      lines.back().append(" ").append(word);
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

std::string show_number(double value, int digits) {
  if (std::isnan(value)) return "unknown";
  if (value == 0) return "0";
  if (std::isinf(value)) return value > 0 ? "\xE2\x88\x9E" : std::string(kMinus).append("\xE2\x88\x9E");
  const double size = std::abs(value);
  std::string text;
  if (size < 1e-4 || size >= 1e6) {
    text = fmt::format("{:.{}e}", size, digits - 1);
  } else {
    const int before = size < 1 ? 1 : static_cast<int>(std::floor(std::log10(size))) + 1;
    const int decimals = size < 0.1 ? digits + static_cast<int>(-std::floor(std::log10(size))) - 1
                                    : std::max(0, digits - before + (size < 1 ? 1 : 0));
    text = fmt::format("{:.{}f}", size, decimals);
  }
  return value < 0 ? std::string(kMinus) + text : text;
}

}  // namespace ppan::text
