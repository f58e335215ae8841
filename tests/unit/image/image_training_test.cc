#include "ppan/image/image_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ppan/core/error.h"
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

struct Seen {
  double belief;          // mean log Q(x|code)
  double squared_length;  // of the centres
};

Seen seen(const Trained<float>& trained, const Records<float>& records) {
  Matrix<float> noise;
  Draws<float> draws;
  SeededRandom random(3);
  trained.mechanism->fill_noise(random, records.rows(), noise);
  trained.mechanism->draw(records.observed, noise, draws);
  return {static_cast<double>(trained.adversary->score(draws.code, false, 1, records.sensitive).mean()),
          static_cast<double>((draws.code - noise).rowwise().squaredNorm().mean())};
}

// Hardly above what the autoencoder costs nothing can be hidden, most of the way to the mean image much.
TEST(NoisyCodeOfImages, HidesWhatTheBudgetAllows) {
  const ImageSet set = drawn_digits(1000, 8, 4, 31);
  const Records<float> records = image_records(set);
  const CodeImageOptions options = small_code();
  const auto start = train(records, code_start_training(options, 64, 1));
  const double open = start.summary.epochs.back().mean.distortion;
  const double mean_image =
      pixel_cross_entropy(set.pixels, set.pixels.colwise().mean().replicate(set.size(), 1)).mean();
  std::vector<double> found;
  for (const double along : {0.02, 0.75}) {
    TrainStart<float> from;
    from.mechanism = start.mechanism->parameters();
    from.multiplier = kCodeMultiplier;
    const auto point = train(records, code_training(options, 64, open + along * (mean_image - open), 2), {},
                             std::move(from));
    found.push_back(seen(point, records).belief);
  }
  EXPECT_GT(found[0], -0.6);  // nearly everything: nothing would be -1.386
  EXPECT_LT(found[1], found[0] - 0.4);
}

TEST(NoisyCodeOfImages, APriceMakesCodesShorter) {
  const Records<float> records = image_records(drawn_digits(500, 8, 4, 34));
  std::vector<double> length;
  for (const double price : {0.0, 0.003, 0.03}) {
    CodeImageOptions options = small_code();
    options.code_weight = price;
    length.push_back(seen(train(records, code_start_training(options, 64, 1)), records).squared_length);
  }
  EXPECT_LT(length[1], 0.9 * length[0]);
  EXPECT_LT(length[2], 0.5 * length[1]);
}

TEST(NoisyCodeOfImages, APointKeepsTheCodeAndGetsANewGate) {
  CodeImageOptions options = small_code();
  const Vector<float> code = Vector<float>::LinSpaced(5000, 0, 1);
  EXPECT_EQ(code_start_parameters(options, 64, code, true, 1), code);
  options.gate = {3};
  // Encoder 64-48-8, decoder 8-48-64, gate 64-3-1.
  const Index kept = 65 * 48 + 49 * 8 + 9 * 48 + 49 * 64;
  const Vector<float> plain = Vector<float>::LinSpaced(kept, 0, 1);
  const Vector<float> first = code_start_parameters(options, 64, plain, false, 1);
  ASSERT_EQ(first.size(), kept + 65 * 3 + 4);
  EXPECT_EQ(first.head(kept), plain);
  EXPECT_EQ(first.tail(1)[0], 2);  // wide open
  Vector<float> sure = first;
  sure.tail(first.size() - kept).setConstant(100);
  const Vector<float> later = code_start_parameters(options, 64, sure, true, 1);
  EXPECT_EQ(later.head(kept), plain);
  EXPECT_LT(later.tail(first.size() - kept).cwiseAbs().maxCoeff(), 1);
  EXPECT_EQ(later.tail(1)[0], 0);  // half open
}

TEST(NoisyCodeOfImages, EveryProblemIsListed) {
  const CodeImageOptions options{.encoder = {}, .code = 0, .radius = 0, .code_weight = -1, .epochs = 0};
  std::vector<std::string> fields;
  for (const Problem& p : options.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ::testing::ElementsAre("encoder", "code", "radius", "code_weight", "epochs"));
  EXPECT_THROW(code_training(options, 64, 0.2, 1), Error);
}

}  // namespace
}  // namespace ppan
