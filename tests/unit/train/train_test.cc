#include "ppan/train/train.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "games.h"
#include "ppan/core/parallel.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::NamedGame;
using testing::sample;
using testing::World;

TrainOptions short_training(const GameOptions& game, std::uint64_t seed = 1) {
  TrainOptions options{.game = game, .epochs = 3, .batch = 20, .adversary_steps = 2, .seed = seed};
  options.mechanism_rate.rate = 0.01;
  options.adversary_rate.rate = 0.01;
  return options;
}

template <typename Scalar>
void expect_same(const Trained<Scalar>& a, const Trained<Scalar>& b) {
  EXPECT_EQ(a.mechanism->parameters(), b.mechanism->parameters());
  EXPECT_EQ(a.adversary->parameters(), b.adversary->parameters());
  ASSERT_EQ(a.summary.epochs.size(), b.summary.epochs.size());
  for (std::size_t e = 0; e < a.summary.epochs.size(); ++e) {
    EXPECT_EQ(a.summary.epochs[e].mean.loss(), b.summary.epochs[e].mean.loss());
    EXPECT_EQ(a.summary.epochs[e].adversary, b.summary.epochs[e].adversary);
  }
}

class TrainEveryGame : public ::testing::TestWithParam<NamedGame> {};

TEST_P(TrainEveryGame, IsReproducibleBitForBit) {
  const auto records = sample<float>(GetParam().world, 100, 91);
  const TrainOptions options = short_training(GetParam().game);
  const auto first = train(records, options);
  EXPECT_EQ(first.summary.stop, Stop::kEpochLimit);
  EXPECT_TRUE(first.mechanism->parameters().allFinite());
  expect_same(first, train(records, options));
  const auto other = train(records, short_training(GetParam().game, 2));
  EXPECT_NE(first.mechanism->parameters(), other.mechanism->parameters());
  EXPECT_NE(first.adversary->parameters(), other.adversary->parameters());
}

TEST_P(TrainEveryGame, DoesNotDependOnTheNumberOfThreads) {
  const auto records = sample<float>(GetParam().world, 100, 92);
  const auto curve = [&](int threads) {
    std::vector<Trained<float>> points(4);
    parallel_for(4, threads, [&](std::int64_t i) {
      TrainOptions options = short_training(GetParam().game, 7);
      options.game.budget.limit = 0.1 * static_cast<double>(i);
      points[static_cast<std::size_t>(i)] = train(records, options);
    });
    return points;
  };
  const auto one = curve(1);
  const auto two = curve(2);
  for (std::size_t i = 0; i < one.size(); ++i) expect_same(one[i], two[i]);
}

TEST_P(TrainEveryGame, ResumesBitForBit) {
  const auto records = sample<float>(GetParam().world, 100, 94);
  TrainOptions options = short_training(GetParam().game);
  options.epochs = 4;
  options.warm_up = 1;
  options.ramp = 2;
  options.mechanism_rate.decay_from = 0.3;
  std::vector<TrainState<float>> kept;
  TrainStart<float> keeping;
  keeping.checkpoint = [&](const TrainState<float>& state) { kept.push_back(state); };
  const auto whole = train(records, options, {}, std::move(keeping));
  ASSERT_EQ(kept.size(), 4U);
  for (const TrainState<float>& state : kept) {
    TrainStart<float> start;
    start.resume = state;
    const auto rest = train(records, options, {}, std::move(start));
    expect_same(whole, rest);
    EXPECT_EQ(whole.summary.iterations, rest.summary.iterations);
  }
  // A state that has lost something must be noticed by the comparison above.
  TrainStart<float> forgetful;
  forgetful.resume = kept[1];
  forgetful.resume->match.mechanism.adam = {};
  const auto other = train(records, options, {}, std::move(forgetful));
  EXPECT_NE(whole.mechanism->parameters(), other.mechanism->parameters());
}

INSTANTIATE_TEST_SUITE_P(Every, TrainEveryGame, ::testing::ValuesIn(testing::games()),
                         [](const auto& each) { return each.param.name; });

GameOptions scalar_game() {
  return testing::games().front().game;
}

TEST(Train, RefusesAStateOfOtherPlayers) {
  const auto records = sample<float>(World::kGaussian, 100, 95);
  TrainState<float> state;
  TrainStart<float> keeping;
  keeping.checkpoint = [&](const TrainState<float>& now) { state = now; };
  static_cast<void>(train(records, short_training(scalar_game()), {}, std::move(keeping)));
  TrainOptions wider = short_training(scalar_game());
  wider.game.mechanism.hidden = {6};
  TrainStart<float> start;
  start.resume = state;
  try {
    static_cast<void>(train(records, wider, {}, std::move(start)));
    FAIL() << "a state of another shape was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("mechanism has another shape"));
  }
}

TEST(Train, RefusesAStateWithoutTheMemoryOfItsBudget) {
  const auto records = sample<float>(World::kGaussian, 100, 95);
  TrainOptions options = short_training(scalar_game());
  options.game.budget = {.form = BudgetForm::kDual, .limit = 0.3, .memory = 0.5};
  TrainStart<float> keeping;
  TrainState<float> state;
  keeping.checkpoint = [&](const TrainState<float>& now) { state = now; };
  static_cast<void>(train(records, options, {}, std::move(keeping)));
  EXPECT_GT(state.match.running.steps, 0);
  state.match.running = {};
  TrainStart<float> start;
  start.resume = state;
  EXPECT_THROW(static_cast<void>(train(records, options, {}, std::move(start))), Error);
}

// Gaussian noise of a known scale behind a linear mechanism: its distortion over the records is known too.
TEST(Train, MeasuresTheDistortionOfWhatItReturns) {
  const auto records = sample<float>(World::kGaussian, 100, 96);
  TrainOptions options = short_training(scalar_game());
  options.game.mechanism = {.kind = MechanismKind::kGaussian};
  EXPECT_FALSE(train(records, options).summary.distortion.has_value());
  options.final_releases = 200;
  options.batch = 30;  // leaves a remainder, which counts too
  const auto trained = train(records, options);
  const auto mechanism = trained.mechanism->clone(1);
  Draws<float> draws;
  const auto release = [&](float u) {
    const Matrix<float> noise = Matrix<float>::Constant(100, 1, u);
    mechanism->draw(records.observed, noise, draws);
    return Vector<double>(draws.released.col(0).cast<double>());
  };
  const Vector<double> mean = release(0);
  const Vector<double> scale = release(1) - mean;
  const Vector<double> y = records.useful.value.col(0).cast<double>();
  const double exact = (mean - y).squaredNorm() / 100 + scale.squaredNorm() / 100;
  // 20,000 draws of a square: 1 % of it; five times that fails once in a million seeds, and the seed is
  // fixed.
  ASSERT_TRUE(trained.summary.distortion.has_value());
  EXPECT_NEAR(*trained.summary.distortion, exact, 0.05 * exact);
  // Measuring changes nothing that was trained.
  options.final_releases = 0;
  EXPECT_EQ(train(records, options).mechanism->parameters(), trained.mechanism->parameters());
}

TEST(Train, EachSwitchOfTheLoopMatters) {
  const auto records = sample<float>(World::kGaussian, 100, 93);
  const auto base = train(records, short_training(scalar_game()));
  TrainOptions options = short_training(scalar_game());
  options.redraw = false;
  EXPECT_NE(train(records, options).mechanism->parameters(), base.mechanism->parameters());
  options = short_training(scalar_game());
  options.adversary_steps = 3;
  EXPECT_NE(train(records, options).mechanism->parameters(), base.mechanism->parameters());
  options = short_training(scalar_game());
  options.mechanism_rate.decay_from = 0.5;
  EXPECT_NE(train(records, options).mechanism->parameters(), base.mechanism->parameters());
  options = short_training(scalar_game());
  options.adversary_rate.decay_from = 0.5;
  EXPECT_NE(train(records, options).adversary->parameters(), base.adversary->parameters());
}

// New draws mean new noise; where there is none, asking for them changes nothing.
TEST(Train, AFiniteMechanismHasNothingToRedraw) {
  for (const NamedGame& game : testing::games()) {
    const auto records = sample<float>(game.world, 60, 93);
    TrainOptions options = short_training(game.game);
    const auto redrawn = train(records, options);
    options.redraw = false;
    const auto kept = train(records, options);
    SCOPED_TRACE(game.name);
    const bool finite = game.game.mechanism.kind == MechanismKind::kFinite;
    EXPECT_EQ(redrawn.mechanism->noisy(), !finite);
    EXPECT_EQ(redrawn.mechanism->parameters() == kept.mechanism->parameters(), finite);
  }
}

TEST(Train, ObserversAreCalledOncePerEpoch) {
  const auto records = sample<float>(World::kGaussian, 100, 94);
  std::vector<int> seen;
  int others = 0;
  const auto trained = train(records, short_training(scalar_game()),
                             {[&](const EpochReport& report) {
                                seen.push_back(report.epoch);
                                EXPECT_EQ(report.epochs, 3);
                                return Verdict{};
                              },
                              [&](const EpochReport&) {
                                ++others;
                                return Verdict{};
                              }});
  EXPECT_THAT(seen, ElementsAre(1, 2, 3));
  EXPECT_EQ(others, 3);
  EXPECT_EQ(trained.summary.epochs.size(), 3U);
  EXPECT_EQ(trained.summary.iterations, 3 * 5);
  EXPECT_EQ(trained.summary.message, "reached the limit of 3 epochs");
  EXPECT_EQ(to_string(trained.summary.stop), "epoch limit");
}

TEST(Train, AnObserverStopsAndSaysWhy) {
  const auto records = sample<float>(World::kGaussian, 100, 95);
  int after = 0;
  const auto stopped = train(records, short_training(scalar_game()),
                             {[](const EpochReport& report) {
                                return Verdict{report.epoch == 2, "the budget of time is spent"};
                              },
                              [&](const EpochReport&) {
                                ++after;
                                return Verdict{true, "second thoughts"};
                              }});
  EXPECT_EQ(after, 1);  // the first verdict of epoch 1 was the second observer's
  EXPECT_EQ(stopped.summary.stop, Stop::kObserver);
  EXPECT_EQ(stopped.summary.message, "stopped after epoch 1 of 3: second thoughts");
  const auto second = train(records, short_training(scalar_game()), {[](const EpochReport& report) {
                              return Verdict{report.epoch == 2, "the budget of time is spent"};
                            }});
  EXPECT_EQ(second.summary.message, "stopped after epoch 2 of 3: the budget of time is spent");
  EXPECT_EQ(second.summary.epochs.size(), 2U);
  // Watching changes nothing: what was learned is what a training of two epochs learns.
  TrainOptions two = short_training(scalar_game());
  two.epochs = 2;
  expect_same(second, train(records, two));
}

EpochReport report_with_loss(double loss) {
  EpochReport report;
  report.mean.log_likelihood = loss;
  return report;
}

TEST(EarlyStop, WaitsForItsPatience) {
  const Observer observer = early_stop(2, 0.1);
  EXPECT_FALSE(observer(report_with_loss(5)).stop);
  EXPECT_FALSE(observer(report_with_loss(4.95)).stop);  // falls too little: first wait
  EXPECT_FALSE(observer(report_with_loss(4.8)).stop);   // 0.2 below the best: starts again
  EXPECT_FALSE(observer(report_with_loss(6)).stop);
  const Verdict verdict = observer(report_with_loss(4.75));
  EXPECT_TRUE(verdict.stop);
  EXPECT_EQ(verdict.reason, "the loss has not fallen by 0.1 nats for 2 epochs");
}

TEST(EarlyStop, EndsATraining) {
  const auto records = sample<float>(World::kGaussian, 100, 96);
  const auto trained = train(records, short_training(scalar_game()), {early_stop(1, 1e6)});
  EXPECT_EQ(trained.summary.stop, Stop::kObserver);
  EXPECT_EQ(trained.summary.epochs.size(), 2U);
  EXPECT_THAT(trained.summary.message, HasSubstr("the loss has not fallen by 1000000 nats for 1 epochs"));
}

TEST(Train, DivergenceInTheFirstEpochLeavesTheStart) {
  const auto records = sample<float>(World::kGaussian, 100, 97);
  TrainOptions options = short_training(scalar_game());
  options.mechanism_rate.rate = 1e12;
  int observed = 0;
  const auto trained = train(records, options, {[&](const EpochReport&) {
                               ++observed;
                               return Verdict{};
                             }});
  EXPECT_EQ(trained.summary.stop, Stop::kDiverged);
  EXPECT_THAT(trained.summary.message, HasSubstr("diverged in epoch 1"));
  EXPECT_THAT(trained.summary.message, HasSubstr("the state of epoch 0 was kept"));
  EXPECT_EQ(trained.summary.epochs.size(), 1U);
  EXPECT_TRUE(trained.mechanism->parameters().allFinite());
  Match<float> start(options.game, records);
  start.initialise(SeededRandom(options.seed).fork("parameters"));
  EXPECT_EQ(trained.mechanism->parameters(), start.mechanism().parameters());
  EXPECT_EQ(trained.adversary->parameters(), start.adversary().parameters());
  SeededRandom random(1);
  EXPECT_TRUE(trained.mechanism->release(records.observed, random).value.allFinite());
  EXPECT_EQ(observed, 0);  // there is nothing to report about a broken epoch
}

TEST(Train, LaterDivergenceKeepsTheLastGoodEpoch) {
  const auto records = sample<float>(World::kGaussian, 100, 98);
  TrainOptions options = short_training(scalar_game());
  options.epochs = 200;
  options.mechanism_rate.rate = 1e-4;
  // A multiplier that grows by millions with every step takes the loss beyond reason within a few epochs.
  options.game.budget = {.form = BudgetForm::kDual, .limit = 0, .weight = 1, .dual_rate = 5e6};
  const auto diverged = train(records, options);
  ASSERT_EQ(diverged.summary.stop, Stop::kDiverged);
  const auto epochs = static_cast<int>(diverged.summary.epochs.size());
  ASSERT_GT(epochs, 1);
  options.epochs = epochs - 1;
  const auto good = train(records, options);
  ASSERT_EQ(good.summary.stop, Stop::kEpochLimit);
  EXPECT_EQ(diverged.mechanism->parameters(), good.mechanism->parameters());
  EXPECT_EQ(diverged.adversary->parameters(), good.adversary->parameters());
}

TEST(Train, ABatchLargerThanTheRecordsIsAllOfThem) {
  const auto records = sample<float>(World::kGaussian, 15, 99);
  TrainOptions options = short_training(scalar_game());
  const auto trained = train(records, options);
  EXPECT_EQ(trained.summary.given.batch, 20);
  EXPECT_EQ(trained.summary.batch_used, 15);
  EXPECT_EQ(trained.summary.records, 15);
  EXPECT_EQ(trained.summary.iterations, 3);
}

TEST(Train, ARemainderWaitsForAnotherOrder) {
  const auto records = sample<float>(World::kGaussian, 55, 100);
  EXPECT_EQ(train(records, short_training(scalar_game())).summary.iterations, 3 * 2);
}

TEST(Train, WarmUpLeavesTheAdversaryOut) {
  const auto records = sample<float>(World::kGaussian, 100, 101);
  TrainOptions options = short_training(scalar_game());
  TrainOptions other = options;
  other.game.adversary.hidden = {3};
  // Felt, a different adversary gives a different mechanism; unfelt, the same bits. It learns all the same.
  EXPECT_NE(train(records, options).mechanism->parameters(), train(records, other).mechanism->parameters());
  options.warm_up = other.warm_up = 3;
  const auto unfelt = train(records, options);
  EXPECT_EQ(unfelt.mechanism->parameters(), train(records, other).mechanism->parameters());
  EXPECT_GT(unfelt.summary.epochs.back().adversary, unfelt.summary.epochs.front().adversary);
  options.warm_up = 2;  // felt in the last of three epochs
  EXPECT_NE(train(records, options).mechanism->parameters(), unfelt.mechanism->parameters());
}

TEST(Train, RefusesToStartAndSaysEverything) {
  const auto records = sample<float>(World::kGaussian, 10, 102);
  TrainOptions options = short_training(scalar_game());
  options.epochs = 0;
  options.batch = 0;
  options.adversary_steps = 0;
  options.warm_up = -1;
  options.mechanism_rate.rate = -1;
  options.adversary_rate.decay_from = 2;
  options.game.budget.weight = 0;
  std::vector<std::string> fields;
  for (const Problem& p : options.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ElementsAre("game.budget.weight", "epochs", "batch", "adversary_steps", "warm_up",
                                  "mechanism_rate.rate", "adversary_rate.decay_from"));
  EXPECT_THAT(TrainOptions{}.check(), IsEmpty());
  try {
    train(records, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("epochs: 0 is not allowed; it must be at least 1"));
  }
  try {
    train(Records<float>{.sensitive = {Attribute<float>{}}}, short_training(scalar_game()));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  }
}

// Leakage by the correlation of X and Z on fresh records, -1/2 log(1 - r^2), and the distortion.
struct Score {
  double leakage;
  double distortion;
};

Score score(Mechanism<float>& mechanism, std::uint64_t seed) {
  const auto fresh = sample<float>(World::kGaussian, 20'000, seed);
  SeededRandom random(seed + 1);
  const Vector<double> z = mechanism.release(fresh.observed, random).value.col(0).cast<double>();
  const Vector<double> x = fresh.sensitive[0].value.col(0).cast<double>();
  const Vector<double> y = fresh.useful.value.col(0).cast<double>();
  const auto zc = z.array() - z.mean();
  const auto xc = x.array() - x.mean();
  const double r2 = std::pow((zc * xc).sum(), 2) / (zc.square().sum() * xc.square().sum());
  return {-0.5 * std::log1p(-r2), (y - z).squaredNorm() / 20'000};
}

// Scalar Gaussian, correlation 0.85, distortion at most 0.5: unchanged records leak 0.641 nats, the optimum
// 1/2 log 1/(1 - 0.85^2 (1 - 0.5)) = 0.224. A short training must come most of the way, within the budget.
class TrainConverges : public ::testing::TestWithParam<MechanismKind> {};

TEST_P(TrainConverges, TowardsTheOptimumOfTheScalarGaussian) {
  const auto records = sample<float>(World::kGaussian, 4000, 103);
  GameOptions game = scalar_game();
  game.mechanism = {.kind = GetParam(), .hidden = {5, 5}, .components = 2, .code = 1, .decoder = {5}};
  game.budget = {.form = BudgetForm::kExpected, .limit = 0.5, .weight = 10};
  TrainOptions options{.game = game, .epochs = 40, .batch = 200, .adversary_steps = 5};
  options.mechanism_rate.rate = options.adversary_rate.rate = 0.005;
  const auto trained = train(records, options);
  ASSERT_EQ(trained.summary.stop, Stop::kEpochLimit);
  const Score result = score(*trained.mechanism, 104);
  EXPECT_LT(result.leakage, 0.30);
  EXPECT_GT(result.leakage,
            0.15);  // below the optimum means that the budget was broken or the score is wrong
  EXPECT_LT(result.distortion, 0.6);
}

INSTANTIATE_TEST_SUITE_P(Real, TrainConverges,
                         ::testing::Values(MechanismKind::kNoiseInput, MechanismKind::kGaussian,
                                           MechanismKind::kMixture, MechanismKind::kNoisyCode));

// A teacher that is frozen is the same at the end as at the start; one that is not learns.
TEST(Train, ATeacherStaysAsItStarts) {
  const Records<float> records = testing::sample<float>(testing::World::kTask, 60, 5);
  TrainOptions options;
  options.game.mechanism = {
      .kind = MechanismKind::kNoisyCode, .released = 6, .hidden = {5}, .sigmoid_output = true};
  options.game.distortion = DistortionKind::kPixelCrossEntropy;
  options.game.second.price = 1;
  options.epochs = 2;
  options.batch = 20;
  const Vector<float> teacher = Vector<float>::LinSpaced(14, -1, 1);  // 6 pixels and a bias, two classes
  for (const bool frozen : {true, false}) {
    options.game.utility_frozen = frozen;
    TrainStart<float> start;
    start.utility = teacher;
    Vector<float> last;
    start.checkpoint = [&](const TrainState<float>& state) { last = state.match.utility.parameters; };
    const Trained<float> trained = train(records, options, {}, std::move(start));
    EXPECT_EQ(last == teacher, frozen);
    EXPECT_EQ(trained.summary.epochs.back().utility == 0, frozen);
    EXPECT_GT(trained.summary.epochs.back().mean.second, 0);
  }
  TrainStart<float> wrong;
  wrong.utility = teacher.head(13);
  EXPECT_THROW(train(records, options, {}, std::move(wrong)), Error);
}

}  // namespace
}  // namespace ppan
