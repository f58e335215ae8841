#include "ppan/chart_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/error.h"

namespace ppan::cli {
namespace {

// A letter: strokes on a grid 4 wide and 6 high (8 with what hangs below the line), each a row of points "xy"
// counted from the top left; a stroke of one point twice is a dot.
struct Glyph {
  std::string_view character;
  std::string_view strokes;
};
constexpr std::array kGlyphs = std::to_array<Glyph>({
    {" ", ""},
    {"A", "062046 1434"},
    {"B", "0006 003041423303 033344453606"},
    {"C", "4130100105163645"},
    {"D", "0006 003041453606"},
    {"E", "40000646 0333"},
    {"F", "400006 0333"},
    {"G", "41301001051636454323"},
    {"H", "0006 4046 0343"},
    {"I", "1030 2026 1636"},
    {"J", "4045361605"},
    {"K", "0006 400346"},
    {"L", "000646"},
    {"M", "0600234046"},
    {"N", "06004640"},
    {"O", "100105163645413010"},
    {"P", "06003041423303"},
    {"Q", "100105163645413010 3446"},
    {"R", "06003041423303 2346"},
    {"S", "413010010213334445361605"},
    {"T", "0040 2026"},
    {"U", "000516364540"},
    {"V", "002640"},
    {"W", "0016233640"},
    {"X", "0046 4006"},
    {"Y", "002340 2326"},
    {"Z", "00400646"},
    {"a", "12324346 441405163645"},
    {"b", "0006 0312324345361605"},
    {"c", "4332120305163645"},
    {"d", "4046 4332120305163645"},
    {"e", "04444332120305163645"},
    {"f", "40302126 1232"},
    {"g", "4332120305163645 4247381807"},
    {"h", "0006 0312324346"},
    {"i", "2226 2020"},
    {"j", "32372818 3030"},
    {"k", "0006 420446"},
    {"l", "202536"},
    {"m", "0206 03122326 23324346"},
    {"n", "0206 0312324346"},
    {"o", "120305163645433212"},
    {"p", "0208 0312324345361605"},
    {"q", "4248 4332120305163645"},
    {"r", "0206 03123243"},
    {"s", "43321203143445361605"},
    {"t", "20253645 0242"},
    {"u", "0205163645 4246"},
    {"v", "022642"},
    {"w", "0216233642"},
    {"x", "0246 4206"},
    {"y", "0226 4208"},
    {"z", "02420646"},
    {"0", "100105163645413010"},
    {"1", "112026 1636"},
    {"2", "01103041420646"},
    {"3", "011030414233 1333 334445361605"},
    {"4", "36300444"},
    {"5", "400003334445361605"},
    {"6", "413010010516364544331304"},
    {"7", "004016"},
    {"8", "100102133342413010 1304051636454433"},
    {"9", "051636454130100102133342"},
    {".", "2626"},
    {",", "2617"},
    {":", "2323 2626"},
    {";", "2323 2617"},
    {"'", "2021"},
    {"\u2019", "2021"},
    {"-", "1333"},
    {"\u2013", "0343"},
    {"+", "0343 2125"},
    {"/", "0640"},
    {"(", "30212536"},
    {")", "10212516"},
    {"[", "30202636"},
    {"]", "10202616"},
    {"%", "0640 0111 3545"},
    {"=", "0242 0444"},
    {"<", "410345"},
    {">", "014305"},
    {"|", "2026"},
    {"_", "0646"},
    {"?", "01103041422324 2626"},
    {"!", "2024 2626"},
    {"\u03bb", "1046 2306"},
    {"\u03b3", "022442 2428"},
});
constexpr double kAdvance = 6;  // from letter to letter, in units of the grid
constexpr std::string_view kUnknown = "0040460600";

const Glyph* glyph_of(std::string_view character) {
  const auto found =
      std::find_if(kGlyphs.begin(), kGlyphs.end(), [&](const Glyph& g) { return g.character == character; });
  return found == kGlyphs.end() ? nullptr : &*found;
}

std::vector<std::string_view> characters(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t length = 1;
    while (i + length < text.size() && (static_cast<unsigned char>(text[i + length]) & 0xC0U) == 0x80U)
      ++length;
    out.push_back(text.substr(i, length));
    i += length;
  }
  return out;
}

struct Spot {
  double x = 0;
  double y = 0;
};

// White paper; ink from 0 (black) to 1 (white). Coordinates are those of the figure.
class Paper {
 public:
  Paper(int width, int height, int magnify)
      : magnify_(magnify), width_(width * magnify), height_(height * magnify) {
    ink_.assign(static_cast<std::size_t>(width_ * height_), 1.0F);
  }

  void segment(Spot a, Spot b, double thick, double shade) {
    a = {a.x * magnify_, a.y * magnify_};
    b = {b.x * magnify_, b.y * magnify_};
    const double half = 0.5 * thick * magnify_;
    const double reach = half + 1;
    const auto first = [&](double v) { return std::max(0, static_cast<int>(std::floor(v - reach))); };
    const auto last = [&](double v, int most) {
      return std::min(most - 1, static_cast<int>(std::ceil(v + reach)));
    };
    const double length2 = (b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y);
    for (int y = first(std::min(a.y, b.y)); y <= last(std::max(a.y, b.y), height_); ++y) {
      for (int x = first(std::min(a.x, b.x)); x <= last(std::max(a.x, b.x), width_); ++x) {
        const double px = x + 0.5;
        const double py = y + 0.5;
        const double along =
            length2 > 0
                ? std::clamp(((px - a.x) * (b.x - a.x) + (py - a.y) * (b.y - a.y)) / length2, 0.0, 1.0)
                : 0;
        const double distance = std::hypot(px - a.x - along * (b.x - a.x), py - a.y - along * (b.y - a.y));
        lay(x, y, half + 0.5 - distance, shade);
      }
    }
  }
  // `dash`: lengths drawn and left out in turn; empty: all drawn.
  void line(const std::vector<Spot>& spots, double thick, double shade, const std::vector<double>& dash) {
    std::size_t phase = 0;
    double left = dash.empty() ? std::numeric_limits<double>::infinity() : dash.front();
    for (std::size_t i = 0; i + 1 < spots.size(); ++i) {
      Spot from = spots[i];
      const Spot to = spots[i + 1];
      for (double rest = std::hypot(to.x - from.x, to.y - from.y); rest > 0;) {
        const double step = std::min(rest, left);
        const Spot at{from.x + (to.x - from.x) * step / rest, from.y + (to.y - from.y) * step / rest};
        if (phase % 2 == 0) segment(from, at, thick, shade);
        from = at;
        rest -= step;
        left -= step;
        if (left <= 0) left = dash[++phase % dash.size()];
      }
    }
  }
  void text(std::string_view words, Spot at, double size, double shade = 0.1) {
    for (const std::string_view c : characters(words)) {
      letter(c, at, size, false, shade);
      at.x += kAdvance * size;
    }
  }
  // From bottom to top.
  void text_upwards(std::string_view words, Spot at, double size) {
    for (const std::string_view c : characters(words)) {
      letter(c, at, size, true, 0.1);
      at.y -= kAdvance * size;
    }
  }

  [[nodiscard]] GreyImage picture() const {
    GreyImage out{.height = height_, .width = width_};
    for (const float value : ink_) out.bytes.push_back(pixel_byte(value));
    return out;
  }

 private:
  void lay(int x, int y, double cover, double shade) {
    if (cover <= 0) return;
    float& ink = ink_[static_cast<std::size_t>(y * width_ + x)];
    ink += static_cast<float>(std::min(1.0, cover) * (shade - static_cast<double>(ink)));
  }
  void letter(std::string_view character, Spot at, double size, bool upwards, double shade) {
    const Glyph* glyph = glyph_of(character);
    const auto spot = [&](char x, char y) {
      const double right = (x - '0') * size;
      const double down = (y - '0') * size;
      return upwards ? Spot{at.x + down, at.y - right} : Spot{at.x + right, at.y + down};
    };
    std::optional<Spot> before;
    std::string_view strokes = glyph ? glyph->strokes : kUnknown;
    for (std::size_t i = 0; i + 1 < strokes.size();) {
      if (strokes[i] == ' ') {
        before.reset();
        ++i;
        continue;
      }
      const Spot now = spot(strokes[i], strokes[i + 1]);
      if (before) segment(*before, now, std::max(0.8, 0.7 * size), shade);
      before = now;
      i += 2;
    }
  }

  int magnify_;
  int width_;
  int height_;
  std::vector<float> ink_;
};

enum class Mark { kNone, kDisc, kRing, kSquare, kCross, kTriangle };
struct Style {
  double shade = 0;
  double thick = 1.6;
  std::vector<double> dash{};
  Mark mark = Mark::kDisc;
};

Style style_of(SeriesRole role) {
  switch (role) {
    case SeriesRole::kLearned:
      return {0, 2.0, {}, Mark::kDisc};
    case SeriesRole::kLearned2:
      return {0.2, 2.0, {}, Mark::kSquare};
    case SeriesRole::kLearned3:
      return {0.35, 2.0, {}, Mark::kTriangle};
    case SeriesRole::kOptimum:
      return {0.15, 1.4, {}, Mark::kNone};
    case SeriesRole::kOptimum2:
      return {0.25, 1.4, {9, 3}, Mark::kNone};
    case SeriesRole::kBelief:
      return {0.55, 1.4, {3, 3}, Mark::kRing};
    case SeriesRole::kReference2:
      return {0.3, 1.4, {2, 3}, Mark::kTriangle};
    case SeriesRole::kReference:
    case SeriesRole::kReference3:
    case SeriesRole::kConventional:
    case SeriesRole::kConventional2:
    case SeriesRole::kBefore:
    case SeriesRole::kAfter:
      break;
  }
  return {0.35, 1.4, {6, 4}, Mark::kCross};
}

void draw_mark(Paper& paper, Mark mark, Spot at, double shade) {
  constexpr double r = 3.6;
  const auto around = [&](int corners, double turn, double thick) {
    for (int k = 0; k < corners; ++k) {
      const auto corner = [&](int i) {
        const double angle = 2 * std::acos(-1.0) * i / corners + turn;
        return Spot{at.x + r * std::cos(angle), at.y + r * std::sin(angle)};
      };
      paper.segment(corner(k), corner(k + 1), thick, shade);
    }
  };
  switch (mark) {
    case Mark::kNone:
      break;
    case Mark::kDisc:
      paper.segment(at, at, 2 * r, shade);
      break;
    case Mark::kRing:
      around(16, 0, 1.3);
      break;
    case Mark::kSquare:
      around(4, std::acos(-1.0) / 4, 1.6);
      break;
    case Mark::kTriangle:
      around(3, -std::acos(-1.0) / 2, 1.3);
      break;
    case Mark::kCross:
      paper.segment({at.x - r, at.y - r}, {at.x + r, at.y + r}, 1.3, shade);
      paper.segment({at.x - r, at.y + r}, {at.x + r, at.y - r}, 1.3, shade);
      break;
  }
}

// A range of values on a stretch of the paper, with ticks at 1, 2 or 5 times a power of ten.
class Range {
 public:
  Range(const FigureAxis& axis, const std::vector<double>& values, double from, double to)
      : from_(from), to_(to) {
    low_ = axis.low.value_or(values.empty() ? 0 : *std::min_element(values.begin(), values.end()));
    high_ = axis.high.value_or(values.empty() ? 1 : *std::max_element(values.begin(), values.end()));
    if (!(high_ > low_)) high_ = low_ + 1;
    const double margin = axis.tight ? 0 : 0.04 * (high_ - low_);
    if (!axis.low) low_ -= margin;
    if (!axis.high) high_ += margin;
    const double rough = (high_ - low_) / 6;
    const double power = std::pow(10, std::floor(std::log10(rough)));
    step_ = rough > 5 * power   ? 10 * power
            : rough > 2 * power ? 5 * power
            : rough > power     ? 2 * power
                                : power;
  }
  [[nodiscard]] double at(double value) const {
    return from_ + (value - low_) / (high_ - low_) * (to_ - from_);
  }
  [[nodiscard]] bool holds(double value) const {
    const double slack = 1e-9 * (high_ - low_);
    return value >= low_ - slack && value <= high_ + slack;
  }
  [[nodiscard]] double nearest(double value) const { return std::clamp(value, low_, high_); }
  [[nodiscard]] std::vector<double> ticks() const {
    std::vector<double> out;
    for (double k = std::ceil(low_ / step_); holds(k * step_); ++k) out.push_back(k * step_);
    return out;
  }
  [[nodiscard]] std::string label(double tick) const {
    const int decimals = std::max(0, static_cast<int>(std::ceil(-std::log10(step_) - 1e-9)));
    return fmt::format("{:.{}f}", tick == 0 ? 0.0 : tick, decimals);
  }

 private:
  double from_;
  double to_;
  double low_ = 0;
  double high_ = 1;
  double step_ = 1;
};

void refuse_what_is_not_drawn(const Figure& figure) {
  bool drawn = !figure.x.logarithmic && !figure.y.logarithmic && figure.x.categories.empty();
  for (const FigureSeries& s : figure.series) {
    drawn = drawn && (s.kind == SeriesKind::kLine || s.kind == SeriesKind::kMarkers ||
                      s.kind == SeriesKind::kLineAndMarkers);
  }
  if (!drawn)
    throw Error(ErrorCode::kUsage, "this figure is drawn as SVG only: of pixels there are lines and markers");
}

}  // namespace

GreyImage chart_picture(const Figure& figure, int magnify) {
  refuse_what_is_not_drawn(figure);
  constexpr double kLetter = 1.35;  // grid unit of ordinary text
  constexpr double kRow = 18;
  constexpr double kLeft = 70;
  constexpr double kRight = 20;
  constexpr double kTop = 40;
  constexpr double kBelow = 52;
  std::vector<const FigureSeries*> named;
  for (const FigureSeries& s : figure.series) {
    if (!s.name.empty()) named.push_back(&s);
  }
  const double plot_bottom = figure.height;
  const int height = figure.height + static_cast<int>(kBelow + kRow * static_cast<double>(named.size()) + 8);
  Paper paper(figure.width, height, magnify);

  std::vector<double> xs;
  std::vector<double> ys;
  for (const FigureSeries& s : figure.series) {
    for (const FigurePoint& p : s.points) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y)) continue;
      xs.push_back(p.x);
      ys.push_back(p.y);
      if (p.interval) ys.insert(ys.end(), {p.interval->low, p.interval->high});
    }
  }
  const Range x(figure.x, xs, kLeft, figure.width - kRight);
  const Range y(figure.y, ys, plot_bottom, kTop);
  paper.text(figure.title, {kLeft, 12}, 1.25 * kLetter, 0);
  for (const double tick : x.ticks()) {
    paper.segment({x.at(tick), kTop}, {x.at(tick), plot_bottom}, 0.6, 0.87);
    const std::string label = x.label(tick);
    paper.text(label,
               {x.at(tick) - 0.5 * kAdvance * kLetter * static_cast<double>(label.size()), plot_bottom + 8},
               kLetter);
  }
  for (const double tick : y.ticks()) {
    paper.segment({kLeft, y.at(tick)}, {figure.width - kRight, y.at(tick)}, 0.6, 0.87);
    const std::string label = y.label(tick);
    paper.text(label,
               {kLeft - 8 - kAdvance * kLetter * static_cast<double>(label.size()), y.at(tick) - 3 * kLetter},
               kLetter);
  }
  paper.line({{kLeft, kTop}, {kLeft, plot_bottom}, {figure.width - kRight, plot_bottom}}, 1.2, 0.2, {});
  const auto centred = [](const std::string& words, double from, double to) {
    return 0.5 * (from + to - kAdvance * kLetter * static_cast<double>(characters(words).size()));
  };
  paper.text(figure.x.label, {centred(figure.x.label, kLeft, figure.width - kRight), plot_bottom + 28},
             kLetter);
  paper.text_upwards(figure.y.label, {8, kTop + plot_bottom - centred(figure.y.label, kTop, plot_bottom)},
                     kLetter);

  for (const FigureSeries& s : figure.series) {
    const Style style = style_of(s.role);
    std::vector<Spot> spots;
    for (const FigurePoint& p : s.points) {
      if (!std::isfinite(p.x) || !std::isfinite(p.y) || !x.holds(p.x)) continue;
      const Spot at{x.at(p.x), y.at(y.nearest(p.y))};
      spots.push_back(at);
      if (p.interval && s.kind != SeriesKind::kLine)
        paper.segment({at.x, y.at(y.nearest(p.interval->low))}, {at.x, y.at(y.nearest(p.interval->high))}, 1,
                      style.shade);
      if (s.kind != SeriesKind::kLine && y.holds(p.y)) draw_mark(paper, style.mark, at, style.shade);
    }
    if (s.kind != SeriesKind::kMarkers) paper.line(spots, style.thick, style.shade, style.dash);
  }
  double row = plot_bottom + kBelow;
  for (const FigureSeries* s : named) {
    const Style style = style_of(s->role);
    if (s->kind != SeriesKind::kMarkers)
      paper.line({{kLeft, row + 4}, {kLeft + 34, row + 4}}, style.thick, style.shade, style.dash);
    if (s->kind != SeriesKind::kLine) draw_mark(paper, style.mark, {kLeft + 17, row + 4}, style.shade);
    paper.text(s->name, {kLeft + 44, row}, kLetter);
    row += kRow;
  }
  return paper.picture();
}

bool can_be_written(std::string_view text) {
  const auto all = characters(text);
  return std::all_of(all.begin(), all.end(), [](std::string_view c) { return glyph_of(c) != nullptr; });
}

}  // namespace ppan::cli
