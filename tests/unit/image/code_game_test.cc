#include "ppan/image/code_game.h"

#include <gtest/gtest.h>

#include <optional>

#include "ppan/core/error.h"
#include "ppan/image/image_training.h"
#include "support/drawn_digits.h"

namespace ppan {
namespace {

using testing::drawn_digits;

CodeImageOptions small_code() {
  CodeImageOptions options{.encoder = {48}, .decoder = {48}, .code = 8, .radius = 6, .adversary = {32}};
  options.start_epochs = 15;
  options.start_rate = 0.005;
  options.epochs = 12;
  options.batch = 50;
  options.rate = 0.003;
  return options;
}

double belief(Posterior<float>& adversary, const Matrix<float>& seen, const Records<float>& records) {
  return static_cast<double>(adversary.score(seen, false, 1, records.sensitive).mean());
}

TEST(CodeGame, BothAdversariesLearnAndTheMechanismHidesFromBoth) {
  const ImageSet set = drawn_digits(1000, 8, 4, 31);
  const Records<float> records = image_records(set);
  const CodeImageOptions options = small_code();
  const auto start = train(records, code_start_training(options, 64, 1));
  const double open = start.summary.epochs.back().mean.distortion;
  const double mean_picture =
      pixel_cross_entropy(set.pixels, set.pixels.colwise().mean().replicate(set.size(), 1)).mean();
  // Hardly above what the autoencoder costs nothing can be hidden, most of the way to the mean picture much.
  std::vector<double> found;
  for (const double along : {0.02, 0.75}) {
    TrainStart<float> from;
    from.mechanism = start.mechanism->parameters();
    from.multiplier = kCodeMultiplier;
    TrainedCode code = train_code(
        records, code_training(options, 64, open + along * (mean_picture - open), 2), {}, std::move(from));
    ASSERT_EQ(code.trained.summary.epochs.size(), 12U);
    Matrix<float> noise;
    Draws<float> draws;
    SeededRandom random(3);
    code.trained.mechanism->fill_noise(random, records.rows(), noise);
    code.trained.mechanism->draw(records.observed, noise, draws);
    const double on_code = belief(*code.trained.adversary, draws.code, records);
    const double on_picture = belief(*code.picture, draws.released, records);
    // Of a picture that shows nearly everything both find nearly everything: log 4 is 1.386.
    if (found.empty()) {
      EXPECT_GT(on_code, -0.6);
      EXPECT_GT(on_picture, -0.6);
    }
    found.push_back(std::max(on_code, on_picture));
  }
  EXPECT_LT(found[1], found[0] - 0.4);
}

TEST(CodeGame, GoesOnFromAnEpochBitForBit) {
  const Records<float> records = image_records(drawn_digits(300, 8, 4, 32));
  CodeImageOptions options = small_code();
  options.epochs = 4;
  const TrainOptions train = code_training(options, 64, 0.45, 5);
  std::optional<TrainState<float>> middle;
  TrainStart<float> first;
  first.checkpoint = [&](const TrainState<float>& state) {
    if (state.epochs.size() == 2) middle = state;
  };
  const TrainedCode whole = train_code(records, train, {}, std::move(first));
  ASSERT_TRUE(middle.has_value());
  TrainStart<float> second;
  second.resume = middle;
  const TrainedCode rest = train_code(records, train, {}, std::move(second));
  EXPECT_EQ(whole.trained.mechanism->parameters(), rest.trained.mechanism->parameters());
  EXPECT_EQ(whole.trained.adversary->parameters(), rest.trained.adversary->parameters());
  EXPECT_EQ(whole.picture->parameters(), rest.picture->parameters());
  EXPECT_EQ(rest.trained.summary.epochs.size(), 4U);
}

TEST(CodeGame, RefusesWhatItCannotPlay) {
  const Records<float> records = image_records(drawn_digits(100, 8, 4, 33));
  EXPECT_THROW(train_code(records, paper_training({}, 64, 10, 1)), Error);
  TrainStart<float> other;
  other.mechanism = Vector<float>::Zero(3);
  EXPECT_THROW(train_code(records, code_training(small_code(), 64, 0.4, 1), {}, std::move(other)), Error);
}

}  // namespace
}  // namespace ppan
