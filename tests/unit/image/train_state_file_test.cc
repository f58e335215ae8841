#include "ppan/image/train_state_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ppan/core/file.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

class TrainStateFile : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::path(::testing::TempDir()) / "train_state_file_test";
    std::filesystem::create_directories(directory_);
    path_ = directory_ / "point.training";
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
  void TearDown() override { std::filesystem::remove_all(directory_); }

  std::filesystem::path directory_;
  std::filesystem::path path_;
  Records<float> records_;
  TrainOptions options_;
};

TEST_F(TrainStateFile, TrainingGoesOnFromAFileAsIfNothingHadHappened) {
  TrainStart<float> keeping;
  keeping.checkpoint = [&](const TrainState<float>& state) {
    if (state.epochs.size() == 2) write_train_state(path_, state, "settings A");
  };
  const auto whole = train(records_, options_, {}, std::move(keeping));
  TrainStart<float> start;
  start.resume = read_train_state(path_, "settings A");
  const auto rest = train(records_, options_, {}, std::move(start));
  EXPECT_EQ(whole.mechanism->parameters(), rest.mechanism->parameters());
  EXPECT_EQ(whole.adversary->parameters(), rest.adversary->parameters());
  ASSERT_EQ(rest.summary.epochs.size(), 3U);
  EXPECT_EQ(whole.summary.epochs[0].mean.loss(), rest.summary.epochs[0].mean.loss());
  EXPECT_EQ(whole.summary.epochs[2].multiplier, rest.summary.epochs[2].multiplier);
}

TEST_F(TrainStateFile, OtherSettingsAreRefusedAndShown) {
  TrainState<float> state;
  state.match.mechanism.parameters = Vector<float>::Ones(3);
  state.match.adversary.parameters = Vector<float>::Ones(2);
  write_train_state(path_, state, "settings A");
  try {
    static_cast<void>(read_train_state(path_, "settings B"));
    FAIL() << "a state of other settings was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("settings A"));
    EXPECT_THAT(error.what(), HasSubstr("settings B"));
  }
}

TEST_F(TrainStateFile, DamageIsNoticed) {
  TrainState<float> state;
  state.match.mechanism.parameters = Vector<float>::Ones(3);
  write_train_state(path_, state, "settings");
  const std::string bytes = read_file(path_);
  write_file(path_, bytes.substr(0, bytes.size() - 4));
  EXPECT_THROW(static_cast<void>(read_train_state(path_, "settings")), Error);
  write_file(path_, "not a state");
  EXPECT_THROW(static_cast<void>(read_train_state(path_, "settings")), Error);
}

}  // namespace
}  // namespace ppan
