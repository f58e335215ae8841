#pragma once

// A number about privacy is never passed alone: it has its direction, its interval and its method with it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ppan {

/// The direction in which a method errs.
enum class Bound { kLower, kUpper, kExact, kEstimate };

struct Interval {
  double low = 0;
  double high = 0;
};

struct Estimate {
  double nats = 0;
  std::optional<Interval> interval95;  ///< Absent only for exact values.
  Bound bound = Bound::kEstimate;
  std::string method;
  std::int64_t samples = 0;  ///< 0 for exact values.
};

std::string_view to_string(Bound bound);

/// Unit of information for display; everything is computed in nats.
enum class InformationUnit { kNats, kBits };
double from_nats(double nats, InformationUnit unit);
std::string_view to_string(InformationUnit unit);

}  // namespace ppan
