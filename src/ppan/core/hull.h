#pragma once

// The completed trade-off curve. Leakage is convex and distortion linear in P(z|w), so a random choice
// between two mechanisms does no worse than the straight line between their points: every point on the lower
// convex hull of the trained points is achievable.

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ppan {

/// Distortion and leakage of a mechanism.
struct HullPoint {
  double distortion = 0;
  double leakage = 0;  ///< Nats.
};

/// Indices into `points` of the lower convex hull, by increasing distortion and decreasing leakage: no point
/// lies below it or left of it. It begins at the least distortion (of equal ones, the least leakage) and ends
/// at the least leakage (of equal ones, the least distortion). Points on an edge are not vertices. Empty only
/// without points.
std::vector<std::size_t> lower_hull(std::span<const HullPoint> points);

/// Leakage of the hull at a distortion, by interpolation; beyond the last vertex its leakage, before the
/// first nothing.
std::optional<double> hull_leakage(std::span<const HullPoint> points, std::span<const std::size_t> hull,
                                   double distortion);

/// Whether a mixture of the others has less leakage at the same distortion. For a measured point `leakage` is
/// the lower end of its interval, so that noise alone does not make it dominated.
bool is_dominated(const HullPoint& point, std::span<const HullPoint> others);

/// Time-sharing: the probability of releasing a record unchanged instead of as a constant, such that the
/// expected distortion is `distortion`. The leakage is that share of the leakage of an unchanged release.
/// 0 to 1.
double unchanged_share(double distortion, double unchanged_distortion, double constant_distortion);

/// A random choice between two points: `first` with probability 1 - second_weight.
struct HullMixture {
  std::size_t first = 0;
  std::size_t second = 0;
  double second_weight = 0;  ///< 0 to 1; exactly 0 if one point is enough.
  HullPoint point;           ///< Expected values, by interpolation.
};

/// The mixture of least leakage with at most `distortion`. Nothing if even the first vertex has more.
std::optional<HullMixture> at_most_distortion(std::span<const HullPoint> points,
                                              std::span<const std::size_t> hull, double distortion);
/// The mixture of least distortion that leaks at most `leakage`. Nothing if even the last vertex leaks more.
std::optional<HullMixture> at_most_leakage(std::span<const HullPoint> points,
                                           std::span<const std::size_t> hull, double leakage);

}  // namespace ppan
