#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ppan {

/// What the mechanism sees of a record (X sensitive, Y useful).
enum class Observation {
  kUsefulOnly,      ///< W = Y.
  kFullData,        ///< W = (X, Y).
  kRateDistortion,  ///< W = X = Y.
  kBottleneck,      ///< W = X, usefulness measured by I(Y;Z).
};

/// "useful-only", "full-data", "rate-distortion", "bottleneck".
std::string_view to_string(Observation observation);
std::optional<Observation> parse_observation(std::string_view text);

}  // namespace ppan
