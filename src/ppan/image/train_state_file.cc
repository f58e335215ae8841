#include "ppan/image/train_state_file.h"

#include <fmt/format.h>

#include "ppan/model/model_file.h"

namespace ppan {
namespace {

using nlohmann::json;

constexpr int kStateVersion = 1;

Tensor tensor_of(const Vector<float>& v) {
  return {{v.size()}, std::vector<float>(v.data(), v.data() + v.size())};
}

Vector<float> vector_of(const ModelContainer& file, const std::string& name, std::int64_t size) {
  const std::vector<float>& values = file.at<float>(name, {size});
  return Eigen::Map<const Vector<float>>(values.data(), static_cast<Index>(values.size()));
}

void put(ModelContainer& file, const std::string& name, const PlayerState<float>& player) {
  if (player.parameters.size() == 0) return;
  file.metadata["players"][name] = {{"size", player.parameters.size()},
                                    {"moments", player.adam.m.size() > 0},
                                    {"beta1_power", player.adam.beta1_power},
                                    {"beta2_power", player.adam.beta2_power},
                                    {"averages_started", player.averages_started}};
  file.tensors[name] = tensor_of(player.parameters);
  if (player.adam.m.size() == 0) return;
  file.tensors[name + ".m"] = tensor_of(player.adam.m);
  file.tensors[name + ".v"] = tensor_of(player.adam.v);
}

PlayerState<float> get(const ModelContainer& file, const std::string& name) {
  PlayerState<float> player;
  const json& players = file.metadata.at("players");
  if (!players.contains(name)) return player;
  const json& j = players.at(name);
  const auto size = j.at("size").get<std::int64_t>();
  player.parameters = vector_of(file, name, size);
  player.adam.beta1_power = j.at("beta1_power").get<double>();
  player.adam.beta2_power = j.at("beta2_power").get<double>();
  player.averages_started = j.at("averages_started").get<bool>();
  if (j.at("moments").get<bool>()) {
    player.adam.m = vector_of(file, name + ".m", size);
    player.adam.v = vector_of(file, name + ".v", size);
  }
  return player;
}

json to_json(const EpochReport& e) {
  return json::array({e.epoch, e.epochs, e.mean.log_likelihood, e.mean.distortion, e.mean.penalty,
                      e.mean.discriminator, e.adversary, e.discriminator, e.utility, e.multiplier});
}

EpochReport epoch_from(const json& j) {
  EpochReport e{.epoch = j.at(0).get<int>(), .epochs = j.at(1).get<int>()};
  e.mean = {j.at(2).get<double>(), j.at(3).get<double>(), j.at(4).get<double>(), j.at(5).get<double>()};
  e.adversary = j.at(6).get<double>();
  e.discriminator = j.at(7).get<double>();
  e.utility = j.at(8).get<double>();
  e.multiplier = j.at(9).get<double>();
  return e;
}

}  // namespace

void write_train_state(const std::filesystem::path& path, const TrainState<float>& state,
                       const std::string& fingerprint) {
  ModelContainer file;
  file.metadata = {{"kind", "training"},
                   {"version", kStateVersion},
                   {"fingerprint", fingerprint},
                   {"multiplier", state.match.multiplier},
                   {"running", {state.match.running.mean, state.match.running.steps}},
                   {"players", json::object()},
                   {"epochs", json::array()}};
  for (const EpochReport& epoch : state.epochs) file.metadata["epochs"].push_back(to_json(epoch));
  put(file, "mechanism", state.match.mechanism);
  put(file, "adversary", state.match.adversary);
  put(file, "discriminator", state.match.discriminator);
  put(file, "utility", state.match.utility);
  write_model(path, file);
}

TrainState<float> read_train_state(const std::filesystem::path& path, const std::string& fingerprint) {
  const ModelContainer file = read_model(path);
  try {
    if (file.metadata.at("kind") != "training" || file.metadata.at("version") != kStateVersion) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} is not a training that can be resumed", path.string()));
    }
    const auto found = file.metadata.at("fingerprint").get<std::string>();
    if (found != fingerprint) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} is of a training with other settings or data:\n  it has  {}\n  asked   {}",
                              path.string(), found, fingerprint),
                  "give the options of the run that was interrupted, or another --out");
    }
    TrainState<float> state;
    state.match.mechanism = get(file, "mechanism");
    state.match.adversary = get(file, "adversary");
    state.match.discriminator = get(file, "discriminator");
    state.match.utility = get(file, "utility");
    state.match.multiplier = file.metadata.at("multiplier").get<double>();
    state.match.running.mean = file.metadata.at("running").at(0).get<double>();
    state.match.running.steps = file.metadata.at("running").at(1).get<std::int64_t>();
    for (const json& epoch : file.metadata.at("epochs")) state.epochs.push_back(epoch_from(epoch));
    return state;
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is not a training that can be resumed: {}", path.string(), error.what()));
  }
}

}  // namespace ppan
