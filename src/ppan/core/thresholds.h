#pragma once

// From where on a difference is worth a warning; the same for tables and images.

namespace ppan {

/// Nats that attackers find more than they should have: above the training rows, or above what the adversary
/// of the training believed.
inline constexpr double kNoticeableNats = 0.05;

/// A distortion is above its budget by more than a tenth and 0.005.
constexpr bool misses_budget(double distortion, double budget) {
  return distortion > budget * 1.1 + 0.005;
}

/// Of a point that the hull of the others beats (is_dominated()).
inline constexpr const char* kDominatedWarning =
    "a mixture of other points serves its distortion with less leakage";

}  // namespace ppan
