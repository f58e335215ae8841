#include "ppan/core/hull.h"

#include <algorithm>
#include <numeric>

namespace ppan {
namespace {

// Twice the area of the triangle a, b, c: positive when c lies left of the way from a to b.
double turn(const HullPoint& a, const HullPoint& b, const HullPoint& c) {
  return (b.distortion - a.distortion) * (c.leakage - a.leakage) -
         (b.leakage - a.leakage) * (c.distortion - a.distortion);
}

HullMixture alone(std::span<const HullPoint> points, std::size_t index) {
  return {index, index, 0, points[index]};
}

// The coin whose share of the second point is `share`; ends are single points.
HullMixture between(std::span<const HullPoint> points, std::size_t a, std::size_t b, double share) {
  if (share <= 0) return alone(points, a);
  if (share >= 1) return alone(points, b);
  const auto mean = [share](double x, double y) { return x + share * (y - x); };
  return {a,
          b,
          share,
          {mean(points[a].distortion, points[b].distortion), mean(points[a].leakage, points[b].leakage)}};
}

}  // namespace

std::vector<std::size_t> lower_hull(std::span<const HullPoint> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const HullPoint& p = points[a];
    const HullPoint& q = points[b];
    if (p.distortion != q.distortion) return p.distortion < q.distortion;
    if (p.leakage != q.leakage) return p.leakage < q.leakage;
    return a < b;
  });
  std::vector<std::size_t> hull;
  for (const std::size_t next : order) {
    // Whoever costs more must give away less.
    if (!hull.empty() && points[next].leakage >= points[hull.back()].leakage) continue;
    while (hull.size() >= 2 && turn(points[hull[hull.size() - 2]], points[hull.back()], points[next]) <= 0)
      hull.pop_back();
    hull.push_back(next);
  }
  return hull;
}

bool is_dominated(const HullPoint& point, std::span<const HullPoint> others) {
  constexpr double kRounding = 1e-9;
  const auto least = hull_leakage(others, lower_hull(others), point.distortion);
  return least && point.leakage > *least + kRounding;
}

double unchanged_share(double distortion, double unchanged_distortion, double constant_distortion) {
  const double range = constant_distortion - unchanged_distortion;
  return range > 0 ? std::clamp((constant_distortion - distortion) / range, 0.0, 1.0) : 0.0;
}

std::optional<HullMixture> at_most_distortion(std::span<const HullPoint> points,
                                              std::span<const std::size_t> hull, double distortion) {
  if (hull.empty() || distortion < points[hull.front()].distortion) return std::nullopt;
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const HullPoint& a = points[hull[i - 1]];
    const HullPoint& b = points[hull[i]];
    if (distortion >= b.distortion) continue;
    return between(points, hull[i - 1], hull[i], (distortion - a.distortion) / (b.distortion - a.distortion));
  }
  return alone(points, hull.back());
}

std::optional<HullMixture> at_most_leakage(std::span<const HullPoint> points,
                                           std::span<const std::size_t> hull, double leakage) {
  if (hull.empty() || leakage < points[hull.back()].leakage) return std::nullopt;
  if (leakage >= points[hull.front()].leakage) return alone(points, hull.front());
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const HullPoint& a = points[hull[i - 1]];
    const HullPoint& b = points[hull[i]];
    if (leakage < b.leakage) continue;
    return between(points, hull[i - 1], hull[i], (a.leakage - leakage) / (a.leakage - b.leakage));
  }
  return alone(points, hull.back());
}

std::optional<double> hull_leakage(std::span<const HullPoint> points, std::span<const std::size_t> hull,
                                   double distortion) {
  const auto mixture = at_most_distortion(points, hull, distortion);
  if (!mixture) return std::nullopt;
  return mixture->point.leakage;
}

}  // namespace ppan
