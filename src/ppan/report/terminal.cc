#include "ppan/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "ppan/report/axis.h"
#include "ppan/report/not_seen.h"
#include "ppan/report/text.h"
#include "ppan/report/trade_off.h"

namespace ppan {
namespace {

using text::cut_to_columns;
using text::length_of;

constexpr int kLeastWidth = 40;
constexpr int kLeastHeight = 4;
constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr int kColours[] = {34, 31, 32, 33, 35, 36};  // ANSI foregrounds, one per series

struct Glyphs {
  std::string_view vertical, corner, horizontal, tick_left, tick_down, optimum, ellipsis;
};
constexpr Glyphs kUnicode{"│", "└", "─", "┤", "┬", "·", "…"};
constexpr Glyphs kAscii{"|", "+", "-", "+", "+", ".", "~"};

std::string pad(std::string_view text, int columns, bool right) {
  const std::string space(static_cast<std::size_t>(std::max(0, columns - length_of(text))), ' ');
  return right ? space + std::string(text) : std::string(text) + space;
}

// Labels come with a true minus sign; ASCII terminals get a hyphen, and one ? for anything else they lack.
std::string plain(const std::string& text, bool unicode) {
  if (unicode) return text;
  constexpr std::string_view kMinus = "\u2212";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80) {
      out += text[i];
    } else if (std::string_view(text).substr(i, kMinus.size()) == kMinus) {
      out += '-';
    } else if (byte >= 0xC0) {  // the first of a character's bytes
      out += '?';
    }
  }
  return out;
}

// A grid of characters, each with the series it belongs to (-1: none).
class Canvas {
 public:
  Canvas(int width, int height)
      : width_(width),
        cells_(static_cast<std::size_t>(width) * static_cast<std::size_t>(height), Cell{" ", -1}) {}
  struct Cell {
    std::string_view glyph;
    int series;
  };
  Cell& at(int x, int y) {
    return cells_[static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) +
                  static_cast<std::size_t>(x)];
  }

 private:
  int width_;
  std::vector<Cell> cells_;
};

std::string coloured(std::string_view text, int series, const TerminalStyle& style) {
  if (!style.colour || series < 0) return std::string(text);
  return fmt::format("\x1b[{}m{}\x1b[0m", kColours[static_cast<std::size_t>(series) % std::size(kColours)],
                     text);
}

std::string number_cell(const std::optional<double>& value, bool unicode) {
  if (!value) return {};
  if (std::isinf(*value) && !unicode) return *value > 0 ? "inf" : "-inf";
  if (std::isinf(*value)) return *value > 0 ? "\u221E" : "\u2212\u221E";
  return plain(fmt::format("{}{:.4f}", *value <= -0.00005 ? "\u2212" : "", std::abs(*value)), unicode);
}

struct Column {
  std::string head;
  bool right = true;
  std::vector<std::string> cells;
};

// A plot in characters.
class Plot {
 public:
  Plot(const CurveTable& table, const TerminalStyle& style, const DataRange& x_range,
       const DataRange& y_range)
      : table_(table),
        style_(style),
        glyphs_(style.unicode ? kUnicode : kAscii),
        names_(series_of(table)),
        height_(std::max(style.height, kLeastHeight)),
        y_(FigureAxis{}, y_range, height_ - 1, 0),
        y_ticks_(y_.ticks(4)),
        y_labels_(tick_labels(y_ticks_)),
        label_width_(longest(y_labels_)),
        width_(std::max(style.width, kLeastWidth) - label_width_ - 3),
        x_(FigureAxis{}, x_range, 0, width_ - 1),
        canvas_(width_, height_) {}

  std::string text() {
    for (const std::string& name : names_) draw_optimum(name);
    draw_points();
    const std::string kind = common_kind(table_);
    return fmt::format("leakage{} [{}]\n", kind.empty() ? "" : ", " + kind, to_string(style_.unit)) + rows() +
           x_axis() + legend();
  }

 private:
  static int longest(const std::vector<std::string>& labels) {
    int width = 0;
    for (const std::string& label : labels) width = std::max(width, length_of(label));
    return width;
  }

  [[nodiscard]] double shown(double nats) const { return from_nats(nats, style_.unit); }

  static std::string_view letter(std::size_t series) { return kLetters.substr(series % kLetters.size(), 1); }

  void place(double x, double y, std::string_view glyph, int series) {
    if (!x_.inside(x) || !y_.inside(y)) return;
    canvas_.at(static_cast<int>(std::lround(x_.at(x))), static_cast<int>(std::lround(y_.at(y)))) = {glyph,
                                                                                                    series};
  }

  // Filled in between the points.
  void draw_optimum(const std::string& name) {
    std::vector<std::pair<double, double>> line;
    for (const CurveRow& row : table_.rows) {
      if (row.series == name && row.distortion && row.leakage && row.optimum && std::isfinite(*row.optimum)) {
        line.emplace_back(*row.distortion, shown(*row.optimum));
      }
    }
    std::sort(line.begin(), line.end());
    for (std::size_t i = 0; i < line.size(); ++i) {
      place(line[i].first, line[i].second, glyphs_.optimum, -1);
      optimum_drawn_ = true;
      if (i == 0) continue;
      const auto [x0, y0] = line[i - 1];
      const auto [x1, y1] = line[i];
      for (int column = static_cast<int>(x_.at(x0)) + 1; column < x_.at(x1); ++column) {
        const double part = (column - x_.at(x0)) / (x_.at(x1) - x_.at(x0));
        place(x0 + part * (x1 - x0), y0 + part * (y1 - y0), glyphs_.optimum, -1);
      }
    }
  }

  void draw_points() {
    for (std::size_t s = names_.size(); s-- > 0;) {  // the first series last, so that it lies on top
      for (const CurveRow& row : table_.rows) {
        if (row.series == names_[s] && row.distortion && row.leakage)
          place(*row.distortion, shown(*row.leakage), letter(s), static_cast<int>(s));
      }
    }
  }

  // What is drawn, behind the vertical axis and its labels.
  std::string rows() {
    std::string out;
    for (int line = 0; line < height_; ++line) {
      std::string label;
      for (std::size_t i = 0; i < y_ticks_.size(); ++i) {
        if (std::lround(y_.at(y_ticks_[i])) == line) label = plain(y_labels_[i], style_.unicode);
      }
      std::string row;
      for (int column = 0; column < width_; ++column) {
        const auto& cell = canvas_.at(column, line);
        row += coloured(cell.glyph, cell.series, style_);
      }
      row.erase(row.find_last_not_of(' ') + 1);
      out += fmt::format("{} {}{}\n", pad(label, label_width_, true),
                         label.empty() ? glyphs_.vertical : glyphs_.tick_left, row);
    }
    return out;
  }

  [[nodiscard]] std::string x_axis() const {
    std::string rule;
    std::string labels(static_cast<std::size_t>(width_ + label_width_ + 2), ' ');
    const auto ticks = x_.ticks(12);
    const auto texts = tick_labels(ticks);
    for (int column = 0; column < width_; ++column) {
      bool tick = false;
      for (std::size_t i = 0; i < ticks.size(); ++i) {
        if (std::lround(x_.at(ticks[i])) != column) continue;
        tick = true;
        const std::string label = plain(texts[i], false);
        const int start = std::clamp(column + label_width_ + 2 - static_cast<int>(label.size()) / 2, 0,
                                     static_cast<int>(labels.size() - label.size()));
        labels.replace(static_cast<std::size_t>(start), label.size(), label);
      }
      rule += tick ? glyphs_.tick_down : glyphs_.horizontal;
    }
    labels.erase(labels.find_last_not_of(' ') + 1);
    return fmt::format("{}{}{}\n{}\n{}\n", pad("", label_width_ + 1, true), glyphs_.corner, rule, labels,
                       pad("distortion", label_width_ + 2 + width_, true));
  }

  [[nodiscard]] std::string legend() const {
    std::string out;
    for (std::size_t s = 0; s < names_.size(); ++s) {
      const auto drawn = [&](const CurveRow& row) {
        return row.series == names_[s] && row.distortion && row.leakage;
      };
      if (std::none_of(table_.rows.begin(), table_.rows.end(), drawn)) continue;
      out += fmt::format(
          "  {} {}\n", coloured(letter(s), static_cast<int>(s), style_),
          plain(cut_to_columns(names_[s], label_width_ + width_ - 2, glyphs_.ellipsis), style_.unicode));
    }
    if (optimum_drawn_) out += fmt::format("  {} optimum\n", glyphs_.optimum);
    return out;
  }

  const CurveTable& table_;
  const TerminalStyle& style_;
  const Glyphs& glyphs_;
  std::vector<std::string> names_;
  int height_;
  Scale y_;
  std::vector<double> y_ticks_;
  std::vector<std::string> y_labels_;
  int label_width_;
  int width_;
  Scale x_;
  Canvas canvas_;
  bool optimum_drawn_ = false;
};

}  // namespace

std::string plot_text(const CurveTable& table, const TerminalStyle& style) {
  DataRange x_range;
  DataRange y_range;
  for (const CurveRow& row : table.rows) {
    if (!row.distortion || !row.leakage) continue;
    x_range.cover(*row.distortion);
    y_range.cover(from_nats(*row.leakage, style.unit));
    if (row.optimum) y_range.cover(from_nats(*row.optimum, style.unit));
  }
  if (x_range.empty() || y_range.empty()) return {};
  return Plot(table, style, x_range, y_range).text();
}

CurveTable without_references(const CurveTable& table) {
  CurveTable out{table.more_columns, {}};
  for (const CurveRow& row : table.rows) {
    if (!row.series.starts_with("reference/") || row.series == "reference/unchanged" ||
        row.series == "reference/constant" || row.series == "reference/independent")
      out.rows.push_back(row);
  }
  return out;
}

std::string table_text(const CurveTable& table, const TerminalStyle& style) {
  const auto information = [&](const std::optional<double>& nats) {
    return number_cell(nats ? std::optional(from_nats(*nats, style.unit)) : std::nullopt, style.unicode);
  };
  std::vector<Column> columns{{"series", false}, {"budget"}, {"weight"},      {"distortion"}, {"leakage"},
                              {"95 % interval"}, {"up to"},  {"kind", false}, {"optimum"},    {"excess"}};
  bool limits = false;
  for (const CurveRow& row : table.rows) {
    const auto estimate = row.leakage_estimate();
    std::string interval;
    if (estimate && estimate->interval95) {
      const auto [low, high] = *estimate->interval95;
      interval =
          plain(fmt::format("[{:.3f}, {:.3f}]", from_nats(low, style.unit), from_nats(high, style.unit)),
                style.unicode);
    }
    const std::optional<double> upper_end = row.number(curve_column::kUpperEnd);
    limits = limits || upper_end;
    // What an audit did not see it may have missed: that is not 0.
    const bool unseen = upper_end && *upper_end > 0 && estimate && not_seen(*estimate);
    const std::string cells[] = {plain(row.series, style.unicode),
                                 number_cell(row.budget, style.unicode),
                                 number_cell(row.weight, style.unicode),
                                 number_cell(row.distortion, style.unicode),
                                 unseen ? "not seen" : information(row.leakage),
                                 interval,
                                 information(upper_end),
                                 plain(std::string(row.text(curve_column::kLeakageKind)), style.unicode),
                                 information(row.optimum),
                                 information(row.excess)};
    for (std::size_t c = 0; c < columns.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  const std::string kind = common_kind(table);
  std::erase_if(columns, [&](const Column& column) {
    const bool said_below = column.head == "kind" && !kind.empty();
    const auto empty = [](const std::string& cell) { return cell.empty(); };
    return said_below ||
           (column.head != "series" && std::all_of(column.cells.begin(), column.cells.end(), empty));
  });

  std::vector<int> widths;
  int total = 0;
  for (const Column& column : columns) {
    int width = length_of(column.head);
    for (const std::string& cell : column.cells) width = std::max(width, length_of(cell));
    widths.push_back(width);
    total += width + 2;
  }
  // The names give way when the line would be too long; numbers never do.
  constexpr int kLeastName = 8;
  const int excess = total - 2 - std::max(style.width, kLeastWidth);
  if (excess > 0) widths[0] = std::max(std::min(widths[0], kLeastName), widths[0] - excess);

  const Glyphs& glyphs = style.unicode ? kUnicode : kAscii;
  std::string out;
  const auto add_line = [&](const auto& cell_of) {
    std::string line;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (c > 0) line += "  ";
      line +=
          pad(cut_to_columns(cell_of(columns[c]), widths[c], glyphs.ellipsis), widths[c], columns[c].right);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([](const Column& column) { return column.head; });
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    add_line([&](const Column& column) { return column.cells[row]; });
  }
  out += kind.empty() ? fmt::format("(information in {})\n", to_string(style.unit))
                      : fmt::format("(leakage: {}; information in {})\n", plain(kind, style.unicode),
                                    to_string(style.unit));
  if (limits)
    out +=
        "(up to: the upper end of the audit, which includes what it may have missed; points are picked by "
        "it)\n";
  return out;
}

}  // namespace ppan
