#pragma once

// Thresholds of warnings, the same for tables and images.

namespace ppan {

/// Nats by which the leakage found by attackers exceeds that on the training rows, or the estimate of the
/// adversary in training.
inline constexpr double kNoticeableNats = 0.05;

/// Whether a distortion exceeds its budget by more than a tenth plus 0.005.
constexpr bool misses_budget(double distortion, double budget) {
  return distortion > budget * 1.1 + 0.005;
}

/// For a point that is_dominated().
inline constexpr const char* kDominatedWarning =
    "a mixture of other points serves its distortion with less leakage";

}  // namespace ppan
