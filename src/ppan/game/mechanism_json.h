#pragma once

// The options of a mechanism as a model file holds them (docs/formats.md): the families that models are made
// of, finite, noise-input and noisy-code. One writer, one reader and one set of caps for every kind of model.

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ppan/game/mechanism.h"

namespace ppan {

/// Caps on what a description may ask for, so that an untrusted file cannot allocate all memory.
inline constexpr Index kMostUnits = 16384;  ///< Of a layer, a code or the noise.
inline constexpr std::size_t kMostLayers = 16;

nlohmann::json mechanism_to_json(const MechanismOptions& options);

/// What is fixed by the kind of model and may be absent from its description.
struct FixedByModel {
  Index released = 0;  ///< 0: the description says it.
  bool sigmoid_output = false;
};
/// Throws Error(kBadInput) for anything that mechanism_to_json() would not have written. Whether the numbers
/// fit each other is left to MechanismOptions::check().
MechanismOptions mechanism_from_json(const nlohmann::json& json, const FixedByModel& fixed = {});

/// A lower bound on the number of parameters of a mechanism with these options that observes `observed`
/// numbers. It serves to refuse a description before memory is allocated for its networks.
Index least_parameters(const MechanismOptions& options, Index observed);

}  // namespace ppan
