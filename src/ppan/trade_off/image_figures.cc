#include "ppan/trade_off/image_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "ppan/core/error.h"
#include "ppan/core/random.h"
#include "ppan/image/image_subset.h"
#include "ppan/report/image_grid.h"

namespace ppan {
namespace {

std::vector<GreyImage> row_of(const ImageSet& set) {
  std::vector<GreyImage> row;
  for (Index i = 0; i < set.size(); ++i) row.push_back(grey_image(set, i));
  return row;
}

std::string target_name(const ImageCurveResult& result, double target) {
  return fmt::format("{} {}", result.given.method == ImageMethod::kPaper ? "\u03bb" : "budget", target);
}

FigureSeries series(std::string name, SeriesKind kind, SeriesRole role) {
  return {.name = std::move(name), .kind = kind, .role = role};
}

}  // namespace

ImageGrid image_grid_of(const ImageSet& test, const ImageCurveResult& result, std::uint64_t seed) {
  std::vector<std::int32_t> rows;
  for (std::int32_t x = 0; x < test.classes; ++x) {
    const auto found = std::find(test.labels.begin(), test.labels.end(), x);
    if (found != test.labels.end()) rows.push_back(static_cast<std::int32_t>(found - test.labels.begin()));
  }
  const ImageSet originals = take_images(test, rows);
  std::vector<std::vector<GreyImage>> grid{row_of(originals)};
  ImageGrid out;
  out.row_names.emplace_back("original");
  for (const ImagePoint& point : result.points) {
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
Index first_changed(const ImageSet& test, const ImagePoint& point, SeededRandom random) {
  constexpr Index kLooks = 100;
  std::vector<std::int32_t> rows(static_cast<std::size_t>(std::min(kLooks, test.size())));
  std::iota(rows.begin(), rows.end(), 0);
  const ImageSet first = take_images(test, rows);
  const ImageSet released = release_images(point.model, first, random);
  const auto changed = std::ranges::find_if(
      rows, [&](std::int32_t i) { return first.pixels.row(i) != released.pixels.row(i); });
  return changed == rows.end() ? 0 : *changed;
}

}  // namespace

ImagePanels image_panels(const ImageSet& test, const ImagePoint& point, std::uint64_t seed,
                         std::optional<Index> digit) {
  if (digit && (*digit < 0 || *digit >= test.size())) {
    throw Error(ErrorCode::kUsage, fmt::format("there is no test image {}", *digit),
                fmt::format("give --digit from 0 to {}", test.size() - 1));
  }
  SeededRandom random = SeededRandom(seed).fork("panels", static_cast<std::uint64_t>(point.plan));
  const Index shown = digit ? *digit : first_changed(test, point, random);
  const ImageSet original = take_images(test, std::array{static_cast<std::int32_t>(shown)});
  const ImageSet released = release_images(point.model, original, random);
  ImagePanels panels;
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

Figure accuracy_figure(const ImageCurveResult& result) {
  Figure figure{.title = "Distortion against accuracy of attackers"};
  figure.x.label = "pixel cross-entropy [nats per pixel]";
  figure.y.label = "share of digits recognised";
  figure.y.low = 0;
  figure.y.high = 1;
  FigureSeries found = series("strongest fresh attacker", SeriesKind::kLineAndMarkers, SeriesRole::kLearned);
  FigureSeries belief =
      series("training adversary (not evidence)", SeriesKind::kLineAndMarkers, SeriesRole::kBelief);
  FigureSeries prior = series("guessing without the release", SeriesKind::kLine, SeriesRole::kReference);
  for (const ImagePoint& p : result.points) {
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

Figure leakage_figure(const ImageCurveResult& result) {
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
  for (const ImagePoint& p : result.points) {
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

Figure accuracy_and_leakage_figure(const ImageCurveResult& result) {
  Figure figure{.title = "Distortion against accuracy and leakage",
                .x = {.label = "pixel cross-entropy [nats per pixel]"},
                .y = {.label = "share of digits recognised", .low = 0, .high = 1},
                .y2 = {.label = "leakage I(X;Z), lower bound [nats]", .low = 0},
                .series = {},
                .note = "Strongest fresh attacker, on images that neither it nor the mechanism has seen."};
  FigureSeries accuracy = series("accuracy (left axis)", SeriesKind::kLineAndMarkers, SeriesRole::kLearned);
  FigureSeries leakage = series("leakage (right axis)", SeriesKind::kLineAndMarkers, SeriesRole::kLearned2);
  leakage.second = true;
  for (const ImagePoint& p : result.points) {
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

}  // namespace ppan
