#pragma once

// What a mechanism is, as bytes (core/archive.h).

#include "ppan/core/archive.h"
#include "ppan/game/mechanism.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, MechanismOptions& value) {
  auto& [kind, released, hidden, activation, skip, draws, noise_inputs, noise, full_scale, components,
         full_components, temperature, code, code_radius, decoder, gate, sigmoid_output] = value;
  archive(kind, released, hidden, activation, skip, draws, noise_inputs, noise, full_scale, components,
          full_components, temperature, code, code_radius, decoder, gate, sigmoid_output);
}
}  // namespace ppan
