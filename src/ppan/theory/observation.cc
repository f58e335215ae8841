#include "ppan/theory/observation.h"

#include <array>

namespace ppan {
namespace {

struct Name {
  Observation observation;
  std::string_view text;
};
constexpr std::array kNames{
    Name{Observation::kUsefulOnly, "useful-only"},
    Name{Observation::kFullData, "full-data"},
    Name{Observation::kRateDistortion, "rate-distortion"},
    Name{Observation::kBottleneck, "bottleneck"},
};

}  // namespace

std::string_view to_string(Observation observation) {
  for (const Name& name : kNames)
    if (name.observation == observation) return name.text;
  return "unknown";
}

std::optional<Observation> parse_observation(std::string_view text) {
  for (const Name& name : kNames)
    if (name.text == text) return name.observation;
  return std::nullopt;
}

}  // namespace ppan
