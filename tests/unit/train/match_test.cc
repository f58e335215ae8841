#include "ppan/train/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "games.h"
#include "support/gradient_check.h"

namespace ppan {
namespace {

using testing::NamedGame;
using testing::sample;

class MatchOfGame : public ::testing::TestWithParam<NamedGame> {
 protected:
  MatchOfGame() : batch_(sample<double>(GetParam().world, 8, 81)), match_(GetParam().game, batch_) {
    match_.initialise(SeededRandom(82));
    SeededRandom random(83);
    // Off the kinks of ReLU units whose inputs are all 0.
    match_.mechanism().parameters() +=
        0.1 * testing::random_vector(random, match_.mechanism().parameters().size());
    match_.adversary().parameters() +=
        0.1 * testing::random_vector(random, match_.adversary().parameters().size());
    match_.mechanism().fill_noise(random, 8, noise_);
  }

  void expect_gradient() {
    match_.draw(batch_, noise_);
    Vector<double> gradient;
    match_.evaluate_mechanism(batch_, gradient);
    const Vector<double> point = match_.mechanism().parameters();
    Vector<double> unused;
    testing::expect_gradient_matches(
        [&](const Vector<double>& p) {
          match_.mechanism().parameters() = p;
          match_.draw(batch_, noise_);
          const StepReport report = match_.evaluate_mechanism(batch_, unused);
          return felt_ ? report.loss() : report.loss() - report.log_likelihood;
        },
        gradient, point);
    match_.mechanism().parameters() = point;
  }

  Records<double> batch_;
  Match<double> match_;
  Matrix<double> noise_;
  bool felt_ = true;
};

TEST_P(MatchOfGame, LossOfTheMechanismHasItsGradient) {
  expect_gradient();
}

TEST_P(MatchOfGame, LossWithoutTheAdversaryHasItsGradient) {
  felt_ = false;
  match_.feel_adversary(false);
  expect_gradient();
}

TEST_P(MatchOfGame, ObjectiveOfTheAdversaryHasItsGradient) {
  if (GetParam().game.adversary.standardise) return;  // running averages are taken as constants
  match_.draw(batch_, noise_);
  Vector<double> descent;
  match_.evaluate_adversary(batch_, descent);
  Vector<double> unused;
  testing::expect_gradient_matches(
      [&](const Vector<double>& p) {
        match_.adversary().parameters() = p;
        return -match_.evaluate_adversary(batch_, unused);
      },
      descent, Vector<double>(match_.adversary().parameters()));
}

// Many small steps of one player on a fixed batch and fixed noise move its own objective its own way.
TEST_P(MatchOfGame, PlayersMoveTheirOwnWay) {
  match_.draw(batch_, noise_);
  const double adversary_before = match_.step_adversary(batch_, 1e-3);
  const double discriminator_before = match_.step_discriminator(batch_, 1e-3);
  const double utility_before = match_.step_utility(batch_, 1e-3);
  for (int t = 0; t < 100; ++t) {
    match_.step_adversary(batch_, 1e-3);
    match_.step_discriminator(batch_, 1e-3);
    match_.step_utility(batch_, 1e-3);
  }
  EXPECT_GT(match_.step_adversary(batch_, 1e-3), adversary_before);
  if (match_.discriminator()) {
    EXPECT_GT(match_.step_discriminator(batch_, 1e-3), discriminator_before);
  }
  const bool learns = match_.learner() && !GetParam().game.utility_frozen;
  if (learns) {
    EXPECT_GT(match_.step_utility(batch_, 1e-3), utility_before);
  }
  EXPECT_EQ(match_.has_helpers(), match_.discriminator() || learns);
  match_.draw(batch_, noise_);
  // Measured with the multiplier of the first step, which a dual budget moves.
  if (match_.budget().options().form == BudgetForm::kDual) return;
  const double loss_before = match_.step_mechanism(batch_, 1e-3).loss();
  for (int t = 0; t < 100; ++t) {
    match_.draw(batch_, noise_);
    match_.step_mechanism(batch_, 1e-3);
  }
  match_.draw(batch_, noise_);
  EXPECT_LT(match_.step_mechanism(batch_, 1e-3).loss(), loss_before);
}

INSTANTIATE_TEST_SUITE_P(Every, MatchOfGame, ::testing::ValuesIn(testing::games()),
                         [](const auto& each) { return each.param.name; });

TEST(AlphaLoss, IsTheLogLossAtOneAndAProbabilityAtInfinity) {
  const Records<double> batch = sample<double>(testing::World::kDiscrete, 8, 81);
  const auto value_at = [&](double alpha) {
    GameOptions game;
    game.mechanism = {.kind = MechanismKind::kFinite, .released = 4};
    game.distortion = DistortionKind::kError;
    game.alpha = alpha;
    Match<double> match(game, batch);
    match.initialise(SeededRandom(82));
    match.draw(batch, {});
    Vector<double> unused;
    return match.evaluate_adversary(batch, unused);
  };
  EXPECT_NEAR(value_at(1 + 1e-6), value_at(1), 1e-5);
  EXPECT_NEAR(value_at(1e9), value_at(std::numeric_limits<double>::infinity()), 1e-7);
  EXPECT_GT(value_at(std::numeric_limits<double>::infinity()), -1);  // mean Q(x|z) - 1
  EXPECT_LT(value_at(1), value_at(2));                               // log q <= u(q) <= q - 1
  EXPECT_LT(value_at(2), value_at(8));
}

// On the way to its order the players feel a lower one; what is reported is of the order itself.
TEST(AlphaLoss, SharpeningChangesWhatIsFeltAndNotWhatIsReported) {
  const Records<double> batch = sample<double>(testing::World::kDiscrete, 8, 81);
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kFinite, .released = 4};
  game.distortion = DistortionKind::kError;
  const auto gradient_of = [&](double alpha, double share, double& value) {
    game.alpha = alpha;
    Match<double> match(game, batch);
    match.initialise(SeededRandom(82));
    match.sharpen(share);
    match.draw(batch, {});
    Vector<double> descent;
    value = match.evaluate_adversary(batch, descent);
    return descent;
  };
  double whole = 0;
  double other = 0;
  const Vector<double> at_infinity = gradient_of(std::numeric_limits<double>::infinity(), 1, whole);
  // Power 1/2 is order 2, power 0 the log-loss.
  const Vector<double> half = gradient_of(std::numeric_limits<double>::infinity(), 0.5, other);
  EXPECT_DOUBLE_EQ(other, whole);
  EXPECT_TRUE(half.isApprox(gradient_of(2, 1, other)));
  EXPECT_GT((half - at_infinity).norm(), 1e-3 * at_infinity.norm());
  const Vector<double> none = gradient_of(std::numeric_limits<double>::infinity(), 0, other);
  EXPECT_DOUBLE_EQ(other, whole);
  EXPECT_TRUE(none.isApprox(gradient_of(1, 1, other)));
}

// Where everything is finite and both players are tables, sums over the records of a symbol are taken first.
// A bias of 0 leaves the adversary what it is, but no table: the same game the long way.
TEST(SymbolGame, GivesWhatTheLongWayGives) {
  SeededRandom random(84);
  struct Case {
    std::int32_t observed, sensitive, useful;
    Index released;
    double alpha, share;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const Case& c : {Case{3, 2, 3, 3, 1, 1}, Case{10, 10, 10, 10, 1, 1}, Case{40, 9, 5, 7, 2, 1},
                        Case{6, 17, 33, 35, 8, 0.4}, Case{8, 8, 8, 8, kInfinity, 1}}) {
    SCOPED_TRACE(c.released);
    const Records<double> batch{testing::random_finite(random, 60, c.observed),
                                {testing::random_finite(random, 60, c.sensitive)},
                                testing::random_finite(random, 60, c.useful)};
    const Matrix<double> d = testing::random_matrix(random, c.useful, c.released).cwiseAbs();
    GameOptions game;
    game.mechanism = {.kind = MechanismKind::kFinite, .released = c.released};
    game.distortion = DistortionKind::kError;
    game.budget = {.form = BudgetForm::kDual, .limit = 0.1, .weight = 3};
    game.alpha = c.alpha;
    game.adversary.bias = false;
    Match<double> tables(game, batch, make_matrix_distortion<double>(d));
    game.adversary.bias = true;
    Match<double> plain(game, batch, make_matrix_distortion<double>(d));
    tables.initialise(SeededRandom(85));
    const Index weights = tables.adversary().parameters().size();
    ASSERT_GT(plain.adversary().parameters().size(), weights);
    plain.mechanism().parameters() = tables.mechanism().parameters();
    plain.adversary().parameters().setZero();
    plain.adversary().parameters().head(weights) = tables.adversary().parameters();
    std::array<Vector<double>, 2> adversary;
    std::array<Vector<double>, 2> mechanism;
    std::array<double, 2> utility{};
    std::array<double, 2> distortion{};
    std::array<StepReport, 2> report;
    std::size_t i = 0;
    for (Match<double>* match : {&tables, &plain}) {
      match->sharpen(c.share);
      match->feel_adversary(0.7);
      match->set_multiplier(0.4);
      match->draw(batch, {});
      utility[i] = match->evaluate_adversary(batch, adversary[i]);
      report[i] = match->evaluate_mechanism(batch, mechanism[i]);
      distortion[i] = match->measure_distortion(batch);
      ++i;
    }
    EXPECT_NEAR(utility[0], utility[1], 1e-13);
    EXPECT_TRUE(adversary[0].isApprox(adversary[1].head(weights), 1e-12));
    EXPECT_NEAR(report[0].log_likelihood, report[1].log_likelihood, 1e-13);
    EXPECT_NEAR(report[0].distortion, report[1].distortion, 1e-13);
    EXPECT_NEAR(report[0].penalty, report[1].penalty, 1e-12);
    EXPECT_NEAR(distortion[0], distortion[1], 1e-13);
    EXPECT_TRUE(mechanism[0].isApprox(mechanism[1], 1e-12));
  }
}

TEST(AlphaLoss, NeedsAFiniteSecretAndAnOrderOfAtLeastOne) {
  GameOptions game;
  game.alpha = 2;
  EXPECT_THROW(Match<float>(game, sample<float>(testing::World::kGaussian, 4, 1)), Error);
  game.alpha = 0.5;
  ASSERT_EQ(game.check().size(), 1U);
  EXPECT_EQ(game.check().front().field, "alpha");
}

TEST(GameOptions, EveryProblemIsListed) {
  GameOptions options;
  options.mechanism = {.kind = MechanismKind::kNoiseInput, .draws = 0, .noise_inputs = 0};
  options.adversary.hidden = {0};
  options.budget.weight = -1;
  options.discriminator.weight = -2;
  options.code_weight = -3;
  options.adam.beta1 = 1;
  options.distortion = DistortionKind::kError;
  std::vector<std::string> fields;
  for (const Problem& p : options.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ::testing::ElementsAre("mechanism.draws", "mechanism.noise_inputs", "adversary.hidden",
                                             "budget.weight", "discriminator.weight", "adam.beta1",
                                             "distortion", "code_weight"));
  EXPECT_THROW(Match<float>(options, sample<float>(testing::World::kGaussian, 4, 1)), Error);
}

TEST(SecondDistortion, IsPaidForBesideTheFirst) {
  const Records<double> batch = sample<double>(testing::World::kTask, 8, 81);
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kNoisyCode, .released = 6, .hidden = {5}, .sigmoid_output = true};
  game.distortion = DistortionKind::kPixelCrossEntropy;
  SeededRandom random(84);
  const auto noise = testing::random_matrix(random, 8, game.mechanism.code);
  const auto report_of = [&](double price) {
    game.second.price = price;
    Match<double> match(game, batch);
    match.initialise(SeededRandom(82));
    match.draw(batch, noise);
    Vector<double> unused;
    return match.evaluate_mechanism(batch, unused);
  };
  const StepReport without = report_of(0);
  const StepReport once = report_of(1);
  const StepReport twice = report_of(2);
  EXPECT_EQ(without.second, 0);
  EXPECT_GT(once.second, 0.1);  // a linear Q' of random weights knows little of two classes
  EXPECT_NEAR(twice.second, 2 * once.second, 1e-12);
  EXPECT_NEAR(twice.loss() - without.loss(), twice.second, 1e-12);
}

TEST(SecondDistortion, NeedsItsAttributeAndAnotherKind) {
  GameOptions game;
  game.mechanism = {.kind = MechanismKind::kNoisyCode, .released = 6, .sigmoid_output = true};
  game.distortion = DistortionKind::kPixelCrossEntropy;
  game.second.price = 1;
  EXPECT_NO_THROW(Match<float>(game, sample<float>(testing::World::kTask, 4, 1)));
  EXPECT_THROW(Match<float>(game, sample<float>(testing::World::kImages, 4, 1)), Error);
  game.mechanism.gate = {3};
  game.second = {.kind = DistortionKind::kPixelCrossEntropy, .price = -1};
  ASSERT_EQ(game.check().size(), 1U);
  EXPECT_EQ(game.check().front().field, "second.price");
  game.second.price = 1;
  std::vector<std::string> fields;
  for (const Problem& p : game.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ::testing::ElementsAre("second.kind", "mechanism.gate"));
}

TEST(GameOptions, PartsThatDoNotFitAreRefused) {
  const auto problems = [](MechanismKind kind, DistortionKind distortion, double gamma) {
    GameOptions options;
    options.mechanism = {.kind = kind, .released = 3};
    options.distortion = distortion;
    options.discriminator.weight = gamma;
    return options.check().size();
  };
  using M = MechanismKind;
  using D = DistortionKind;
  EXPECT_EQ(problems(M::kFinite, D::kError, 0), 0U);
  EXPECT_EQ(problems(M::kFinite, D::kInformation, 0), 0U);
  EXPECT_EQ(problems(M::kFinite, D::kSquared, 0), 1U);
  EXPECT_EQ(problems(M::kGumbel, D::kError, 1), 1U);
  EXPECT_EQ(problems(M::kGaussian, D::kError, 0), 1U);
  EXPECT_EQ(problems(M::kNoiseInput, D::kPixelCrossEntropy, 0), 1U);  // without sigmoid_output
  EXPECT_EQ(problems(M::kNoiseInput, D::kSquared, 2), 0U);
  GameOptions without_code;
  without_code.mechanism = {.kind = M::kNoiseInput, .released = 3};
  without_code.code_weight = 0.1;
  EXPECT_EQ(without_code.check().size(), 1U);
  GameOptions gated;
  gated.mechanism = {.kind = M::kNoisyCode, .released = 3, .gate = {3}};
  EXPECT_EQ(gated.check().size(), 0U);
  gated.discriminator.weight = 1;
  EXPECT_EQ(gated.check().size(), 1U);
  gated.discriminator.weight = 0;
  gated.distortion = D::kInformation;
  EXPECT_EQ(gated.check().size(), 1U);
}

}  // namespace
}  // namespace ppan
