#include "ppan/core/cell_text.h"

#include <algorithm>

namespace ppan {
namespace {

// Control characters never stand in a message otherwise: cells are shown with theirs escaped.
constexpr char kBegin = '\x02';
constexpr char kBetween = '\x1F';
constexpr char kEnd = '\x03';

std::string plain(std::string_view text) {
  std::string out(text);
  std::erase_if(out, [](char c) { return c == kBegin || c == kBetween || c == kEnd; });
  return out;
}

std::string unmarked(std::string_view message, bool shown) {
  std::string out;
  while (true) {
    const std::size_t begin = message.find(kBegin);
    const std::size_t between = message.find(kBetween, begin == std::string_view::npos ? begin : begin + 1);
    const std::size_t end = message.find(kEnd, between == std::string_view::npos ? between : between + 1);
    if (begin == std::string_view::npos || between == std::string_view::npos || end == std::string_view::npos)
      break;
    out += message.substr(0, begin);
    out += shown ? message.substr(begin + 1, between - begin - 1)
                 : message.substr(between + 1, end - between - 1);
    message.remove_prefix(end + 1);
  }
  out += message;
  return out;
}

}  // namespace

std::string marked_value(std::string_view shown, std::string_view hidden) {
  std::string out(1, kBegin);
  out += plain(shown);
  out += kBetween;
  out += plain(hidden);
  out += kEnd;
  return out;
}

std::string with_values(std::string_view message) {
  return unmarked(message, true);
}

std::string without_values(std::string_view message) {
  return unmarked(message, false);
}

}  // namespace ppan
