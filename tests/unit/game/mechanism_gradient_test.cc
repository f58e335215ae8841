// Every mechanism against central differences: a random linear functional of everything it hands on (what is
// released, its logits, what the adversary sees, the weights) must have the gradient that backward() gives.

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "ppan/game/mechanism.h"
#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::random_matrix;
using testing::random_vector;

constexpr Index kRecords = 5;

struct Case {
  std::string name;
  MechanismOptions options;
  bool finite_observed = false;
};
void PrintTo(const Case& each, std::ostream* out) {
  *out << each.name;
}

std::vector<Case> cases() {
  using K = MechanismKind;
  constexpr auto kTanh = Activation::kTanh;
  std::vector<Case> all{
      {"finite_table", {.kind = K::kFinite, .released = 3}, true},
      {"finite_network_real", {.kind = K::kFinite, .released = 3, .hidden = {4}, .activation = kTanh}},
      {"finite_network_finite", {.kind = K::kFinite, .released = 3, .hidden = {4, 3}}, true},
      {"finite_linear_real", {.kind = K::kFinite, .released = 2}},
      {"gumbel_table", {.kind = K::kGumbel, .released = 3, .temperature = 0.7}, true},
      {"gumbel_network", {.kind = K::kGumbel, .released = 3, .hidden = {4}, .activation = kTanh, .draws = 3}},
      {"gumbel_network_finite", {.kind = K::kGumbel, .released = 4, .hidden = {3}, .draws = 2}, true},
      {"gaussian_diagonal", {.kind = K::kGaussian, .released = 3, .hidden = {4}, .full_scale = false}},
      {"gaussian_full", {.kind = K::kGaussian, .released = 3, .hidden = {4}, .activation = kTanh}},
      {"gaussian_full_draws", {.kind = K::kGaussian, .released = 2, .hidden = {4}, .draws = 3}},
      {"gaussian_finite", {.kind = K::kGaussian, .released = 2, .draws = 2, .full_scale = false}, true},
      {"mixture", {.kind = K::kMixture, .released = 2, .hidden = {4}, .activation = kTanh, .components = 3}},
      {"mixture_finite", {.kind = K::kMixture, .released = 1, .components = 2}, true},
      {"mixture_full",
       {.kind = K::kMixture,
        .released = 3,
        .hidden = {4},
        .activation = kTanh,
        .components = 2,
        .full_components = true}},
      {"noise_input", {.kind = K::kNoiseInput, .released = 2, .hidden = {5, 4}, .noise_inputs = 2}},
      {"noise_input_draws",
       {.kind = K::kNoiseInput,
        .released = 2,
        .hidden = {5},
        .activation = kTanh,
        .draws = 3,
        .noise_inputs = 2}},
      {"noise_input_normal", {.kind = K::kNoiseInput, .hidden = {5}, .noise = NoiseKind::kNormal}},
      {"noise_input_finite", {.kind = K::kNoiseInput, .hidden = {5}, .draws = 2}, true},
      {"noise_input_sigmoid", {.kind = K::kNoiseInput, .released = 3, .hidden = {4}, .sigmoid_output = true}},
      {"noise_input_sigmoid_draws",
       {.kind = K::kNoiseInput, .released = 3, .hidden = {4}, .draws = 3, .sigmoid_output = true}},
      {"noise_input_skip",
       {.kind = K::kNoiseInput, .released = 2, .hidden = {4}, .skip = true, .draws = 2, .noise_inputs = 2}},
      {"gaussian_skip", {.kind = K::kGaussian, .released = 2, .hidden = {4}, .skip = true}},
      {"mixture_skip", {.kind = K::kMixture, .released = 2, .hidden = {4}, .skip = true, .components = 2}},
      {"noisy_code_skip",
       {.kind = K::kNoisyCode,
        .released = 3,
        .hidden = {4},
        .skip = true,
        .draws = 2,
        .code = 2,
        .decoder = {3}}},
      {"noisy_code", {.kind = K::kNoisyCode, .released = 3, .hidden = {4}, .code = 2, .code_radius = 1.5}},
      {"noisy_code_decoder",
       {.kind = K::kNoisyCode, .released = 3, .hidden = {4}, .activation = kTanh, .code = 2, .decoder = {5}}},
      {"noisy_code_draws",
       {.kind = K::kNoisyCode, .released = 2, .hidden = {4}, .draws = 3, .code = 2, .decoder = {3}}},
      {"noisy_code_finite", {.kind = K::kNoisyCode, .released = 2, .draws = 2, .code = 3}, true},
      {"noisy_code_sigmoid",
       {.kind = K::kNoisyCode,
        .released = 3,
        .hidden = {4},
        .code = 2,
        .decoder = {4},
        .sigmoid_output = true}},
      {"noisy_code_sigmoid_draws",
       {.kind = K::kNoisyCode, .released = 3, .hidden = {4}, .draws = 2, .code = 2, .sigmoid_output = true}},
      {"noisy_code_gate",
       {.kind = K::kNoisyCode, .released = 2, .hidden = {4}, .code = 2, .decoder = {3}, .gate = {4}}},
      {"noisy_code_gate_draws",
       {.kind = K::kNoisyCode,
        .released = 2,
        .hidden = {4},
        .activation = kTanh,
        .draws = 3,
        .code = 2,
        .gate = {4, 3},
        .sigmoid_output = true}},
  };
  return all;
}

enum Channel : unsigned { kReleased = 1, kLogit = 2, kSeen = 4, kWeight = 8, kEvery = 15 };

class MechanismGradient : public ::testing::TestWithParam<Case> {
 protected:
  MechanismGradient() {
    SeededRandom random(21);
    const Case& c = GetParam();
    observed_ = c.finite_observed ? testing::random_finite(random, kRecords, 4)
                                  : testing::random_real(random, kRecords, 2);
    mechanism_ = make_mechanism<double>(c.options, observed_);
    mechanism_->initialise(random);
    // Biases too: a unit exactly on the kink of a ReLU has no derivative.
    mechanism_->parameters() += 0.3 * random_vector(random, mechanism_->parameters().size());
    mechanism_->fill_noise(random, kRecords, noise_);
    Draws<double> draws;
    mechanism_->draw(observed_, noise_, draws);
    released_ = random_matrix(random, draws.released.rows(), draws.released.cols());
    logit_ = random_matrix(random, draws.logit.rows(), draws.logit.cols());
    seen_ = random_matrix(random, draws.seen().rows(), draws.seen().cols());
    weight_ = random_matrix(random, draws.weight.rows(), draws.weight.cols());
  }

  // Channels that exist for this mechanism: symbols of an alphabet do not move, equal weights neither.
  [[nodiscard]] unsigned available() {
    Draws<double> draws;
    mechanism_->draw(observed_, noise_, draws);
    return (draws.shared ? 0U : kReleased | kSeen) | (draws.has_logit ? kLogit : 0U) |
           (draws.weights_learned ? kWeight : 0U);
  }

  double functional(unsigned channels) {
    Draws<double> draws;
    mechanism_->draw(observed_, noise_, draws);
    double value = 0;
    if (channels & kReleased) value += draws.released.cwiseProduct(released_).sum();
    if (channels & kLogit) value += draws.logit.cwiseProduct(logit_).sum();
    if (channels & kSeen) value += draws.seen().cwiseProduct(seen_).sum();
    if (channels & kWeight) value += draws.weight.cwiseProduct(weight_).sum();
    return value;
  }

  void expect_gradient(unsigned channels) {
    SCOPED_TRACE("channels " + std::to_string(channels));
    Draws<double> draws;
    mechanism_->draw(observed_, noise_, draws);
    DrawsGradient<double> gradient;
    gradient.has_released = (channels & kReleased) != 0;
    gradient.has_logit = (channels & kLogit) != 0;
    gradient.has_seen = (channels & kSeen) != 0;
    gradient.released = released_;
    gradient.logit = logit_;
    gradient.seen = seen_;
    gradient.weight = channels & kWeight ? weight_ : Matrix<double>::Zero(weight_.rows(), weight_.cols());
    Vector<double> analytic;
    mechanism_->backward(observed_, noise_, draws, gradient, analytic);
    const Vector<double> point = mechanism_->parameters();
    testing::expect_gradient_matches(
        [&](const Vector<double>& p) {
          mechanism_->parameters() = p;
          return functional(channels);
        },
        analytic, point);
    mechanism_->parameters() = point;
  }

  Attribute<double> observed_;
  std::unique_ptr<Mechanism<double>> mechanism_;
  Matrix<double> noise_;
  Matrix<double> released_;
  Matrix<double> logit_;
  Matrix<double> seen_;
  Matrix<double> weight_;
};

TEST_P(MechanismGradient, MatchesDifferencesThroughEveryChannel) {
  const unsigned there = available();
  ASSERT_NE(there, 0U);
  for (const unsigned channel : {kReleased, kLogit, kSeen, kWeight, kEvery}) {
    if ((channel & there) != 0) expect_gradient(channel & there);
  }
  if ((there & kReleased) != 0 && (there & kLogit) != 0) expect_gradient(kReleased | kLogit);
}

TEST_P(MechanismGradient, WeightsOfARecordSumToOneOrWhatItsGateSays) {
  Draws<double> draws;
  mechanism_->draw(observed_, noise_, draws);
  ASSERT_EQ(draws.weight.rows(), kRecords);
  ASSERT_EQ(draws.weight.cols(), draws.per_record);
  const Vector<double> sum = draws.weight.rowwise().sum();
  if (draws.rest_unchanged) {
    EXPECT_GT(sum.minCoeff(), 0);
    EXPECT_LT(sum.maxCoeff(), 1);
  } else {
    EXPECT_LT((sum.array() - 1).abs().maxCoeff(), 1e-14);
  }
  EXPECT_EQ(draws.released.rows(), draws.shared ? draws.per_record : draws.per_record * kRecords);
  EXPECT_EQ(draws.released.cols(), GetParam().options.released);
  EXPECT_EQ(draws.seen().cols(), mechanism_->seen_width());
}

// A clone draws from the same distribution.
TEST_P(MechanismGradient, CloneKeepsParametersAndChangesTheNumberOfDraws) {
  const auto copy = mechanism_->clone(4);
  EXPECT_EQ(copy->parameters(), mechanism_->parameters());
  SeededRandom random(22);
  Matrix<double> noise;
  copy->fill_noise(random, kRecords, noise);
  Draws<double> draws;
  copy->draw(observed_, noise, draws);
  const MechanismKind kind = GetParam().options.kind;
  if (kind == MechanismKind::kFinite) {
    EXPECT_EQ(draws.per_record, GetParam().options.released);
  } else if (kind == MechanismKind::kMixture) {
    EXPECT_EQ(draws.per_record, GetParam().options.components);
  } else {
    EXPECT_EQ(draws.per_record, 4);
    // Draw j of record i is what a single draw with that noise gives.
    const auto once = mechanism_->clone(1);
    const Matrix<double> third = noise.middleRows(2 * kRecords, kRecords);
    Draws<double> single;
    once->draw(observed_, third, single);
    EXPECT_LT((draws.released.middleRows(2 * kRecords, kRecords) - single.released).cwiseAbs().maxCoeff(),
              1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, MechanismGradient, ::testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace ppan
