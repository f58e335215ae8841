#include "ppan/mnist_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ppan/core/error.h"

namespace ppan::cli {
namespace {

constexpr Index kGap = 2;
constexpr std::uint8_t kGapGrey = 96;

ImageSet pick_images(const ImageSet& set, const std::vector<Index>& rows) {
  ImageSet out{.height = set.height, .width = set.width};
  out.pixels = set.pixels(rows, Eigen::all);
  out.classes = set.classes;
  for (const Index row : rows) out.labels.push_back(set.labels[static_cast<std::size_t>(row)]);
  return out;
}

std::vector<GreyImage> row_of(const ImageSet& set) {
  std::vector<GreyImage> row;
  for (Index i = 0; i < set.size(); ++i) row.push_back(grey_image(set, i));
  return row;
}

// Sixty-four characters for three bytes at a time.
std::string base64(std::string_view bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U;
    };
    const unsigned word = byte(0) << 16U | byte(1) << 8U | byte(2);
    for (unsigned k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : kAlphabet[word >> (18U - 6U * k) & 63U];
    }
  }
  return out;
}

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string target_name(const MnistResult& result, double target) {
  return fmt::format("{} {}", result.given.preset == Preset::kPaper ? "\u03bb" : "budget", target);
}

FigureSeries series(std::string name, SeriesKind kind, SeriesRole role) {
  return {.name = std::move(name), .kind = kind, .role = role};
}

}  // namespace

GreyImage image_grid(const std::vector<std::vector<GreyImage>>& rows, Index magnify) {
  const GreyImage& first = rows.front().front();
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  const Index cell_height = first.height * magnify + kGap;
  const Index cell_width = first.width * magnify + kGap;
  GreyImage grid{.height = static_cast<Index>(rows.size()) * cell_height + kGap,
                 .width = static_cast<Index>(columns) * cell_width + kGap};
  grid.bytes.assign(static_cast<std::size_t>(grid.height * grid.width), kGapGrey);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const GreyImage& image = rows[r][c];
      const Index top = static_cast<Index>(r) * cell_height + kGap;
      const Index left = static_cast<Index>(c) * cell_width + kGap;
      for (Index y = 0; y < image.height * magnify; ++y) {
        for (Index x = 0; x < image.width * magnify; ++x) {
          grid.bytes[static_cast<std::size_t>((top + y) * grid.width + left + x)] =
              image.bytes[static_cast<std::size_t>(y / magnify * image.width + x / magnify)];
        }
      }
    }
  }
  return grid;
}

std::string grid_svg(const GreyImage& grid, const std::string& title,
                     const std::vector<std::string>& row_names, const std::string& note) {
  constexpr Index kText = 190;
  constexpr Index kTop = 34;
  constexpr Index kBottom = 30;
  const Index width = kText + grid.width + 10;
  const Index height = kTop + grid.height + kBottom;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"13\"><title>{2}</title><rect width=\"{0}\" height=\"{1}\" "
      "fill=\"#fff\"/><text x=\"8\" y=\"21\" font-size=\"15\">{2}</text>",
      width, height, escaped(title));
  const Index step = (grid.height - kGap) / static_cast<Index>(std::max<std::size_t>(1, row_names.size()));
  for (std::size_t r = 0; r < row_names.size(); ++r) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", kText - 8,
                       kTop + static_cast<Index>(r) * step + step / 2 + 5, escaped(row_names[r]));
  }
  svg +=
      fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" href=\"data:image/png;base64,{}\"/>",
                  kText, kTop, grid.width, grid.height, base64(encode_png(grid)));
  svg += fmt::format("<text x=\"8\" y=\"{}\" font-size=\"12\">{}</text></svg>\n", height - 10, escaped(note));
  return svg;
}

DigitGrid digit_grid(const ImageSet& test, const MnistResult& result, std::uint64_t seed) {
  std::vector<Index> rows;
  for (std::int32_t x = 0; x < test.classes; ++x) {
    const auto found = std::find(test.labels.begin(), test.labels.end(), x);
    if (found != test.labels.end()) rows.push_back(found - test.labels.begin());
  }
  const ImageSet originals = pick_images(test, rows);
  std::vector<std::vector<GreyImage>> grid{row_of(originals)};
  DigitGrid out;
  out.row_names.emplace_back("original");
  for (const MnistPoint& point : result.points) {
    SeededRandom random = SeededRandom(seed).fork("grid", static_cast<std::uint64_t>(point.plan));
    grid.push_back(row_of(release_images(point.model, originals, random)));
    out.row_names.push_back(
        fmt::format("{}: d {:.3f}", target_name(result, point.target), point.measure.distortion));
  }
  out.image = image_grid(grid, 2);
  return out;
}

namespace {

// The first image that a release changes at all: a gate leaves some as they are.
Index first_changed(const ImageSet& test, const MnistPoint& point, SeededRandom random) {
  constexpr Index kLooks = 100;
  std::vector<Index> rows(static_cast<std::size_t>(std::min(kLooks, test.size())));
  std::iota(rows.begin(), rows.end(), 0);
  const ImageSet first = pick_images(test, rows);
  const ImageSet released = release_images(point.model, first, random);
  const auto changed =
      std::ranges::find_if(rows, [&](Index i) { return first.pixels.row(i) != released.pixels.row(i); });
  return changed == rows.end() ? 0 : *changed;
}

}  // namespace

DigitPanels digit_panels(const ImageSet& test, const MnistPoint& point, std::uint64_t seed,
                         std::optional<Index> digit) {
  if (digit && (*digit < 0 || *digit >= test.size())) {
    throw Error(ErrorCode::kUsage, fmt::format("there is no test image {}", *digit),
                fmt::format("give --digit from 0 to {}", test.size() - 1));
  }
  SeededRandom random = SeededRandom(seed).fork("panels", static_cast<std::uint64_t>(point.plan));
  const Index shown = digit ? *digit : first_changed(test, point, random);
  const ImageSet original = pick_images(test, {shown});
  const ImageSet released = release_images(point.model, original, random);
  DigitPanels panels;
  panels.distortion = pixel_cross_entropy(original.pixels, released.pixels)[0];
  // The same uniform numbers at every strength, so that the distortion rises with it.
  const Index pixels = original.pixels.cols();
  Matrix<float> uniform(1, pixels);
  fill_uniform(random, -1.0F, 1.0F, uniform);
  ImageSet noisy = original;
  const auto distortion_at = [&](double strength) {
    for (Index j = 0; j < pixels; ++j) {
      const float moved = original.pixels(0, j) + static_cast<float>(strength) * uniform(0, j);
      noisy.pixels(0, j) = std::clamp(moved, 0.02F, 0.98F);
    }
    return pixel_cross_entropy(original.pixels, noisy.pixels)[0];
  };
  double low = 0;
  double high = 4;
  for (int step = 0; step < 40; ++step) {
    const double middle = 0.5 * (low + high);
    (distortion_at(middle) < panels.distortion ? low : high) = middle;
  }
  panels.noise_distortion = distortion_at(0.5 * (low + high));
  panels.image = image_grid({{grey_image(original, 0), grey_image(released, 0), grey_image(noisy, 0)}}, 5);
  return panels;
}

Figure accuracy_figure(const MnistResult& result) {
  Figure figure{.title = "Distortion against accuracy of attackers"};
  figure.x.label = "pixel cross-entropy [nats per pixel]";
  figure.y.label = "share of digits recognised";
  figure.y.low = 0;
  figure.y.high = 1;
  FigureSeries found = series("strongest fresh attacker", SeriesKind::kLineAndMarkers, SeriesRole::kLearned);
  FigureSeries belief =
      series("training adversary (not evidence)", SeriesKind::kLineAndMarkers, SeriesRole::kBelief);
  FigureSeries prior = series("guessing without the release", SeriesKind::kLine, SeriesRole::kReference);
  for (const MnistPoint& p : result.points) {
    const ImageAttackerScore& best = p.measure.attack.strongest();
    found.points.push_back(
        {.x = p.measure.distortion, .y = best.accuracy.value, .interval = best.accuracy.interval95});
    belief.points.push_back({.x = p.measure.distortion, .y = p.measure.belief_accuracy});
    prior.points.push_back({.x = p.measure.distortion, .y = p.measure.attack.prior_accuracy});
  }
  figure.series = {belief, prior, found};
  figure.note = "Fresh attackers learn after the mechanism is frozen and are scored on images it never saw.";
  return figure;
}

Figure leakage_figure(const MnistResult& result) {
  Figure figure{.title = "Distortion against leakage"};
  figure.x.label = "pixel cross-entropy [nats per pixel]";
  figure.y.label = "leakage I(X;Z) [nats]";
  figure.y.low = 0;
  FigureSeries found =
      series("strongest fresh attacker (lower bound)", SeriesKind::kLineAndMarkers, SeriesRole::kLearned);
  FigureSeries belief =
      series("training adversary\u2019s belief (not evidence)", SeriesKind::kMarkers, SeriesRole::kBelief);
  FigureSeries sharing =
      series("time-sharing (unchanged or mean image)", SeriesKind::kLine, SeriesRole::kReference);
  FigureSeries upper = series("upper bound, from the code", SeriesKind::kMarkers, SeriesRole::kReference2);
  FigureSeries hull = series("completed curve (lower convex hull)", SeriesKind::kLine, SeriesRole::kOptimum2);
  for (const MnistPoint& p : result.points) {
    const Estimate& leakage = p.measure.attack.strongest().leakage;
    const double x = p.measure.distortion;
    found.points.push_back({.x = x, .y = leakage.nats, .interval = leakage.interval95});
    belief.points.push_back({.x = x, .y = p.measure.belief});
    if (!p.measure.upper.empty()) upper.points.push_back({.x = x, .y = p.measure.upper.front().nats});
  }
  sharing.points = {{.x = result.unchanged_distortion, .y = result.entropy},
                    {.x = result.constant_distortion, .y = 0}};
  const std::vector<HullPoint> servable = result.servable();
  for (const std::size_t i : lower_hull(servable)) {
    hull.points.push_back({.x = servable[i].distortion, .y = servable[i].leakage});
  }
  for (const FigurePoint& p : belief.points) figure.y.low = std::min(*figure.y.low, p.y);
  figure.series = {sharing, hull, belief};
  if (!upper.points.empty()) figure.series.push_back(upper);
  figure.series.push_back(found);
  return figure;
}

Figure accuracy_and_leakage_figure(const MnistResult& result) {
  Figure figure{.title = "Distortion against accuracy and leakage",
                .x = {.label = "pixel cross-entropy [nats per pixel]"},
                .y = {.label = "share of digits recognised", .low = 0, .high = 1},
                .y2 = {.label = "leakage I(X;Z), lower bound [nats]", .low = 0},
                .series = {},
                .note = "Strongest fresh attacker, on images that neither it nor the mechanism has seen."};
  FigureSeries accuracy = series("accuracy (left axis)", SeriesKind::kLineAndMarkers, SeriesRole::kLearned);
  FigureSeries leakage = series("leakage (right axis)", SeriesKind::kLineAndMarkers, SeriesRole::kLearned2);
  leakage.second = true;
  for (const MnistPoint& p : result.points) {
    const ImageAttackerScore& best = p.measure.attack.strongest();
    accuracy.points.push_back(
        {.x = p.measure.distortion, .y = best.accuracy.value, .interval = best.accuracy.interval95});
    leakage.points.push_back(
        {.x = p.measure.distortion, .y = best.leakage.nats, .interval = best.leakage.interval95});
  }
  const auto by_x = [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; };
  std::ranges::stable_sort(accuracy.points, by_x);
  std::ranges::stable_sort(leakage.points, by_x);
  figure.series = {accuracy, leakage};
  return figure;
}

}  // namespace ppan::cli
