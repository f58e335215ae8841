#pragma once

// The completed trade-off curve. Leakage is convex and distortion linear in P(z|w), so tossing a coin between
// two mechanisms does no worse than the straight line between their points: whatever points were trained,
// their lower convex hull can be served.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ppan {

/// A mechanism as a point: what it costs and what it gives away.
struct HullPoint {
  double distortion = 0;
  double leakage = 0;  ///< Nats.
};

/// Indices into `points` of the lower convex hull, by rising distortion and falling leakage: no point lies
/// below it or left of it. It begins at the least distortion (of equal ones, the least leakage) and ends
/// at the least leakage (of equal ones, the least distortion). Points on an edge are not vertices. Empty only
/// without points.
std::vector<std::size_t> lower_hull(std::span<const HullPoint> points);

/// Leakage of the hull at a distortion, by interpolation; that of the last vertex beyond it, and nothing in
/// front of the first.
std::optional<double> hull_leakage(std::span<const HullPoint> points, std::span<const std::size_t> hull,
                                   double distortion);

/// Whether mixtures of the others serve its distortion with less leakage. For a measured point `leakage` is
/// the lower end of its interval, so that noise alone dominates nothing.
bool is_dominated(const HullPoint& point, std::span<const HullPoint> others);

/// Time-sharing: the probability with which everything is released unchanged, and otherwise the same for
/// everybody, so that the expected distortion is `distortion`; leakage is that share of the unchanged
/// release's. 0 to 1.
double unchanged_share(double distortion, double unchanged_distortion, double constant_distortion);

/// A coin between two points: `first` with probability 1 - second_weight.
struct HullMixture {
  std::size_t first = 0;
  std::size_t second = 0;
  double second_weight = 0;  ///< 0 to 1; exactly 0 where one point is enough.
  HullPoint point;           ///< What to expect, by interpolation.
};

/// The mixture of least leakage that costs at most `distortion`. Nothing if even the first vertex costs more.
std::optional<HullMixture> at_most_distortion(std::span<const HullPoint> points,
                                              std::span<const std::size_t> hull, double distortion);
/// The mixture of least distortion that leaks at most `leakage`. Nothing if even the last vertex leaks more.
std::optional<HullMixture> at_most_leakage(std::span<const HullPoint> points,
                                           std::span<const std::size_t> hull, double leakage);

}  // namespace ppan
