#pragma once

// Figures as standalone SVG: axes with round ticks and units, a legend next to the data and never on it,
// colours that are distinguishable with colour blindness (Okabe and Ito, "Color Universal Design", 2008) and,
// since every series also has its own marker and dash pattern, in greyscale. Light and dark follow the
// reader's setting.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan {

enum class SeriesKind {
  kLine,
  kMarkers,
  kLineAndMarkers,
  kDots,   ///< A cloud: small transparent dots, for thousands of points.
  kBand,   ///< The area between interval.low and interval.high of its points.
  kSteps,  ///< Histogram outline: each point is the left end of a bin, the last one the right end of the last
           ///< bin.
  kBars,   ///< One bar per category; x is the category's number, from 0.
};

/// The meaning of a series. It determines colour, marker and dash pattern, so that the same thing looks the
/// same in every figure.
enum class SeriesRole {
  kLearned,   ///< What this program trained.
  kLearned2,  ///< The same under another observation or setting.
  kLearned3,
  kOptimum,  ///< The theoretical limit.
  kOptimum2,
  kReference,  ///< Time-sharing and other mechanisms to beat.
  kReference2,
  kReference3,
  kReference4,
  kConventional,
  kConventional2,
  kBelief,  ///< The training adversary's belief: drawn pale, never evidence.
  kBefore,  ///< The original: of two distributions, or as a release that changes nothing.
  kAfter,   ///< ... and the release.
};

struct FigurePoint {
  double x = 0;
  double y = 0;
  std::optional<Interval> interval{};  ///< Of y; drawn as a whisker (kBand: the band itself).
  /// For pages with a script: the point gets a target for pointer and keyboard with data-key `key`, announced
  /// as `label`. No target without a key.
  std::string key{};
  std::string label{};
};

struct FigureSeries {
  std::string name;  ///< In the legend; a series without a name has no entry.
  SeriesKind kind = SeriesKind::kLineAndMarkers;
  SeriesRole role = SeriesRole::kLearned;
  std::vector<FigurePoint> points;  ///< In the order of the line. Points that are not finite are left out.
  bool second = false;              ///< Measured on the second vertical axis. Lines and markers only.
  bool background = false;          ///< For comparison: drawn below the other series, its intervals pale.
};

struct FigureAxis {
  std::string label;           ///< With its unit, for example "leakage I(X;Z) [nats]".
  bool logarithmic = false;    ///< Values that are not positive are left out.
  std::optional<double> low;   ///< Default: the data, and 0 when it is near.
  std::optional<double> high;  ///< Default: the data.
  bool tight = false;          ///< Exactly the data: no margin, no 0. Histograms are always tight in x.
  std::vector<std::string> categories;  ///< For kBars: names instead of numbers.
};

struct Figure {
  std::string title;
  FigureAxis x;
  FigureAxis y;
  FigureAxis y2{};  ///< On the right, where a series asks for it. Not logarithmic.
  std::vector<FigureSeries> series;
  int width = 640;  ///< Of the drawing, CSS pixels; scales without loss.
  int height = 420;
  std::string note;  ///< Small print under the drawing: how the numbers were obtained.
};

/// The destination of the drawing: a separate file, or a page that has figure_style() in its style sheet.
enum class SvgUse { kDocument, kInline };

/// Every text is escaped. Throws Error(kUsage) when a size is not positive.
std::string to_svg(const Figure& figure, SvgUse use = SvgUse::kDocument);
/// The style sheet that drawings share.
std::string figure_style();

/// Several drawings in rows of `columns`, with one legend for all.
struct FigureGrid {
  std::string title;
  std::vector<Figure> panels;  ///< Their titles stand above them; their own legends are not drawn.
  int columns = 3;             ///< At least 1.
  std::string note;
};
std::string to_svg(const FigureGrid& grid, SvgUse use = SvgUse::kDocument);

/// One panel of the scatter experiment: the cloud of (y, x) and that of (y, z), each with its least-squares
/// line.
struct ScatterPanel {
  std::string title;
  std::string x_label;
  std::string y_label{};
  std::vector<std::pair<double, double>> before;  ///< (y, x): useful against sensitive.
  std::vector<std::pair<double, double>> after;   ///< (y, z): useful against released.
};
/// Slope and intercept of the least-squares line through the points; absent with fewer than two different x.
std::optional<std::pair<double, double>> least_squares(const std::vector<std::pair<double, double>>& points);
FigureGrid scatter_figure(const std::string& title, const std::vector<ScatterPanel>& panels,
                          const std::string& before_name, const std::string& after_name);

/// Ticks that a person would choose: multiples of 1, 2 or 5 times a power of ten, about `wanted` of them, all
/// inside [low, high] with low < high.
std::vector<double> round_ticks(double low, double high, int wanted);
/// Powers of ten inside [low, high], 0 < low < high; with 2s and 5s between when there are fewer than three.
std::vector<double> log_ticks(double low, double high);
/// The labels of ticks: the fewest decimals that tell them apart.
std::vector<std::string> tick_labels(const std::vector<double>& ticks);

}  // namespace ppan
