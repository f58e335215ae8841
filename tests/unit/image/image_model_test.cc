#include "ppan/model/image_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/image/image_training.h"
#include "support/drawn_digits.h"

namespace ppan {
namespace {

using testing::drawn_digits;
using ::testing::HasSubstr;

ImageModel random_code_model(const ImageSet& like) {
  const CodeImageOptions options{.encoder = {8}, .decoder = {8}, .code = 3};
  const Index pixels = like.height * like.width;
  const TrainOptions training = code_training(options, pixels, 0.2, 1);
  Attribute<float> shape;
  shape.value.resize(0, pixels);
  const auto mechanism = make_mechanism(training.game.mechanism, shape);
  SeededRandom random(1);
  mechanism->initialise(random);
  return trained_model(like, *mechanism, "point 1");
}

TEST(ImageModel, UnchangedAndConstantDoWhatTheySay) {
  const ImageSet set = drawn_digits(50, 8, 4, 1);
  SeededRandom random(2);
  EXPECT_EQ(release_images(unchanged_model(set), set, random).pixels, set.pixels);
  const ImageSet same = release_images(constant_model(set), set, random);
  for (Index i = 0; i < same.size(); ++i) EXPECT_EQ(same.pixels.row(i), same.pixels.row(0));
  EXPECT_TRUE(same.pixels.row(0).isApprox(set.pixels.colwise().mean(), 1e-5F));
  EXPECT_EQ(same.labels, set.labels);
}

TEST(ImageModel, MixtureSendsEachImageThroughOneComponent) {
  const ImageSet set = drawn_digits(2000, 8, 4, 3);
  ImageModel model = unchanged_model(set);
  model.components.front().weight = 0.25;
  model.components.push_back(constant_model(set).components.front());
  model.components.back().weight = 0.75;
  SeededRandom random(4);
  const ImageSet out = release_images(model, set, random);
  Index unchanged = 0;
  for (Index i = 0; i < set.size(); ++i) {
    const bool same = out.pixels.row(i) == set.pixels.row(i);
    unchanged += same ? 1 : 0;
    if (!same) {
      EXPECT_EQ(out.pixels.row(i), model.components.back().constant.transpose());
    }
  }
  // 500 expected with a deviation of 19: right code fails this less than once in 10,000 seeds.
  EXPECT_NEAR(static_cast<double>(unchanged), 500, 78);
}

TEST(ImageModel, TrainedReleasesAreNewEachTimeAndInRange) {
  const ImageSet set = drawn_digits(1500, 8, 4, 5);  // more than one block
  const ImageModel model = random_code_model(set);
  SeededRandom random(6);
  const ImageSet first = release_images(model, set, random);
  const ImageSet second = release_images(model, set, random);
  EXPECT_NE(first.pixels, second.pixels);
  EXPECT_GE(first.pixels.minCoeff(), 0);
  EXPECT_LE(first.pixels.maxCoeff(), 1);
  SeededRandom again(6);
  EXPECT_EQ(first.pixels, release_images(model, set, again).pixels);
}

TEST(ImageModel, CrossEntropyIsThatOfTheDefinition) {
  Matrix<float> y(2, 2);
  Matrix<float> z(2, 2);
  y << 1, 0, 0.5F, 0.25F;
  z << 0.5F, 0.25F, 0.5F, 1;
  const Vector<double> d = pixel_cross_entropy(y, z);
  EXPECT_NEAR(d[0], 0.5 * (std::log(2.0) - std::log(0.75)), 1e-7);
  EXPECT_NEAR(d[1], 0.5 * (std::log(2.0) - 0.75 * std::log(1e-7)), 1e-5);
  // The least is at z = y, and is the pixels' own entropy.
  EXPECT_NEAR(pixel_cross_entropy(y, y)[0], 0, 1e-6);
}

TEST(ImageModel, SaysEverythingThatIsWrong) {
  const ImageSet set = drawn_digits(10, 8, 4, 7);
  ImageModel model = random_code_model(set);
  model.components.front().weight = 0.5;
  model.components.front().mechanism.released = 63;
  model.height = 0;
  EXPECT_EQ(model.check().size(), 3U);
  ImageModel cut = random_code_model(set);
  cut.components.front().parameters.conservativeResize(10);
  try {
    ImageReleaser releaser(cut);
    FAIL() << "a network with lost parameters was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("10 parameters instead of"));
  }
  SeededRandom random(1);
  EXPECT_THROW(release_images(unchanged_model(set), drawn_digits(3, 9, 4, 1), random), Error);
}

TEST(ImageTraining, SettingsAreChecked) {
  EXPECT_EQ(
      (PaperImageOptions{.noise_inputs = 0, .gamma = -1, .epochs = 0, .batch = 0, .rate = 0}).check().size(),
      5U);
  EXPECT_EQ((CodeImageOptions{.encoder = {}, .code = 0, .radius = 0, .start_epochs = 0}).check().size(), 4U);
  EXPECT_THROW(paper_training({.batch = 0}, 64, 10, 1), Error);
  EXPECT_EQ((PaperImageOptions{.beta1 = 1}).check().size(), 1U);
}

TEST(ImageTraining, MomentumIsThePrintedOneUnlessADiscriminatorPlays) {
  EXPECT_EQ(paper_training({}, 64, 10, 1).game.adam.beta1, 0.9);
  EXPECT_EQ(paper_training({.gamma = 2}, 64, 10, 1).game.adam.beta1, 0.5);
  EXPECT_EQ(paper_training({.gamma = 2, .beta1 = 0.9}, 64, 10, 1).game.adam.beta1, 0.9);
}

}  // namespace
}  // namespace ppan
