#pragma once

// What every trade-off curve must obey, as data, so that the checker itself can be shown to fail.

#include <cmath>
#include <string>
#include <vector>

namespace ppan::testing {

/// Properties that y, sampled at equally spaced x, breaks: "negative", "rises" or "falls" (against
/// `direction`, -1 or +1), "not convex" (or, with curvature -1, "not concave"). Infinite values are skipped.
inline std::vector<std::string> broken_properties(const std::vector<double>& y, int direction,
                                                  int curvature = 1, double tolerance = 1e-12) {
  std::vector<std::string> broken;
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) continue;
    if (y[i] < 0) broken.emplace_back("negative");
    if (i == 0 || !std::isfinite(y[i - 1])) continue;
    if (direction < 0 && y[i] > y[i - 1] + tolerance) broken.emplace_back("rises");
    if (direction > 0 && y[i] < y[i - 1] - tolerance) broken.emplace_back("falls");
    if (i + 1 == y.size() || !std::isfinite(y[i + 1])) continue;
    if (curvature * (y[i - 1] - 2 * y[i] + y[i + 1]) < -tolerance)
      broken.emplace_back(curvature > 0 ? "not convex" : "not concave");
  }
  return broken;
}

}  // namespace ppan::testing
