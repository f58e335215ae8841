#pragma once

// Enough of XML to tell whether a drawing or page made by this program is well formed: tags nest and close,
// attributes are quoted and not repeated, entities are known. Not a validator.

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace ppan::test {

/// Empty when `text` is well formed, otherwise what is wrong and where. `void_tags` need no end (HTML's meta,
/// br).
inline std::string xml_fault(std::string_view text, const std::set<std::string, std::less<>>& void_tags = {},
                             const std::set<std::string, std::less<>>& raw_tags = {}) {
  std::vector<std::string> open;
  std::size_t at = 0;
  const auto fault = [&](const std::string& what) {
    return what + " near \"" + std::string(text.substr(at, 60)) + "\"";
  };
  while (at < text.size()) {
    if (text[at] == '&') {
      const std::size_t end = text.find(';', at);
      if (end == std::string_view::npos || end - at > 8) return fault("stray &");
      at = end + 1;
    } else if (text[at] != '<') {
      if (text[at] == '>') return fault("stray >");
      ++at;
    } else if (text.substr(at, 2) == "<!") {
      at = text.find('>', at) + 1;
    } else if (text.substr(at, 2) == "</") {
      const std::size_t end = text.find('>', at);
      const std::string name(text.substr(at + 2, end - at - 2));
      if (open.empty() || open.back() != name) return fault("wrong end tag");
      open.pop_back();
      at = end + 1;
    } else {
      std::size_t end = at + 1;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) != 0 || text[end] == '-'))
        ++end;
      const std::string name(text.substr(at + 1, end - at - 1));
      if (name.empty()) return fault("stray <");
      std::set<std::string> attributes;
      for (;;) {
        while (end < text.size() && std::isspace(static_cast<unsigned char>(text[end])) != 0) ++end;
        if (end >= text.size()) return fault("tag without end");
        if (text[end] == '>' || text[end] == '/') break;
        const std::size_t start = end;
        while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) != 0 ||
                                     text[end] == '-' || text[end] == ':'))
          ++end;
        if (start == end) return fault("bad attribute");
        if (!attributes.insert(std::string(text.substr(start, end - start))).second)
          return fault("attribute twice");
        if (end < text.size() && text[end] == '=') {
          if (end + 1 >= text.size() || text[end + 1] != '"') return fault("unquoted attribute");
          const std::size_t close = text.find('"', end + 2);
          if (close == std::string_view::npos) return fault("attribute without end");
          if (text.substr(end + 2, close - end - 2).find('<') != std::string_view::npos)
            return fault("< in attribute");
          end = close + 1;
        }
      }
      const bool closed = text[end] == '/';
      at = text.find('>', end) + 1;
      if (raw_tags.contains(name)) {
        at = text.find("</" + name + ">", at);
        if (at == std::string_view::npos) return "no end of " + name;
        open.push_back(name);
      } else if (!closed && !void_tags.contains(name)) {
        open.push_back(name);
      }
    }
  }
  return open.empty() ? std::string() : "not closed: " + open.back();
}

/// How often `part` occurs in `text`.
inline int count_of(std::string_view text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++count;
  return count;
}

}  // namespace ppan::test
