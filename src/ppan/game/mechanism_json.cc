#include "ppan/game/mechanism_json.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using nlohmann::json;

constexpr std::array kKinds{MechanismKind::kFinite, MechanismKind::kNoiseInput, MechanismKind::kNoisyCode};
constexpr std::array kActivations{Activation::kIdentity, Activation::kRelu, Activation::kTanh,
                                  Activation::kSigmoid};

[[noreturn]] void malformed(const std::string& what) {
  throw Error(ErrorCode::kBadInput, fmt::format("the model's description is malformed: {}", what));
}

const json& at(const json& from, const char* key) {
  if (!from.is_object() || !from.contains(key)) malformed(fmt::format("\"{}\" is missing", key));
  return from.at(key);
}

std::string text(const json& from, const char* key) {
  const json& value = at(from, key);
  if (!value.is_string()) malformed(fmt::format("\"{}\" has the wrong type", key));
  return value.get<std::string>();
}

bool flag(const json& from, const char* key) {
  const json& value = at(from, key);
  if (!value.is_boolean()) malformed(fmt::format("\"{}\" has the wrong type", key));
  return value.get<bool>();
}

double number(const json& from, const char* key) {
  const json& value = at(from, key);
  if (!value.is_number()) malformed(fmt::format("\"{}\" has the wrong type", key));
  const auto out = value.get<double>();
  if (!std::isfinite(out)) malformed(fmt::format("\"{}\" is not finite", key));
  return out;
}

// A whole number from 1 on that fits; what is read as unsigned may be too large for the type.
Index whole(const json& value, const char* key, Index most) {
  if (!value.is_number()) malformed(fmt::format("\"{}\" has the wrong type", key));
  if (!value.is_number_integer()) malformed(fmt::format("\"{}\" holds {}", key, value.dump()));
  const bool fits =
      value.is_number_unsigned()
          ? value.get<std::uint64_t>() >= 1 && value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
          : value.get<std::int64_t>() >= 1 && value.get<std::int64_t>() <= most;
  if (!fits) malformed(fmt::format("\"{}\" holds {}", key, value.dump()));
  return value.get<std::int64_t>();
}

std::vector<Index> layers(const json& from, const char* key) {
  const json& list = at(from, key);
  if (!list.is_array()) malformed(fmt::format("\"{}\" has the wrong type", key));
  if (list.size() > kMostLayers) malformed(fmt::format("\"{}\" has too many layers", key));
  std::vector<Index> out;
  for (const json& width : list) out.push_back(whole(width, key, kMostUnits));
  return out;
}

// The member of `all` whose name stands under `key`.
template <typename Enum, std::size_t Count>
Enum named(const std::array<Enum, Count>& all, const json& from, const char* key, const char* what) {
  const std::string name = text(from, key);
  for (const Enum each : all) {
    if (to_string(each) == name) return each;
  }
  malformed(fmt::format("unknown {} \"{}\"", what, name));
}

// Numbers between the layers of a network, biases not counted. Within the caps nothing overflows.
Index weight_count(Index inputs, const std::vector<Index>& hidden, Index outputs) {
  Index total = 0;
  for (const Index units : hidden) {
    total += inputs * units;
    inputs = units;
  }
  return total + inputs * outputs;
}

}  // namespace

json mechanism_to_json(const MechanismOptions& options) {
  json out{{"kind", to_string(options.kind)},
           {"released", options.released},
           {"hidden", options.hidden},
           {"activation", to_string(options.activation)}};
  if (options.sigmoid_output) out["sigmoid_output"] = true;
  if (options.kind == MechanismKind::kFinite) return out;
  out["skip"] = options.skip;
  if (options.kind == MechanismKind::kNoiseInput) {
    out["noise_inputs"] = options.noise_inputs;
    out["noise"] = options.noise == NoiseKind::kUniform ? "uniform" : "normal";
    return out;
  }
  out["code"] = options.code;
  out["code_radius"] = options.code_radius;
  out["decoder"] = options.decoder;
  if (!options.gate.empty()) out["gate"] = options.gate;
  return out;
}

MechanismOptions mechanism_from_json(const json& from, const FixedByModel& fixed) {
  constexpr Index kMostReleased = Index{1} << 40U;
  MechanismOptions out;
  out.kind = named(kKinds, from, "kind", "mechanism");
  out.released = fixed.released;
  if (fixed.released == 0 || (from.is_object() && from.contains("released")))
    out.released = whole(at(from, "released"), "released", kMostReleased);
  if (fixed.released != 0 && out.released != fixed.released)
    malformed(fmt::format("\"released\" is {}, where {} are needed", out.released, fixed.released));
  out.sigmoid_output = fixed.sigmoid_output;
  if (from.contains("sigmoid_output") && flag(from, "sigmoid_output") != fixed.sigmoid_output)
    malformed("\"sigmoid_output\" does not fit this kind of model");
  out.hidden = layers(from, "hidden");
  out.activation = named(kActivations, from, "activation", "activation");
  if (out.kind == MechanismKind::kFinite) return out;
  out.skip = flag(from, "skip");
  if (out.kind == MechanismKind::kNoiseInput) {
    out.noise_inputs = whole(at(from, "noise_inputs"), "noise_inputs", kMostUnits);
    const std::string noise = text(from, "noise");
    if (noise != "uniform" && noise != "normal") malformed(fmt::format("unknown noise \"{}\"", noise));
    out.noise = noise == "uniform" ? NoiseKind::kUniform : NoiseKind::kNormal;
    return out;
  }
  out.code = whole(at(from, "code"), "code", kMostUnits);
  out.code_radius = number(from, "code_radius");
  out.decoder = layers(from, "decoder");
  if (from.contains("gate")) out.gate = layers(from, "gate");
  return out;
}

Index least_parameters(const MechanismOptions& options, Index observed) {
  if (options.kind == MechanismKind::kNoisyCode) {
    return weight_count(observed, options.hidden, options.code) +
           weight_count(options.code, options.decoder, options.released) +
           (options.gate.empty() ? 0 : weight_count(observed, options.gate, 1));
  }
  const Index inputs =
      options.kind == MechanismKind::kNoiseInput ? observed + options.noise_inputs : observed;
  return weight_count(inputs, options.hidden, options.released);
}

}  // namespace ppan
