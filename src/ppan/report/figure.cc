#include "ppan/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

#include "ppan/core/error.h"
#include "ppan/report/axis.h"
#include "ppan/report/text.h"

namespace ppan {
namespace {

using text::cut_to_width;
using text::escape;
using text::text_width;
using text::wrap;

constexpr double kFont = 12;  // of tick labels and legend
constexpr double kTitleFont = 15;
constexpr double kNoteFont = 11;
constexpr double kLine = 1.35;      // distance of lines, in font sizes
constexpr double kMark = 4;         // half the size of a marker
constexpr double kSwatch = 30;      // width of a legend entry's sample
constexpr std::size_t kCrowd = 60;  // more points than this are drawn small, their intervals as one band
constexpr double kHit = 11;         // radius of the target for pointer and finger

enum class Shape { kCircle, kSquare, kTriangle, kDiamond, kCross, kPlus, kHollowCircle, kHollowSquare };

struct Look {
  const char* name;  // of the style-sheet class
  const char* light;
  const char* dark;
  Shape shape;
  const char* dash;
};

// In the order of SeriesRole.
constexpr Look kLooks[] = {
    {"learned", "#0072B2", "#62B8F2", Shape::kCircle, ""},
    {"learned2", "#D55E00", "#FF9650", Shape::kSquare, ""},
    {"learned3", "#00805D", "#35C79E", Shape::kTriangle, ""},
    {"optimum", "#222222", "#EDEDED", Shape::kPlus, ""},
    {"optimum2", "#222222", "#EDEDED", Shape::kPlus, "7 4"},
    {"reference", "#6E6E6E", "#A8A8A8", Shape::kCross, "2 4"},
    {"reference2", "#A0468C", "#E59AD0", Shape::kDiamond, "9 3 2 3"},
    {"reference3", "#7A5C00", "#D9B64A", Shape::kTriangle, "5 3"},
    {"reference4", "#6E6E6E", "#A8A8A8", Shape::kPlus, "6 2 1 2"},
    {"conventional", "#B87800", "#F0B73E", Shape::kDiamond, "8 4"},
    {"conventional2", "#A0468C", "#E59AD0", Shape::kTriangle, "3 3"},
    {"belief", "#5A9BC4", "#4C7FA0", Shape::kHollowCircle, "1 4"},
    {"before", "#7D7D7D", "#A0A0A0", Shape::kHollowSquare, "4 3"},
    {"after", "#0072B2", "#62B8F2", Shape::kCircle, ""},
};

const Look& look_of(SeriesRole role) {
  return kLooks[static_cast<std::size_t>(role)];
}

bool has_line(SeriesKind kind) {
  return kind == SeriesKind::kLine || kind == SeriesKind::kLineAndMarkers;
}
bool has_markers(SeriesKind kind) {
  return kind == SeriesKind::kMarkers || kind == SeriesKind::kLineAndMarkers;
}

// Coordinates with one decimal: a tenth of a pixel is finer than any screen shows.
std::string at(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

class Svg {
 public:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void text(double x, double y, std::string_view style, std::string_view content) {
    add("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>", at(x), at(y), style, escape(content));
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

void draw_marker(Svg& svg, Shape shape, double x, double y) {
  switch (shape) {
    case Shape::kCircle:
      svg.add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"m\"/>", at(x), at(y), kMark);
      return;
    case Shape::kHollowCircle:
      svg.add("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"h\"/>", at(x), at(y), kMark - 0.5);
      return;
    case Shape::kSquare:
      svg.add("<path d=\"M{} {}m-4-4h8v8h-8z\" class=\"m\"/>", at(x), at(y));
      return;
    case Shape::kHollowSquare:
      svg.add("<path d=\"M{} {}m-3.5-3.5h7v7h-7z\" class=\"h\"/>", at(x), at(y));
      return;
    case Shape::kTriangle:
      svg.add("<path d=\"M{} {}m0-5l4.6 8h-9.2z\" class=\"m\"/>", at(x), at(y));
      return;
    case Shape::kDiamond:
      svg.add("<path d=\"M{} {}m0-5.5l4.5 5.5l-4.5 5.5l-4.5-5.5z\" class=\"m\"/>", at(x), at(y));
      return;
    case Shape::kCross:
      svg.add("<path d=\"M{} {}m-4-4l8 8m0-8l-8 8\" class=\"h\"/>", at(x), at(y));
      return;
    case Shape::kPlus:
      svg.add("<path d=\"M{} {}m-5 0h10m-5-5v10\" class=\"h\"/>", at(x), at(y));
      return;
  }
}

bool drawable(const FigureAxis& axis, double value) {
  return std::isfinite(value) && (!axis.logarithmic || value > 0);
}

// Points that can be drawn, as runs: a point that is not finite interrupts the line.
std::vector<std::vector<FigurePoint>> runs_of(const Figure& figure, const FigureSeries& series) {
  std::vector<std::vector<FigurePoint>> runs(1);
  for (const FigurePoint& point : series.points) {
    if (drawable(figure.x, point.x) && drawable(series.second ? figure.y2 : figure.y, point.y)) {
      runs.back().push_back(point);
    } else if (!runs.back().empty()) {
      runs.emplace_back();
    }
  }
  if (runs.back().empty()) runs.pop_back();
  return runs;
}

struct Box {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
};

struct Ranges {
  DataRange x;
  DataRange y;
  DataRange y2;
};

Ranges ranges_of(const Figure& figure) {
  Ranges ranges;
  for (const FigureSeries& series : figure.series) {
    const FigureAxis& axis = series.second ? figure.y2 : figure.y;
    DataRange& range = series.second ? ranges.y2 : ranges.y;
    for (const auto& run : runs_of(figure, series)) {
      for (const FigurePoint& point : run) {
        ranges.x.cover(point.x);
        if (series.kind != SeriesKind::kBand) range.cover(point.y);
        if (!point.interval) continue;
        if (drawable(axis, point.interval->low)) range.cover(point.interval->low);
        if (drawable(axis, point.interval->high)) range.cover(point.interval->high);
      }
    }
    if (series.kind == SeriesKind::kBars || series.kind == SeriesKind::kSteps) ranges.y.cover(0);
  }
  return ranges;
}

// One drawing inside its box: everything but title, legend and note.
class Plot {
 public:
  Plot(const Figure& figure, Box outer)
      : figure_(figure), outer_(outer), area_(outer), ranges_(ranges_of(figure)) {
    area_.top += 8;
    area_.right -= 12;
    area_.bottom -= kFont * kLine + 8 + (figure.x.label.empty() ? 0 : kFont * kLine + 2);
    if (slanted()) area_.bottom -= kSlantedRoom - kFont * kLine;
    // The labels of the vertical axis decide where the area begins, and do not depend on it.
    const Scale y(figure.y, ranges_.y, area_.bottom, area_.top);
    double widest = 0;
    for (const std::string& label : tick_labels(y.ticks(kSpacing)))
      widest = std::max(widest, text_width(label));
    area_.left += widest * kFont + 10 + (figure.y.label.empty() ? 0 : kFont * kLine + 4);
    if (has_second()) {
      const Scale y2(figure.y2, ranges_.y2, area_.bottom, area_.top);
      double right = 0;
      for (const std::string& label : tick_labels(y2.ticks(kSpacing)))
        right = std::max(right, text_width(label));
      area_.right -= right * kFont + 6 + (figure.y2.label.empty() ? 0 : kFont * kLine + 4);
    }
    if (slanted()) {  // the first names reach back under the vertical axis
      const auto& names = figure.x.categories;
      const auto count = static_cast<double>(names.size());
      for (std::size_t i = 0; i < names.size(); ++i) {
        const double along = (static_cast<double>(i) + 0.5) / count;
        const double reach = std::min(text_width(names[i]), kSlantedWidth) * kFont * kSlantedReach - 4;
        // reach <= left + along (right - left)
        area_.left =
            std::max(area_.left, outer.left + (reach - along * (area_.right - outer.left)) / (1 - along));
      }
    }
  }

  void draw(Svg& svg, SvgUse use) const {
    FigureAxis horizontal = figure_.x;
    for (const FigureSeries& series : figure_.series) horizontal.tight |= series.kind == SeriesKind::kSteps;
    const Scale x(horizontal, ranges_.x, area_.left, area_.right);
    const Scale y(figure_.y, ranges_.y, area_.bottom, area_.top);
    draw_axes(svg, x, y);
    const Scale y2(figure_.y2, ranges_.y2, area_.bottom, area_.top);
    if (has_second()) draw_second_axis(svg, y2);
    // A nested drawing cuts off what lies outside the axes, with room for markers on the frame.
    const Box clip{area_.left - kHit, area_.top - kHit, area_.right + kHit, area_.bottom + kHit};
    svg.add("<svg x=\"{0}\" y=\"{1}\" width=\"{2}\" height=\"{3}\" viewBox=\"{0} {1} {2} {3}\">",
            at(clip.left), at(clip.top), at(clip.right - clip.left), at(clip.bottom - clip.top));
    for (const bool background : {true, false}) {
      for (const FigureSeries& series : figure_.series) {
        if (series.background == background) draw_series(svg, series, x, series.second ? y2 : y);
      }
    }
    if (use == SvgUse::kInline) draw_targets(svg, x, y);
    svg.add("</svg>");
  }

 private:
  static constexpr double kSpacing = 48;
  static constexpr double kSlantedRoom = 64;
  static constexpr double kSlantedWidth = 8;     // of a name, at most
  static constexpr double kSlantedReach = 0.82;  // cosine of the slant

  [[nodiscard]] bool has_second() const {
    return std::any_of(figure_.series.begin(), figure_.series.end(),
                       [](const FigureSeries& series) { return series.second; });
  }

  void draw_second_axis(Svg& svg, const Scale& y2) const {
    const auto ticks = y2.ticks(kSpacing);
    const auto labels = tick_labels(ticks);
    std::string marks;
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      const double place = y2.at(ticks[i]);
      marks += fmt::format("M{} {}h5", at(area_.right), at(place));
      svg.text(area_.right + 8, place + kFont * 0.35, "t", labels[i]);
    }
    svg.add("<path d=\"M{} {}V{}{}\" class=\"a\"/>", at(area_.right), at(area_.top), at(area_.bottom), marks);
    if (figure_.y2.label.empty()) return;
    svg.add("<text transform=\"translate({} {}) rotate(90)\" class=\"l c\">{}</text>",
            at(outer_.right - 2 * kMark), at((area_.top + area_.bottom) / 2),
            escape(cut_to_width(figure_.y2.label, (area_.bottom - area_.top + 16) / kFont)));
  }

  // Category names that do not fit side by side are written aslant.
  [[nodiscard]] bool slanted() const {
    const auto& names = figure_.x.categories;
    if (names.empty()) return false;
    const double room = (outer_.right - outer_.left - 60) / static_cast<double>(names.size());
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return text_width(name) * kFont > room - 4; });
  }

  void draw_axes(Svg& svg, const Scale& x, const Scale& y) const {
    const auto y_ticks = y.ticks(kSpacing);
    const auto y_labels = tick_labels(y_ticks);
    std::string grid;
    for (std::size_t i = 0; i < y_ticks.size(); ++i) {
      const double place = y.at(y_ticks[i]);
      grid += fmt::format("M{} {}H{}", at(area_.left), at(place), at(area_.right));
      svg.text(area_.left - 6, place + kFont * 0.35, "t e", y_labels[i]);
    }
    std::string marks;
    if (figure_.x.categories.empty()) {
      const auto x_ticks = x.ticks(kSpacing * 1.3);
      const auto x_labels = tick_labels(x_ticks);
      for (std::size_t i = 0; i < x_ticks.size(); ++i) {
        const double place = x.at(x_ticks[i]);
        marks += fmt::format("M{} {}v5", at(place), at(area_.bottom));
        // The last label may be too wide to be centred under its tick.
        const bool cramped = place + text_width(x_labels[i]) * kFont / 2 > outer_.right + 4;
        svg.text(cramped ? outer_.right + 4 : place, area_.bottom + kFont + 7, cramped ? "t e" : "t c",
                 x_labels[i]);
      }
    } else {
      draw_categories(svg, x);
    }
    svg.add("<path d=\"{}\" class=\"g\"/>", grid);
    svg.add("<path d=\"M{} {}V{}H{}{}\" class=\"a\"/>", at(area_.left), at(area_.top), at(area_.bottom),
            at(area_.right), marks);
    if (!figure_.x.label.empty()) {
      const double room = (outer_.right - outer_.left) / kFont;
      const std::string label = cut_to_width(figure_.x.label, room);
      const double half = text_width(label) * kFont / 2;
      // Centred under the axis, unless that would leave the drawing.
      const double middle = std::clamp((area_.left + area_.right) / 2, outer_.left + half,
                                       std::max(outer_.left + half, outer_.right - half));
      svg.text(middle, outer_.bottom - 5, "l c", label);
    }
    if (!figure_.y.label.empty()) {
      const double middle = (area_.top + area_.bottom) / 2;
      svg.add("<text transform=\"translate({} {}) rotate(-90)\" class=\"l c\">{}</text>",
              at(outer_.left + kFont), at(middle),
              escape(cut_to_width(figure_.y.label, (area_.bottom - area_.top + 16) / kFont)));
    }
  }

  void draw_categories(Svg& svg, const Scale& x) const {
    const auto& names = figure_.x.categories;
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double place = x.at(static_cast<double>(i));
      if (slanted()) {
        svg.add("<text transform=\"translate({} {}) rotate(-35)\" class=\"t e\">{}</text>", at(place + 4),
                at(area_.bottom + kFont + 2), escape(cut_to_width(names[i], kSlantedWidth)));
      } else {
        svg.text(place, area_.bottom + kFont + 7, "t c", names[i]);
      }
    }
  }

  void draw_series(Svg& svg, const FigureSeries& series, const Scale& x, const Scale& y) const {
    svg.add("<g class=\"s-{}\">", look_of(series.role).name);
    for (const auto& run : runs_of(figure_, series)) {
      switch (series.kind) {
        case SeriesKind::kBand:
          draw_band(svg, run, x, y);
          break;
        case SeriesKind::kSteps:
          draw_steps(svg, run, x, y);
          break;
        case SeriesKind::kBars:
          draw_bars(svg, series, run, x, y);
          break;
        case SeriesKind::kDots:
          draw_dots(svg, run, x, y);
          break;
        case SeriesKind::kLine:
        case SeriesKind::kMarkers:
        case SeriesKind::kLineAndMarkers:
          draw_points(svg, series, run, x, y);
          break;
      }
    }
    svg.add("</g>");
  }

  static void draw_points(Svg& svg, const FigureSeries& series, const std::vector<FigurePoint>& run,
                          const Scale& x, const Scale& y) {
    if (has_line(series.kind) && run.size() > 1) {
      std::string path;
      for (const FigurePoint& point : run) {
        path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', at(x.at(point.x)), at(y.at(point.y)));
      }
      svg.add("<path d=\"{}\" class=\"k\"/>", path);
    }
    const bool crowded = run.size() > kCrowd;
    const auto has_interval = [](const FigurePoint& point) { return point.interval.has_value(); };
    if (crowded && std::any_of(run.begin(), run.end(), has_interval)) draw_band(svg, run, x, y);
    std::string whiskers;
    for (const FigurePoint& point : run) {
      if (crowded || !point.interval || !x.inside(point.x)) continue;
      const double low = y.at(std::clamp(point.interval->low, y.low(), y.high()));
      const double high = y.at(std::clamp(point.interval->high, y.low(), y.high()));
      if (!std::isfinite(low) || !std::isfinite(high)) continue;
      whiskers += fmt::format("M{0} {1}V{2}m-3 0h6M{0} {1}m-3 0h6", at(x.at(point.x)), at(low), at(high));
    }
    if (!whiskers.empty())
      svg.add("<path d=\"{}\" class=\"{}\"/>", whiskers, series.background ? "w pale" : "w");
    // A lone point of a line would otherwise be invisible.
    if (!has_markers(series.kind) && run.size() > 1) return;
    for (const FigurePoint& point : run) {
      if (!x.inside(point.x) || !y.inside(point.y)) continue;
      if (crowded) {
        svg.add("<circle cx=\"{}\" cy=\"{}\" r=\"2\" class=\"m\"/>", at(x.at(point.x)), at(y.at(point.y)));
      } else {
        draw_marker(svg, look_of(series.role).shape, x.at(point.x), y.at(point.y));
      }
    }
  }

  static void draw_band(Svg& svg, const std::vector<FigurePoint>& run, const Scale& x, const Scale& y) {
    std::string up;
    std::string down;
    for (const FigurePoint& point : run) {
      const Interval band = point.interval.value_or(Interval{point.y, point.y});
      if (!std::isfinite(y.at(band.low)) || !std::isfinite(y.at(band.high))) continue;
      up += fmt::format("{}{} {}", up.empty() ? 'M' : 'L', at(x.at(point.x)), at(y.at(band.high)));
      down.insert(0, fmt::format("L{} {}", at(x.at(point.x)), at(y.at(band.low))));
    }
    if (!up.empty()) svg.add("<path d=\"{}{}z\" class=\"b band\"/>", up, down);
  }

  static void draw_steps(Svg& svg, const std::vector<FigurePoint>& run, const Scale& x, const Scale& y) {
    if (run.size() < 2) return;
    std::string outline = fmt::format("M{} {}", at(x.at(run.front().x)), at(y.at(0)));
    for (std::size_t i = 0; i + 1 < run.size(); ++i) {
      outline += fmt::format("V{}H{}", at(y.at(run[i].y)), at(x.at(run[i + 1].x)));
    }
    svg.add("<path d=\"{}V{}\" class=\"k b\"/>", outline, at(y.at(0)));
  }

  void draw_bars(Svg& svg, const FigureSeries& series, const std::vector<FigurePoint>& run, const Scale& x,
                 const Scale& y) const {
    std::vector<const FigureSeries*> side_by_side;
    for (const FigureSeries& other : figure_.series) {
      if (other.kind == SeriesKind::kBars) side_by_side.push_back(&other);
    }
    const auto place = std::find(side_by_side.begin(), side_by_side.end(), &series) - side_by_side.begin();
    const double width = 0.76 * (x.at(1) - x.at(0)) / static_cast<double>(side_by_side.size());
    std::string path;
    for (const FigurePoint& point : run) {
      const double left = x.at(point.x) + width * (static_cast<double>(place) -
                                                   0.5 * static_cast<double>(side_by_side.size()));
      path += fmt::format("M{} {}V{}h{}V{}", at(left), at(y.at(0)), at(y.at(std::max(point.y, 0.0))),
                          at(width), at(y.at(0)));
    }
    svg.add("<path d=\"{}\" class=\"{}\"/>", path, series.role == SeriesRole::kBefore ? "b" : "f");
  }

  static void draw_dots(Svg& svg, const std::vector<FigurePoint>& run, const Scale& x, const Scale& y) {
    std::string path;
    for (const FigurePoint& point : run) {
      if (x.inside(point.x) && y.inside(point.y))
        path += fmt::format("M{} {}h0", at(x.at(point.x)), at(y.at(point.y)));
    }
    if (!path.empty()) svg.add("<path d=\"{}\" class=\"d\"/>", path);
  }

  // Last, so that nothing lies over them.
  void draw_targets(Svg& svg, const Scale& x, const Scale& y) const {
    for (const FigureSeries& series : figure_.series) {
      for (const FigurePoint& point : series.points) {
        if (point.key.empty() || series.second || !x.inside(point.x) || !y.inside(point.y)) continue;
        svg.add(
            "<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"target\" data-key=\"{}\" tabindex=\"-1\" "
            "role=\"button\" "
            "aria-label=\"{}\"/>",
            at(x.at(point.x)), at(y.at(point.y)), kHit, escape(point.key), escape(point.label));
      }
    }
  }

  const Figure& figure_;
  Box outer_;
  Box area_;
  Ranges ranges_;
};

struct LegendEntry {
  std::string name;
  SeriesKind kind;
  SeriesRole role;
  double x = 0;
  int row = 0;
};

class Legend {
 public:
  Legend(const std::vector<const Figure*>& figures, double left, double right) {
    double x = left;
    int row = 0;
    for (const Figure* figure : figures) {
      for (const FigureSeries& series : figure->series) {
        if (series.name.empty() || known(series)) continue;
        const std::string name = cut_to_width(series.name, (right - left - kSwatch - 8) / kFont);
        const double width = kSwatch + 6 + text_width(name) * kFont + 20;
        if (x > left && x + width - 20 > right) {
          x = left;
          ++row;
        }
        entries_.push_back({name, series.kind, series.role, x, row});
        x += width;
      }
    }
    rows_ = entries_.empty() ? 0 : row + 1;
  }

  [[nodiscard]] double height() const { return rows_ == 0 ? 0 : rows_ * kFont * kLine * 1.15 + 6; }

  void draw(Svg& svg, double top) const {
    for (const LegendEntry& entry : entries_) {
      const double y = top + 10 + entry.row * kFont * kLine * 1.15;
      svg.add("<g class=\"s-{}\">", look_of(entry.role).name);
      const double middle = entry.x + kSwatch / 2;
      if (has_line(entry.kind))
        svg.add("<path d=\"M{} {}h{}\" class=\"k\"/>", at(entry.x), at(y), at(kSwatch));
      if (has_markers(entry.kind)) draw_marker(svg, look_of(entry.role).shape, middle, y);
      if (entry.kind == SeriesKind::kDots) {
        svg.add("<path d=\"M{0} {1}h0M{2} {3}h0M{4} {1}h0\" class=\"d\"/>", at(middle - 7), at(y + 2),
                at(middle), at(y - 3), at(middle + 7));
      }
      if (entry.kind == SeriesKind::kBand || entry.kind == SeriesKind::kSteps ||
          entry.kind == SeriesKind::kBars) {
        const bool filled = entry.kind == SeriesKind::kBars && entry.role != SeriesRole::kBefore;
        svg.add("<path d=\"M{} {}m-9-5h18v10h-18z\" class=\"{}\"/>", at(middle), at(y),
                filled                            ? "f"
                : entry.kind == SeriesKind::kBand ? "b"
                                                  : "k b");
      }
      svg.add("</g>");
      svg.text(entry.x + kSwatch + 6, y + kFont * 0.35, "t", entry.name);
    }
  }

 private:
  [[nodiscard]] bool known(const FigureSeries& series) const {
    return std::any_of(entries_.begin(), entries_.end(), [&](const LegendEntry& entry) {
      return entry.name == series.name && entry.role == series.role;
    });
  }

  int rows_ = 0;
  std::vector<LegendEntry> entries_;
};

void require_sizes(int width, int height) {
  if (width > 0 && height > 0) return;
  throw Error(ErrorCode::kUsage, fmt::format("a figure of {} x {} cannot be drawn", width, height),
              "give a positive width and height");
}

std::string in_document(const std::string& title, double width, double height, SvgUse use,
                        const std::string& body) {
  const std::string name = escape(title.empty() ? "figure" : title);
  const std::string sizes =
      fmt::format("viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\"", at(width), at(height));
  if (use == SvgUse::kInline) {
    return fmt::format("<svg {} class=\"ppan-figure\" role=\"group\" aria-label=\"{}\">{}</svg>", sizes, name,
                       body);
  }
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" {} class=\"ppan-figure\" "
      "role=\"img\"><title>{}</title><style>{}</style>"
      "<rect width=\"100%\" height=\"100%\" class=\"paper\"/>{}</svg>\n",
      sizes, name, figure_style(), body);
}

double draw_lines(Svg& svg, const std::vector<std::string>& lines, double left, double top, double font,
                  std::string_view style) {
  for (const std::string& line : lines) {
    svg.text(left, top + font, style, line);
    top += font * kLine;
  }
  return top;
}

}  // namespace

std::string figure_style() {
  std::string css =
      ".ppan-figure{font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,'DejaVu "
      "Sans',sans-serif;font-size:12px}"
      ".ppan-figure .paper{fill:#fff}"
      ".ppan-figure text{fill:#333}.ppan-figure .title{font-size:15px;font-weight:600;fill:#111}"
      ".ppan-figure .panel{font-weight:600;fill:#111}"
      ".ppan-figure .n{font-size:11px;fill:#595959}.ppan-figure .e{text-anchor:end}.ppan-figure "
      ".c{text-anchor:middle}"
      ".ppan-figure path,.ppan-figure circle{fill:none;stroke-linejoin:round}"
      ".ppan-figure .g{stroke:#e4e4e4}.ppan-figure .a{stroke:#555}"
      ".ppan-figure .k{stroke-width:2}.ppan-figure .w{stroke-width:1.2;opacity:.8}"
      ".ppan-figure .pale{opacity:.3}"
      ".ppan-figure .h{stroke-width:1.6}.ppan-figure .b{stroke-width:1.4;fill-opacity:.16}"
      ".ppan-figure path.d{stroke-width:2.6;stroke-linecap:round;opacity:.4}"
      ".ppan-figure .target{fill:#000;fill-opacity:0;cursor:pointer}";
  const auto colours = [&](bool dark) {
    for (const Look& look : kLooks) {
      css += fmt::format(
          ".ppan-figure .s-{0} *{{stroke:{1}}}.ppan-figure .s-{0} .m,.ppan-figure .s-{0} .b,"
          ".ppan-figure .s-{0} .f{{fill:{1}}}",
          look.name, dark ? look.dark : look.light);
    }
  };
  colours(false);
  for (const Look& look : kLooks) {
    if (*look.dash != '\0')
      css += fmt::format(".ppan-figure .s-{} .k{{stroke-dasharray:{}}}", look.name, look.dash);
  }
  css +=
      ".ppan-figure .band{stroke:none!important;fill-opacity:.18}"
      "@media screen and (prefers-color-scheme:dark){.ppan-figure .paper{fill:#16191d}"
      ".ppan-figure text{fill:#d5d8dc}.ppan-figure .title,.ppan-figure .panel{fill:#f2f4f6}.ppan-figure "
      ".n{fill:#a5abb3}"
      ".ppan-figure .g{stroke:#2c3138}.ppan-figure .a{stroke:#8b929b}";
  colours(true);
  return css + "}";
}

std::string to_svg(const Figure& figure, SvgUse use) {
  require_sizes(figure.width, figure.height);
  const double width = figure.width;
  constexpr double kMargin = 8;
  Svg svg;
  double top = kMargin;
  const bool document = use == SvgUse::kDocument;
  if (document && !figure.title.empty()) {
    top = draw_lines(svg, wrap(figure.title, (width - 2 * kMargin) / kTitleFont / 1.06), kMargin, top,
                     kTitleFont, "title") +
          4;
  }
  Plot(figure, {kMargin, top, width - 4, top + figure.height}).draw(svg, use);
  top += figure.height + 4;
  const Legend legend({&figure}, kMargin + 8, width - kMargin);
  legend.draw(svg, top);
  top += legend.height();
  if (document && !figure.note.empty()) {
    top = draw_lines(svg, wrap(figure.note, (width - 2 * kMargin) / kNoteFont), kMargin, top + 2, kNoteFont,
                     "n");
  }
  return in_document(figure.title, width, std::ceil(top + kMargin), use, svg.take());
}

std::string to_svg(const FigureGrid& grid, SvgUse use) {
  const auto columns = static_cast<std::size_t>(std::max(1, grid.columns));
  constexpr double kMargin = 8;
  constexpr double kGap = 10;
  Svg svg;
  double panel_width = 0;
  for (const Figure& panel : grid.panels) {
    require_sizes(panel.width, panel.height);
    panel_width = std::max(panel_width, static_cast<double>(panel.width));
  }
  const double width = 2 * kMargin + panel_width * static_cast<double>(std::max<std::size_t>(
                                                       1, std::min(columns, grid.panels.size())));
  double top = kMargin;
  const bool document = use == SvgUse::kDocument;
  if (document && !grid.title.empty()) {
    top = draw_lines(svg, wrap(grid.title, (width - 2 * kMargin) / kTitleFont / 1.06), kMargin, top,
                     kTitleFont, "title") +
          4;
  }
  std::vector<const Figure*> figures;
  for (std::size_t first = 0; first < grid.panels.size(); first += columns) {
    double tallest = 0;
    for (std::size_t i = first; i < std::min(first + columns, grid.panels.size()); ++i) {
      const Figure& panel = grid.panels[i];
      figures.push_back(&panel);
      const double left = kMargin + static_cast<double>(i - first) * panel_width;
      const double title = panel.title.empty() ? 0 : kFont * kLine + 4;
      if (title > 0)
        svg.text(left + 6, top + kFont, "panel",
                 cut_to_width(panel.title, (panel.width - kGap) / kFont / 1.06));
      Plot(panel, {left, top + title, left + panel.width - kGap, top + title + panel.height}).draw(svg, use);
      tallest = std::max(tallest, title + panel.height);
    }
    top += tallest + kGap;
  }
  const Legend legend(figures, kMargin + 8, width - kMargin);
  legend.draw(svg, top);
  top += legend.height();
  if (document && !grid.note.empty()) {
    top =
        draw_lines(svg, wrap(grid.note, (width - 2 * kMargin) / kNoteFont), kMargin, top + 2, kNoteFont, "n");
  }
  return in_document(grid.title, width, std::ceil(top + kMargin), use, svg.take());
}

std::optional<std::pair<double, double>> least_squares(const std::vector<std::pair<double, double>>& points) {
  const auto n = static_cast<double>(points.size());
  double mean_x = 0;
  double mean_y = 0;
  for (const auto& [x, y] : points) {
    mean_x += x / n;
    mean_y += y / n;
  }
  double xx = 0;
  double xy = 0;
  for (const auto& [x, y] : points) {
    xx += (x - mean_x) * (x - mean_x);
    xy += (x - mean_x) * (y - mean_y);
  }
  if (!(xx > 0)) return {};
  return std::pair{xy / xx, mean_y - xy / xx * mean_x};
}

FigureGrid scatter_figure(const std::string& title, const std::vector<ScatterPanel>& panels,
                          const std::string& before_name, const std::string& after_name) {
  FigureGrid grid{.title = title, .panels = {}, .columns = 3, .note = "Lines: least squares."};
  DataRange across;  // the same axes in every panel, so that they can be compared by eye
  DataRange up;
  for (const ScatterPanel& panel : panels) {
    for (const auto* cloud : {&panel.before, &panel.after}) {
      for (const auto& [x, y] : *cloud) {
        across.cover(x);
        up.cover(y);
      }
    }
  }
  const auto axis = [](const DataRange& range, const std::string& label) {
    FigureAxis shared{.label = label};
    const double margin = 0.04 * (range.high() - range.low());
    if (!range.empty() && margin > 0) {
      shared.low = range.low() - margin;
      shared.high = range.high() + margin;
    }
    return shared;
  };
  for (const ScatterPanel& panel : panels) {
    Figure figure{.title = panel.title,
                  .x = axis(across, panel.x_label),
                  .y = axis(up, panel.y_label),
                  .series = {},
                  .width = 300,
                  .height = 300,
                  .note = {}};
    const auto add = [&](const std::vector<std::pair<double, double>>& cloud, const std::string& name,
                         SeriesRole role) {
      FigureSeries dots{.name = name, .kind = SeriesKind::kDots, .role = role, .points = {}};
      double low = HUGE_VAL;
      double high = -HUGE_VAL;
      for (const auto& [x, y] : cloud) {
        dots.points.push_back({.x = x, .y = y});
        low = std::min(low, x);
        high = std::max(high, x);
      }
      figure.series.push_back(std::move(dots));
      const auto line = least_squares(cloud);
      if (!line) return;
      const auto [slope, intercept] = *line;
      figure.series.push_back(
          {.name = name + ", fitted line",
           .kind = SeriesKind::kLine,
           .role = role,
           .points = {{.x = low, .y = intercept + slope * low}, {.x = high, .y = intercept + slope * high}}});
    };
    add(panel.before, before_name, SeriesRole::kLearned2);
    add(panel.after, after_name, SeriesRole::kLearned);
    grid.panels.push_back(std::move(figure));
  }
  return grid;
}

}  // namespace ppan
