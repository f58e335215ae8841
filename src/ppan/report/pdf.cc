#include "ppan/report/pdf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/report/text.h"

namespace ppan {
namespace {

struct Colour {
  double r = 0, g = 0, b = 0;
};

Colour colour_of(std::string_view hex) {
  const auto part = [&](std::size_t at) {
    int value = 0;
    std::from_chars(hex.data() + at, hex.data() + at + 2, value, 16);
    return value / 255.0;
  };
  return hex.size() < 7 ? Colour{} : Colour{part(1), part(3), part(5)};
}

struct Look {
  Colour colour;
  std::string dash;
};

// Colours and dashes by class of a series, from the drawing's own style sheet.
std::map<std::string, Look, std::less<>> looks_of(std::string_view css) {
  std::map<std::string, Look, std::less<>> looks;
  css = css.substr(0, css.find("@media"));  // light
  for (std::size_t at = css.find(".s-"); at != std::string_view::npos; at = css.find(".s-", at + 3)) {
    const std::size_t end = css.find_first_of(" {", at);
    if (end == std::string_view::npos) break;
    const std::string name(css.substr(at + 1, end - at - 1));
    const std::size_t open = css.find('{', end);
    const std::string_view rule = css.substr(open + 1, css.find('}', open) - open - 1);
    if (rule.starts_with("stroke:#")) looks[name].colour = colour_of(rule.substr(7));
    if (rule.starts_with("stroke-dasharray:")) looks[name].dash = rule.substr(17);
  }
  return looks;
}

struct Tag {
  std::string_view name;  ///< With '/' in front where it ends an element.
  std::string_view attributes;
  std::string_view text;  ///< What follows up to the next tag.
};

std::string_view attribute(const Tag& tag, std::string_view name) {
  const std::string key = fmt::format("{}=\"", name);
  for (std::size_t at = tag.attributes.find(key); at != std::string_view::npos;
       at = tag.attributes.find(key, at + 1)) {
    if (at > 0 && tag.attributes[at - 1] != ' ') continue;  // the end of another name
    const std::size_t from = at + key.size();
    return tag.attributes.substr(from, tag.attributes.find('"', from) - from);
  }
  return {};
}

std::vector<Tag> tags_of(std::string_view svg) {
  std::vector<Tag> tags;
  for (std::size_t at = svg.find('<'); at != std::string_view::npos;) {
    const std::size_t end = svg.find('>', at);
    if (end == std::string_view::npos) break;
    const std::string_view inside = svg.substr(at + 1, end - at - 1);
    const std::size_t space = inside.find_first_of(" /", 1);
    const std::size_t next = svg.find('<', end);
    Tag tag{inside.substr(0, space),
            space == std::string_view::npos ? std::string_view{} : inside.substr(space),
            svg.substr(end + 1, std::min(next, svg.size()) - end - 1)};
    tags.push_back(tag);
    at = next;
  }
  return tags;
}

// Numbers that may stand against each other: "m-4-4h8".
std::vector<double> numbers_in(std::string_view text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    double value = 0;
    const auto [rest, error] = std::from_chars(at, end, value);
    if (error != std::errc()) {
      ++at;
      continue;
    }
    numbers.push_back(value);
    at = rest;
  }
  return numbers;
}

std::string path_operators(std::string_view d) {
  std::string out;
  double x = 0;
  double y = 0;
  double from_x = 0;
  double from_y = 0;
  for (std::size_t at = 0; at < d.size();) {
    const char command = d[at];
    const std::size_t end = std::min(d.find_first_of("MmLlHhVvZz", at + 1), d.size());
    const std::vector<double> n = numbers_in(d.substr(at + 1, end - at - 1));
    const bool relative = command >= 'a';
    switch (command | 0x20) {
      case 'm':
      case 'l':
        for (std::size_t i = 0; i + 1 < n.size(); i += 2) {
          x = n[i] + (relative ? x : 0);
          y = n[i + 1] + (relative ? y : 0);
          const bool move = (command | 0x20) == 'm' && i == 0;
          out += fmt::format("{:.2f} {:.2f} {}\n", x, y, move ? 'm' : 'l');
          if (move) {
            from_x = x;
            from_y = y;
          }
        }
        break;
      case 'h':
      case 'v':
        for (const double value : n) {
          double& moved = (command | 0x20) == 'h' ? x : y;
          moved = value + (relative ? moved : 0);
          out += fmt::format("{:.2f} {:.2f} l\n", x, y);
        }
        break;
      case 'z':
        out += "h\n";
        x = from_x;
        y = from_y;
        break;
      default:
        break;
    }
    at = end;
  }
  return out;
}

// Four Bezier curves.
std::string circle_operators(double x, double y, double r) {
  const double k = 0.5522847 * r;
  return fmt::format(
      "{:.2f} {:.2f} m\n{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c\n{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} "
      "{:.2f} c\n"
      "{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c\n{:.2f} {:.2f} {:.2f} {:.2f} {:.2f} {:.2f} c\nh\n",
      x + r, y, x + r, y + k, x + k, y + r, x, y + r, x - k, y + r, x - r, y + k, x - r, y, x - r, y - k,
      x - k, y - r, x, y - r, x + k, y - r, x + r, y - k, x + r, y);
}

// UTF-8 with entities as a PDF string in WinAnsi; letters it lacks are spelled out.
std::string pdf_text(std::string_view text) {
  static const std::vector<std::pair<std::string_view, std::string_view>> known{
      {"&amp;", "&"},      {"&lt;", "<"},        {"&gt;", ">"},       {"&quot;", "\""},
      {"&#39;", "'"},      {"\u2013", "\\226"},  {"\u2019", "\\222"}, {"\u2026", "\\205"},
      {"\u00b7", "\\267"}, {"\u03bb", "lambda"}, {"\u03b3", "gamma"}, {"\u03b1", "alpha"},
      {"\u03b4", "delta"}, {"\u2212", "-"},      {"\u00a0", " "}};
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto match =
        std::ranges::find_if(known, [&](const auto& k) { return text.substr(at).starts_with(k.first); });
    if (match != known.end()) {
      out += match->second;
      at += match->first.size();
      continue;
    }
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte < 0x80) {
      if (byte == '(' || byte == ')' || byte == '\\') out += '\\';
      out += text[at++];
      continue;
    }
    out += '?';
    for (++at; at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80; ++at) {
    }
  }
  return out;
}

class Page {
 public:
  explicit Page(std::string_view svg) {
    for (const Tag& tag : tags_of(svg)) {
      if (tag.name == "style") looks_ = looks_of(tag.text);
      draw(tag);
    }
  }

  [[nodiscard]] double width() const { return width_; }
  [[nodiscard]] double height() const { return height_; }
  [[nodiscard]] const std::string& content() const { return content_; }

 private:
  void draw(const Tag& tag) {
    if (tag.name == "svg") {
      open(tag);
    } else if (tag.name == "/svg") {
      if (--depth_ > 0) content_ += "Q\n";
    } else if (tag.name == "g") {
      series_ = attribute(tag, "class");
    } else if (tag.name == "/g") {
      series_ = {};
    } else if (tag.name == "path") {
      shape(path_operators(attribute(tag, "d")), attribute(tag, "class"));
    } else if (tag.name == "circle") {
      shape(circle_operators(number(tag, "cx"), number(tag, "cy"), number(tag, "r")),
            attribute(tag, "class"));
    } else if (tag.name == "text") {
      text(tag);
    }
  }

  static double number(const Tag& tag, std::string_view name) {
    const std::vector<double> n = numbers_in(attribute(tag, name));
    return n.empty() ? 0 : n.front();
  }

  void open(const Tag& tag) {
    const std::vector<double> box = numbers_in(attribute(tag, "viewBox"));
    if (box.size() != 4) throw Error(ErrorCode::kUsage, "this is not a drawing of to_svg()");
    if (depth_++ == 0) {
      width_ = box[2];
      height_ = box[3];
      content_ = fmt::format("1 0 0 -1 0 {:.2f} cm 1 j\n", height_);  // down is positive, as in the drawing
      return;
    }
    content_ += fmt::format("q {:.2f} {:.2f} {:.2f} {:.2f} re W n\n", box[0], box[1], box[2], box[3]);
  }

  void shape(const std::string& operators, std::string_view style) {
    const std::string padded = fmt::format(" {} ", style);
    const auto has = [&](std::string_view name) {
      return padded.find(fmt::format(" {} ", name)) != std::string::npos;
    };
    if (has("target") || operators.empty()) return;
    const auto look = looks_.find(series_);
    Colour colour = look == looks_.end() ? Colour{} : look->second.colour;
    if (has("g")) colour = colour_of("#e4e4e4");
    if (has("a")) colour = colour_of("#555555");
    const bool band = has("band");
    const bool filled = has("m") || has("f") || band;
    double line = 1;
    if (has("k")) line = 2;
    if (has("w")) line = 1.2;
    if (has("h")) line = 1.6;
    if (has("d")) line = 2.6;
    const std::string dash = has("k") && look != looks_.end() ? look->second.dash : std::string();
    content_ += fmt::format(
        "q {0:.3f} {1:.3f} {2:.3f} RG {0:.3f} {1:.3f} {2:.3f} rg {3} w {4} J [{5}] 0 d{6}\n{7}{8}\nQ\n",
        colour.r, colour.g, colour.b, line, has("d") ? 1 : 0, dash,
        band                      ? " /Pale gs"
        : has("d") || has("pale") ? " /Thin gs"
                                  : "",
        operators,
        band     ? "f"
        : filled ? "B"
                 : "S");
  }

  void text(const Tag& tag) {
    const std::string style(attribute(tag, "class"));
    const std::vector<double> moved = numbers_in(attribute(tag, "transform"));
    double x = number(tag, "x");
    double y = number(tag, "y");
    double turn = 0;
    if (moved.size() == 3) {
      x = moved[0];
      y = moved[1];
      turn = moved[2];
    }
    const bool title = style == "title";
    const double size = title ? 15 : style == "n" ? 11 : 12;
    const double length = text::text_width(tag.text) * size;
    const bool end = style.ends_with(" e");
    const bool middle = style.ends_with(" c");
    const double back = end ? length : middle ? length / 2 : 0;
    const double angle = turn * 3.14159265358979 / 180;
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    content_ += fmt::format("BT /{} {} Tf 0.2 g {:.4f} {:.4f} {:.4f} {:.4f} {:.2f} {:.2f} Tm ({}) Tj ET\n",
                            title || style == "panel" ? "B" : "R", size, c, s, s, -c, x - back * c,
                            y - back * s, pdf_text(tag.text));
  }

  std::map<std::string, Look, std::less<>> looks_;
  std::string_view series_;
  int depth_ = 0;
  double width_ = 0;
  double height_ = 0;
  std::string content_;
};

}  // namespace

std::string figure_pdf(const std::string& svg) {
  if (!svg.starts_with("<svg")) throw Error(ErrorCode::kUsage, "this is not a drawing of to_svg()");
  const Page page(svg);
  const std::vector<std::string> objects{
      "<</Type/Catalog/Pages 2 0 R>>",
      "<</Type/Pages/Kids[3 0 R]/Count 1>>",
      fmt::format(
          "<</Type/Page/Parent 2 0 R/MediaBox[0 0 {} {}]/Contents 4 0 R/Resources<</Font<</R 5 0 R/B 6 0 R>>"
          "/ExtGState<</Pale<</ca 0.18>>/Thin<</CA 0.4>>>>>>>>",
          page.width(), page.height()),
      fmt::format("<</Length {}>>stream\n{}endstream", page.content().size(), page.content()),
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
      "<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Encoding/WinAnsiEncoding>>",
  };
  std::string pdf = "%PDF-1.4\n";
  std::string table = fmt::format("xref\n0 {}\n0000000000 65535 f \n", objects.size() + 1);
  for (std::size_t i = 0; i < objects.size(); ++i) {
    table += fmt::format("{:010} 00000 n \n", pdf.size());
    pdf += fmt::format("{} 0 obj\n{}\nendobj\n", i + 1, objects[i]);
  }
  const std::size_t start = pdf.size();
  return pdf + table +
         fmt::format("trailer\n<</Size {}/Root 1 0 R>>\nstartxref\n{}\n%%EOF\n", objects.size() + 1, start);
}

}  // namespace ppan
