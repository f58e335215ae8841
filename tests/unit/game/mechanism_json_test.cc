#include "ppan/game/mechanism_json.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::vector<MechanismOptions> every_family() {
  MechanismOptions finite{.kind = MechanismKind::kFinite, .released = 6, .hidden = {5}};
  MechanismOptions input{.kind = MechanismKind::kNoiseInput, .released = 4, .hidden = {7, 3}, .skip = true};
  input.noise_inputs = 2;
  input.noise = NoiseKind::kNormal;
  MechanismOptions code{.kind = MechanismKind::kNoisyCode, .released = 9, .hidden = {8}};
  code.activation = Activation::kTanh;
  code.code = 3;
  code.code_radius = 2.5;
  code.decoder = {6, 5};
  MechanismOptions gated = code;
  gated.gate = {4};
  return {finite, input, code, gated};
}

TEST(MechanismJson, EveryFamilyComesBackAsItWas) {
  for (const MechanismOptions& options : every_family()) {
    const json written = mechanism_to_json(options);
    const MechanismOptions read = mechanism_from_json(written);
    EXPECT_EQ(mechanism_to_json(read), written);
    EXPECT_EQ(read.kind, options.kind);
    EXPECT_EQ(read.released, options.released);
    EXPECT_EQ(read.gate, options.gate);
    EXPECT_EQ(read.decoder, options.decoder);
  }
}

TEST(MechanismJson, TheModelMayFixWhatTheDescriptionLeavesOut) {
  json written = mechanism_to_json(every_family()[2]);
  written.erase("released");
  EXPECT_THROW((void)mechanism_from_json(written), Error);
  const MechanismOptions read = mechanism_from_json(written, {.released = 9, .sigmoid_output = true});
  EXPECT_EQ(read.released, 9);
  EXPECT_TRUE(read.sigmoid_output);
  written["released"] = 10;
  EXPECT_THROW((void)mechanism_from_json(written, {.released = 9, .sigmoid_output = true}), Error);
  written["released"] = 9;
  written["sigmoid_output"] = true;
  EXPECT_THROW((void)mechanism_from_json(written), Error);
}

TEST(MechanismJson, RefusesWhatItWouldNotHaveWritten) {
  const json good = mechanism_to_json(every_family()[3]);
  const auto refused = [&](const char* key, const json& value) {
    json bad = good;
    bad[key] = value;
    try {
      (void)mechanism_from_json(bad);
      ADD_FAILURE() << key << " = " << value.dump() << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr("malformed"));
    }
  };
  refused("kind", "gaussian");
  refused("kind", 1);
  refused("released", 0);
  refused("released", -3);
  refused("released", 1.5);
  refused("released", 18446744073709551615ULL);
  refused("hidden", json::array({kMostUnits + 1}));
  refused("hidden", json(std::vector<int>(kMostLayers + 1, 1)));
  refused("hidden", "wide");
  refused("activation", "step");
  refused("skip", 1);
  refused("code", 0);
  refused("code_radius", "far");
  refused("gate", json::array({0}));
  EXPECT_THROW((void)mechanism_from_json(json::array()), Error);
  for (const auto& [key, value] : good.items()) {
    if (key == "gate") continue;  // absent: none
    json bad = good;
    bad.erase(key);
    EXPECT_THROW((void)mechanism_from_json(bad), Error) << key;
  }
}

// Refused before memory is claimed; never refused for a mechanism that exists.
TEST(MechanismJson, LeastParametersIsBelowWhatTheNetworksHave) {
  for (const MechanismOptions& options : every_family()) {
    Attribute<float> observed;
    observed.value.resize(1, options.gate.empty() ? 5 : options.released);
    const auto mechanism = make_mechanism(options, observed);
    const Index least = least_parameters(options, observed.width());
    EXPECT_LE(least, mechanism->parameters().size());
    EXPECT_GT(2 * least, mechanism->parameters().size());
  }
}

}  // namespace
}  // namespace ppan
