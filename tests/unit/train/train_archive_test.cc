#include "ppan/train/train_archive.h"

#include <gtest/gtest.h>

#include "ppan/core/random.h"

namespace ppan {
namespace {

class TrainArchive : public ::testing::Test {
 protected:
  void SetUp() override {
    SeededRandom random(1);
    Attribute<float> y;
    y.value.resize(60, 2);
    fill_normal(random, y.value);
    records_.observed = y;
    records_.useful = y;
    records_.sensitive.resize(1);
    records_.sensitive[0].value = y.value.col(0);
    options_.game.mechanism = {.kind = MechanismKind::kNoiseInput, .released = 2, .hidden = {4}};
    options_.game.adversary = {.hidden = {4}, .standardise = true};
    options_.game.budget = {
        .form = BudgetForm::kDual, .limit = 0.3, .weight = 5, .dual_rate = 0.1, .memory = 0.5};
    options_.game.discriminator = {.weight = 1, .hidden = {3}};
    options_.epochs = 3;
    options_.batch = 20;
  }

  Records<float> records_;
  TrainOptions options_;
};

TEST_F(TrainArchive, TrainingGoesOnFromBytesAsIfNothingHadHappened) {
  std::string bytes;
  TrainStart<float> keeping;
  keeping.checkpoint = [&](const TrainState<float>& state) {
    if (state.epochs.size() == 2) bytes = archived(state);
  };
  const auto whole = train(records_, options_, {}, std::move(keeping));
  TrainStart<float> start;
  start.resume = unarchived<TrainState<float>>(bytes);
  const auto rest = train(records_, options_, {}, std::move(start));
  EXPECT_EQ(whole.mechanism->parameters(), rest.mechanism->parameters());
  EXPECT_EQ(whole.adversary->parameters(), rest.adversary->parameters());
  ASSERT_EQ(rest.summary.epochs.size(), 3U);
  EXPECT_EQ(whole.summary.epochs[0].mean.loss(), rest.summary.epochs[0].mean.loss());
  EXPECT_EQ(whole.summary.epochs[2].multiplier, rest.summary.epochs[2].multiplier);
}

TEST_F(TrainArchive, DamageIsNoticed) {
  TrainState<float> state;
  state.match.mechanism.parameters = Vector<float>::Ones(3);
  const std::string bytes = archived(state);
  EXPECT_EQ(unarchived<TrainState<float>>(bytes).match.mechanism.parameters,
            state.match.mechanism.parameters);
  EXPECT_THROW(unarchived<TrainState<float>>(bytes.substr(0, bytes.size() - 4)), Error);
  EXPECT_THROW(unarchived<TrainState<float>>("not a state"), Error);
}

}  // namespace
}  // namespace ppan
