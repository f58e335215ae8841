#include "ppan/report/terminal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include "ppan/report/axis.h"
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

}  // namespace

std::string plot_text(const CurveTable& table, const TerminalStyle& style) {
  const Glyphs& glyphs = style.unicode ? kUnicode : kAscii;
  const auto shown = [&](double nats) { return from_nats(nats, style.unit); };
  FigureAxis axis;
  DataRange x_range;
  DataRange y_range;
  for (const CurveRow& row : table.rows) {
    if (!row.distortion || !row.leakage) continue;
    x_range.cover(*row.distortion);
    y_range.cover(shown(*row.leakage));
    if (row.optimum) y_range.cover(shown(*row.optimum));
  }
  if (x_range.empty() || y_range.empty()) return {};

  const int height = std::max(style.height, kLeastHeight);
  const Scale y(axis, y_range, height - 1, 0);
  const auto y_ticks = y.ticks(4);
  const auto y_labels = tick_labels(y_ticks);
  int label_width = 0;
  for (const std::string& label : y_labels) label_width = std::max(label_width, length_of(label));
  const int width = std::max(style.width, kLeastWidth) - label_width - 3;
  const Scale x(axis, x_range, 0, width - 1);

  Canvas canvas(width, height);
  const auto place = [&](double px, double py, std::string_view glyph, int series) {
    if (!x.inside(px) || !y.inside(py)) return;
    canvas.at(static_cast<int>(std::lround(x.at(px))), static_cast<int>(std::lround(y.at(py)))) = {glyph,
                                                                                                   series};
  };
  const std::vector<std::string> names = series_of(table);
  bool optimum_drawn = false;
  for (const std::string& name : names) {  // the optimum, filled in between the points
    std::vector<std::pair<double, double>> line;
    for (const CurveRow& row : table.rows) {
      if (row.series == name && row.distortion && row.leakage && row.optimum && std::isfinite(*row.optimum)) {
        line.emplace_back(*row.distortion, shown(*row.optimum));
      }
    }
    std::sort(line.begin(), line.end());
    for (std::size_t i = 0; i < line.size(); ++i) {
      place(line[i].first, line[i].second, glyphs.optimum, -1);
      optimum_drawn = true;
      if (i == 0) continue;
      const auto [x0, y0] = line[i - 1];
      const auto [x1, y1] = line[i];
      for (int column = static_cast<int>(x.at(x0)) + 1; column < x.at(x1); ++column) {
        const double part = (column - x.at(x0)) / (x.at(x1) - x.at(x0));
        place(x0 + part * (x1 - x0), y0 + part * (y1 - y0), glyphs.optimum, -1);
      }
    }
  }
  for (std::size_t s = names.size(); s-- > 0;) {  // the first series last, so that it lies on top
    for (const CurveRow& row : table.rows) {
      if (row.series == names[s] && row.distortion && row.leakage) {
        place(*row.distortion, shown(*row.leakage), kLetters.substr(s % kLetters.size(), 1),
              static_cast<int>(s));
      }
    }
  }

  const std::string kind = common_kind(table);
  std::string out = fmt::format("leakage{} [{}]\n", kind.empty() ? "" : ", " + kind, to_string(style.unit));
  for (int line = 0; line < height; ++line) {
    std::string label;
    for (std::size_t i = 0; i < y_ticks.size(); ++i) {
      if (std::lround(y.at(y_ticks[i])) == line) label = plain(y_labels[i], style.unicode);
    }
    std::string text = pad(label, label_width, true) + " ";
    text += label.empty() ? glyphs.vertical : glyphs.tick_left;
    std::string row;
    for (int column = 0; column < width; ++column) {
      const auto& cell = canvas.at(column, line);
      row += coloured(cell.glyph, cell.series, style);
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += text + row + "\n";
  }
  std::string rule;
  std::string labels(static_cast<std::size_t>(width + label_width + 2), ' ');
  const auto x_ticks = x.ticks(12);
  const auto x_labels = tick_labels(x_ticks);
  for (int column = 0; column < width; ++column) {
    bool tick = false;
    for (std::size_t i = 0; i < x_ticks.size(); ++i) {
      if (std::lround(x.at(x_ticks[i])) != column) continue;
      tick = true;
      const std::string label = plain(x_labels[i], false);
      const int start = std::clamp(column + label_width + 2 - static_cast<int>(label.size()) / 2, 0,
                                   static_cast<int>(labels.size() - label.size()));
      labels.replace(static_cast<std::size_t>(start), label.size(), label);
    }
    rule += tick ? glyphs.tick_down : glyphs.horizontal;
  }
  out += fmt::format("{}{}{}\n", pad("", label_width + 1, true), glyphs.corner, rule);
  labels.erase(labels.find_last_not_of(' ') + 1);
  out += labels + "\n";
  out += pad("distortion", label_width + 2 + width, true) + "\n";
  for (std::size_t s = 0; s < names.size(); ++s) {
    const auto drawn = [&](const CurveRow& row) {
      return row.series == names[s] && row.distortion && row.leakage;
    };
    if (std::none_of(table.rows.begin(), table.rows.end(), drawn)) continue;
    const std::string letter(kLetters.substr(s % kLetters.size(), 1));
    out +=
        fmt::format("  {} {}\n", coloured(letter, static_cast<int>(s), style),
                    plain(cut_to_columns(names[s], label_width + width - 2, glyphs.ellipsis), style.unicode));
  }
  if (optimum_drawn) out += fmt::format("  {} optimum\n", glyphs.optimum);
  return out;
}

CurveTable without_references(const CurveTable& table) {
  CurveTable out{table.more_columns, {}};
  for (const CurveRow& row : table.rows) {
    if (!row.series.starts_with("reference/") || row.series == "reference/unchanged" || row.series == "reference/constant")
      out.rows.push_back(row);
  }
  return out;
}

std::string table_text(const CurveTable& table, const TerminalStyle& style) {
  const auto information = [&](const std::optional<double>& nats) {
    return number_cell(nats ? std::optional(from_nats(*nats, style.unit)) : std::nullopt, style.unicode);
  };
  std::vector<Column> columns{{"series", false}, {"budget"},      {"weight"},  {"distortion"}, {"leakage"},
                              {"95 % interval"}, {"up to"},       {"kind", false},
                              {"optimum"},       {"excess"}};
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
    const bool unseen = upper_end && *upper_end > 0 && estimate && estimate->interval95 && estimate->interval95->low <= 0;
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
    out += "(up to: the end of the interval, or what the audit may have missed if that is more; points are picked by it)\n";
  return out;
}

}  // namespace ppan
