#include "ppan/report/group_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>

namespace ppan {
namespace {

struct PointWarning {
  int point = 0;  ///< 0: not about one point.
  std::string_view text;
};

PointWarning split(std::string_view warning) {
  constexpr std::string_view kStart = "point ";
  if (!warning.starts_with(kStart)) return {0, warning};
  int number = 0;
  const char* end = warning.data() + warning.size();
  const auto [rest, error] = std::from_chars(warning.data() + kStart.size(), end, number);
  const std::string_view text(rest, static_cast<std::size_t>(end - rest));
  if (error != std::errc() || !text.starts_with(": ")) return {0, warning};
  return {number, text.substr(2)};
}

// The text with every number as one sign, so that texts that differ in numbers alone are equal.
std::string shape_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0;
    };
    if (!digit(i) && !(text[i] == '.' && digit(i + 1) && !out.empty() && out.back() == '#')) {
      out += text[i];
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

std::string list_of(const std::vector<int>& numbers) {
  std::string out;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : i + 1 == numbers.size() ? " and " : ", ", numbers[i]);
  return out;
}

}  // namespace

std::vector<std::string> group_warnings(const std::vector<std::string>& warnings) {
  struct Group {
    std::string shape;
    std::string text;
    std::vector<int> points;
    bool same = true;
  };
  std::vector<Group> groups;
  for (const std::string& warning : warnings) {
    const PointWarning one = split(warning);
    const std::string shape = one.point > 0 ? shape_of(one.text) : std::string();
    const auto known = std::find_if(groups.begin(), groups.end(), [&](const Group& g) {
      return one.point > 0 && !g.points.empty() && g.shape == shape;
    });
    if (known == groups.end()) {
      groups.push_back({shape, std::string(one.text), {}, true});
      if (one.point > 0) groups.back().points.push_back(one.point);
      continue;
    }
    known->points.push_back(one.point);
    known->same = known->same && known->text == one.text;
  }
  std::vector<std::string> out;
  for (const Group& g : groups) {
    if (g.points.empty()) {
      out.push_back(g.text);
    } else if (g.points.size() == 1) {
      out.push_back(fmt::format("point {}: {}", g.points.front(), g.text));
    } else {
      out.push_back(fmt::format("points {}: {}{}", list_of(g.points), g.text,
                                g.same ? "" : fmt::format(" (numbers of point {})", g.points.front())));
    }
  }
  return out;
}

}  // namespace ppan
