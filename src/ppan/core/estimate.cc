#include "ppan/core/estimate.h"

#include <numbers>

namespace ppan {

std::string_view to_string(Bound bound) {
  switch (bound) {
    case Bound::kLower:
      return "lower bound";
    case Bound::kUpper:
      return "upper bound";
    case Bound::kExact:
      return "exact";
    case Bound::kEstimate:
      return "estimate";
  }
  return "estimate";
}

double from_nats(double nats, InformationUnit unit) {
  return unit == InformationUnit::kBits ? nats / std::numbers::ln2 : nats;
}

std::string_view to_string(InformationUnit unit) {
  return unit == InformationUnit::kBits ? "bits" : "nats";
}

}  // namespace ppan
