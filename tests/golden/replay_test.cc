// Replays the games of make_trajectories.py, played there by autograd, with the gradients of this project:
// every value the players report on the way, and their parameters at the end, must agree to 1e-8.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ppan/core/file.h"
#include "ppan/train/match.h"

namespace ppan {
namespace {

using Json = nlohmann::json;

constexpr double kTolerance = 1e-8;  // relative; of 1e-3 for numbers below that

std::vector<std::string> trajectory_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(PPAN_TEST_DATA "/golden")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::sort(names.begin(), names.end());
  return names;
}

Json load(const std::string& name) {
  return Json::parse(read_file(PPAN_TEST_DATA "/golden/" + name + ".json"));
}

Matrix<double> matrix(const Json& json) {
  if (json.is_null()) return {};
  Matrix<double> m(json.at("rows").get<Index>(), json.at("cols").get<Index>());
  const auto data = json.at("data").get<std::vector<double>>();
  if (static_cast<Index>(data.size()) != m.size()) throw std::runtime_error("matrix of the wrong size");
  std::copy(data.begin(), data.end(), m.data());
  return m;
}

Attribute<double> attribute(const Json& json) {
  Attribute<double> a;
  a.levels = json.at("levels").get<std::int32_t>();
  if (a.finite()) {
    a.code = json.at("code").get<Symbols>();
  } else {
    a.value = matrix(json.at("value"));
  }
  return a;
}

Records<double> batch_of(const Json& iteration) {
  Records<double> batch;
  batch.observed = attribute(iteration.at("observed"));
  for (const Json& x : iteration.at("sensitive")) batch.sensitive.push_back(attribute(x));
  batch.useful = attribute(iteration.at("useful"));
  return batch;
}

Activation activation(const Json& network) {
  for (const Activation a :
       {Activation::kIdentity, Activation::kRelu, Activation::kTanh, Activation::kSigmoid}) {
    if (to_string(a) == network.at("activation").get<std::string>()) return a;
  }
  throw std::runtime_error("unknown activation");
}

std::vector<Index> hidden(const Json& network) {
  return network.at("hidden").get<std::vector<Index>>();
}

MechanismOptions mechanism_options(const Json& settings) {
  const Json& m = settings.at("mechanism");
  const auto kind = m.at("kind").get<std::string>();
  MechanismOptions options;
  options.kind = mechanism_kind(kind == "finite-gumbel" ? "gumbel" : kind);
  options.draws = settings.at("releases").get<Index>();
  options.sigmoid_output = m.value("output", "identity") == "sigmoid";
  const Json& network = m.contains("encoder") ? m.at("encoder") : m.at("network");
  options.hidden = hidden(network);
  options.activation = activation(network);
  options.released = network.at("outputs").get<Index>();
  switch (options.kind) {
    case MechanismKind::kFinite:
      break;
    case MechanismKind::kGumbel:
      options.temperature = m.at("temperature").get<double>();
      break;
    case MechanismKind::kGaussian:
      options.released = m.at("dims").get<Index>();
      options.full_scale = m.at("scale").get<std::string>() == "full";
      break;
    case MechanismKind::kMixture:
      options.released = m.at("dims").get<Index>();
      options.components = m.at("components").get<Index>();
      break;
    case MechanismKind::kNoiseInput:
      options.noise_inputs = m.at("noise").get<Index>();
      break;
    case MechanismKind::kNoisyCode:
      options.code = options.released;
      options.code_radius = m.at("radius").get<double>();
      options.decoder = hidden(m.at("decoder"));
      options.released = m.at("decoder").at("outputs").get<Index>();
      if (activation(m.at("decoder")) != options.activation) throw std::runtime_error("two activations");
      break;
  }
  return options;
}

PosteriorOptions posterior_options(const Json& links) {
  const Json& first = links.at(0).at("network");
  for (const Json& link : links) {  // one set of options serves every link
    const Json& network = link.at("network");
    if (hidden(network) != hidden(first) || activation(network) != activation(first) ||
        network.at("bias") != first.at("bias")) {
      throw std::runtime_error("links of different shape");
    }
  }
  return {.hidden = hidden(first), .activation = activation(first), .bias = first.at("bias").get<bool>()};
}

BudgetOptions budget_options(const Json& budget) {
  BudgetOptions options;
  options.form = budget_form(budget.at("form").get<std::string>());
  options.limit = budget.value("limit", 0.0);
  if (options.form == BudgetForm::kDual) {
    options.weight = budget.at("rho").get<double>();
    options.dual_rate = budget.at("eta").get<double>();
    if (budget.at("multiplier").get<double>() != 0) throw std::runtime_error("a multiplier starts at 0");
  } else {
    options.weight = budget.at("weight").get<double>();
  }
  return options;
}

GameOptions game_options(const Json& settings) {
  GameOptions options;
  options.mechanism = mechanism_options(settings);
  options.adversary = posterior_options(settings.at("posterior"));
  const auto distortion = settings.at("distortion").at("kind").get<std::string>();
  if (distortion == "error") options.distortion = DistortionKind::kError;
  if (distortion == "squared") options.distortion = DistortionKind::kSquared;
  if (distortion == "pixel-cross-entropy") options.distortion = DistortionKind::kPixelCrossEntropy;
  if (distortion == "mutual-information") {
    options.distortion = DistortionKind::kInformation;
    options.utility = posterior_options(Json::array({settings.at("distortion").at("posterior")}));
  }
  options.budget = budget_options(settings.at("budget"));
  if (const Json& d = settings.at("discriminator"); !d.is_null()) {
    options.discriminator = {.weight = d.at("gamma").get<double>(),
                             .hidden = hidden(d.at("network")),
                             .activation = activation(d.at("network"))};
  }
  const Json& adam = settings.at("adam");
  options.adam = {adam.at("beta1").get<double>(), adam.at("beta2").get<double>(),
                  adam.at("epsilon").get<double>()};
  return options;
}

class Comparison {
 public:
  void number(const std::string& what, double got, double want) {
    ++compared_;
    if (!(std::abs(got - want) <= kTolerance * std::max(1e-3, std::abs(want)))) {
      differences_.push_back(fmt::format("{}: {} instead of {}", what, got, want));
    }
  }
  void vector(const std::string& what, const Vector<double>& got, const Json& want) {
    if (static_cast<std::size_t>(got.size()) != want.size()) {
      differences_.push_back(fmt::format("{}: {} numbers instead of {}", what, got.size(), want.size()));
      return;
    }
    for (Index i = 0; i < got.size(); ++i) {
      number(fmt::format("{}[{}]", what, i), got[i], want[static_cast<std::size_t>(i)].get<double>());
    }
  }
  [[nodiscard]] const std::vector<std::string>& differences() const { return differences_; }
  [[nodiscard]] int compared() const { return compared_; }

 private:
  std::vector<std::string> differences_;
  int compared_ = 0;
};

void set_parameters(Vector<double>& to, const Json& from) {
  if (static_cast<std::size_t>(to.size()) != from.size())
    throw std::runtime_error("parameters of the wrong size");
  for (Index i = 0; i < to.size(); ++i) to[i] = from[static_cast<std::size_t>(i)].get<double>();
}

// `mechanism_sign` -1 makes the mechanism climb its loss: a fault that the comparison must see.
Comparison replay(const Json& game, double mechanism_sign = 1) {
  const Json& settings = game.at("settings");
  const double rate = settings.at("adam").at("alpha").get<double>();
  Match<double> match(game_options(settings), batch_of(game.at("iterations").at(0)));
  const auto players = [&](const auto& visit) {
    visit("mechanism", match.mechanism().parameters());
    visit("adversary", match.adversary().parameters());
    if (match.discriminator()) visit("discriminator", match.discriminator()->parameters());
    if (match.distortion().learner()) visit("utility", match.distortion().learner()->parameters());
  };
  players([&](const char* name, Vector<double>& p) { set_parameters(p, game.at("initial").at(name)); });

  Comparison comparison;
  int number = 0;
  for (const Json& iteration : game.at("iterations")) {
    const Records<double> batch = batch_of(iteration);
    const Json& expected = iteration.at("expected");
    const Json& noise = iteration.at("noise");
    const auto compare = [&](const char* what, double got) {
      comparison.number(fmt::format("iteration {}, {}", number, what), got, expected.at(what).get<double>());
    };
    for (std::size_t s = 0; s < noise.at("adversary").size(); ++s) {
      const Matrix<double> u = matrix(noise.at("adversary")[s]);
      match.draw(batch, u);
      comparison.number(fmt::format("iteration {}, adversary step {}", number, s),
                        match.step_adversary(batch, rate), expected.at("adversary").at(s).get<double>());
    }
    const Matrix<double> further = matrix(noise.at("further"));
    if (match.has_helpers()) match.draw(batch, further);
    if (match.discriminator()) compare("discriminator", match.step_discriminator(batch, rate));
    if (match.distortion().learner()) compare("utility", match.step_utility(batch, rate));
    const Matrix<double> last = matrix(noise.at("mechanism"));
    match.draw(batch, last);
    const StepReport step = match.step_mechanism(batch, mechanism_sign * rate);
    compare("log_likelihood", step.log_likelihood);
    compare("distortion", step.distortion);
    compare("penalty", step.penalty);
    compare("discriminator_release", step.discriminator);
    compare("mechanism", step.loss());
    if (!expected.at("multiplier").is_null()) compare("multiplier", match.budget().multiplier());
    ++number;
  }
  players(
      [&](const char* name, Vector<double>& p) { comparison.vector(name, p, game.at("final").at(name)); });
  return comparison;
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, ReplaysToTheLastDigit) {
  const Json game = load(GetParam());
  const Comparison comparison = replay(game);
  EXPECT_THAT(comparison.differences(), ::testing::IsEmpty());
  EXPECT_GE(comparison.compared(), 6 * game.at("settings").at("iterations").get<int>());
}

// The comparison itself: any expected number that is off by 1e-7 is seen, and only that one.
TEST_P(Golden, SeesEveryExpectationThatIsOff) {
  Json game = load(GetParam());
  Json& expected = game.at("iterations").at(4).at("expected");
  const auto spoil = [&](Json& value, const std::string& what) {
    const Json right = value;
    value = right.get<double>() + 1e-7 * std::max(1.0, std::abs(right.get<double>()));
    EXPECT_EQ(replay(game).differences().size(), 1U) << what;
    value = right;
  };
  for (auto& [what, value] : expected.items()) {
    if (value.is_array()) spoil(value.back(), what);
    if (value.is_number()) spoil(value, what);
  }
  for (auto& [player, parameters] : game.at("final").items()) spoil(parameters.back(), player);
}

TEST_P(Golden, SeesAMechanismThatClimbs) {
  EXPECT_GT(replay(load(GetParam()), -1).differences().size(), 10U);
}

INSTANTIATE_TEST_SUITE_P(EveryFile, Golden, ::testing::ValuesIn(trajectory_names()),
                         [](const auto& file) { return file.param; });

// A file that was lost would otherwise pass unseen.
TEST(GoldenFiles, CoverEveryKindOfPlayer) {
  std::vector<std::string> mechanisms;
  std::vector<std::string> distortions;
  std::vector<std::string> budgets;
  for (const std::string& name : trajectory_names()) {
    const Json settings = load(name).at("settings");
    mechanisms.push_back(settings.at("mechanism").at("kind"));
    distortions.push_back(settings.at("distortion").at("kind"));
    budgets.push_back(settings.at("budget").at("form"));
  }
  using ::testing::IsSupersetOf;
  EXPECT_THAT(mechanisms,
              IsSupersetOf({"finite", "finite-gumbel", "gaussian", "mixture", "noise-input", "noisy-code"}));
  EXPECT_THAT(distortions, IsSupersetOf({"error", "squared", "pixel-cross-entropy", "mutual-information"}));
  EXPECT_THAT(budgets, IsSupersetOf({"weighted", "record", "record-mean", "expected", "dual"}));
}

}  // namespace
}  // namespace ppan
