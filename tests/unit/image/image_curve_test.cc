#include "ppan/image/image_curve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "ppan/core/error.h"
#include "ppan/engine/engine.h"
#include "support/drawn_digits.h"

namespace ppan {
namespace {

using testing::drawn_digits;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A training that takes a second or two and still learns what it is about.
ImageCurveOptions small_run(ImageMethod method) {
  ImageCurveOptions options{.method = method, .epochs = 12, .threads = 1};
  options.paper.hidden = {40};
  options.paper.noise_inputs = 4;
  options.paper.adversary = {40};
  options.paper.discriminator = {20};
  options.paper.batch = 50;
  options.paper.rate = 0.003;
  options.code = {.encoder = {48}, .decoder = {48}, .code = 8, .radius = 6, .adversary = {32}};
  options.code.start_epochs = 20;
  options.code.start_rate = 0.005;
  options.code.batch = 50;
  options.code.adversary_steps = 3;
  options.code.rate = 0.003;
  options.attack.networks = {{{64}}};
  options.attack.code = {64};
  options.attack.tree_images = 0;
  options.attack.epochs = 6;
  options.attack.batch = 50;
  options.attack.rate = 0.004;
  options.bound_images = 400;
  return options;
}

ImageSplit small_data() {
  return {.train = drawn_digits(1500, 8, 4, 21), .test = drawn_digits(500, 8, 4, 22)};
}

// A budget so far on the way from unchanged to the mean image.
double budget_along(const ImageSplit& data, double along) {
  const Matrix<float>& y = data.test.pixels;
  const Eigen::RowVectorXf mean = data.train.pixels.colwise().mean();
  const double unchanged = pixel_cross_entropy(y, y).mean();
  const double constant = pixel_cross_entropy(y, mean.replicate(y.rows(), 1)).mean();
  return unchanged + along * (constant - unchanged);
}

TEST(ImagePlan, WeightsOfThePaperFallFromItsFirstToItsLast) {
  const auto plain = image_targets({.method = ImageMethod::kPaper});
  ASSERT_EQ(plain.size(), 6U);
  EXPECT_EQ(plain.front(), 35);
  EXPECT_EQ(plain.back(), 8);
  const auto judged = image_targets({.method = ImageMethod::kPaper, .points = 3, .paper = {.gamma = 2}});
  EXPECT_THAT(judged, ElementsAre(15, 5.48, 2));
  EXPECT_THAT(image_targets({.targets = {0.2, 0.1}}), ElementsAre(0.2, 0.1));
  EXPECT_EQ(image_targets({.points = 5}).size(), 5U);
}

TEST(ImagePlan, FingerprintChangesWithWhatDecidesTheTrainingAndNothingElse) {
  const ImageSplit data = small_data();
  const ImageCurveOptions base = small_run(ImageMethod::kCode);
  const std::string text = image_fingerprint(base, data);
  EXPECT_EQ(text, image_fingerprint(base, data));
  ImageCurveOptions attacked = base;
  attacked.attack.epochs = 9;
  attacked.threads = 2;
  EXPECT_EQ(text, image_fingerprint(attacked, data));
  ImageCurveOptions other = base;
  other.code.code = 9;
  EXPECT_NE(text, image_fingerprint(other, data));
  other = base;
  other.seed = 2;
  EXPECT_NE(text, image_fingerprint(other, data));
  ImageSplit changed = data;
  changed.train.pixels(3, 5) += 0.125F;
  EXPECT_NE(text, image_fingerprint(base, changed));
}

TEST(ImagePlan, NamesEveryProblem) {
  const ImageCurveOptions bad{
      .targets = {0.1, -1}, .points = 3, .epochs = 0, .train = -1, .paper = {.gamma = 2, .beta1 = 1}};
  EXPECT_EQ(bad.check().size(), 6U);
  EXPECT_THROW(image_curve(small_data(), bad), Error);
}

TEST(ImageCurve, NoisyCodeHidesMoreAtLooserBudgetsAndHoldsAgainstFreshAttackers) {
  const ImageSplit data = small_data();
  ImageCurveOptions options = small_run(ImageMethod::kCode);
  options.targets = {budget_along(data, 1.0 / 3), budget_along(data, 2.0 / 3)};
  const ImageCurveResult result = image_curve(data, options);
  ASSERT_EQ(result.points.size(), 2U);
  EXPECT_NEAR(result.entropy, std::log(4.0), 0.01);
  EXPECT_LT(result.unchanged_distortion, result.constant_distortion);
  EXPECT_DOUBLE_EQ(result.time_sharing(result.constant_distortion), 0);
  EXPECT_DOUBLE_EQ(result.time_sharing(result.unchanged_distortion), result.entropy);
  for (const ImagePoint& p : result.points) {
    EXPECT_NEAR(p.measure.distortion, p.target, 0.03);
    EXPECT_FALSE(p.measure.upper.empty());
    EXPECT_TRUE(p.measure.attack.code.has_value());
    // A finding cannot be above an upper bound, but by the noise of 350 and 500 images.
    EXPECT_LT(p.measure.attack.strongest().leakage.nats, p.measure.upper.front().nats + 0.1);
  }
  EXPECT_LT(result.points[1].measure.attack.strongest().leakage.nats,
            result.points[0].measure.attack.strongest().leakage.nats);
  // Far below the coin toss between the image and the mean, and believed to be so. Seen: 0.54 and 0.10 nats
  // where time-sharing leaks 0.92 and 0.46.
  for (const ImagePoint& p : result.points) {
    const double found = p.measure.attack.strongest().leakage.nats;
    EXPECT_LT(found, 0.8 * result.time_sharing(p.measure.distortion));
    EXPECT_LT(found, p.measure.belief + 0.1);
  }
  EXPECT_EQ(result.servable().size(), 4U);
  const ImageMeasure& last = result.points[1].measure;
  EXPECT_NEAR(result.share_of_time_sharing(last.distortion).value(),
              last.attack.strongest().leakage.nats / result.time_sharing(last.distortion), 1e-12);
  EXPECT_DOUBLE_EQ(result.share_of_time_sharing(result.unchanged_distortion).value(), 1);
  EXPECT_FALSE(result.share_of_time_sharing(result.constant_distortion).has_value());
}

// Of the same budgets, a gate makes more where they are tight: hiding images that are cheap to hide,
// instead of hiding all of them a little.
TEST(ImageCurve, AGateHidesMoreAtATightBudget) {
  const ImageSplit data = small_data();
  ImageCurveOptions options = small_run(ImageMethod::kCode);
  options.targets = {budget_along(data, 0.25), budget_along(data, 0.5)};
  const ImageCurveResult plain = image_curve(data, options);
  options.code.gate = {16};
  const ImageCurveResult gated = image_curve(data, options);
  ASSERT_EQ(gated.points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    const ImageMeasure& m = gated.points[i].measure;
    EXPECT_NEAR(m.distortion, options.targets[i], 0.03);
    EXPECT_EQ(plain.points[i].measure.unchanged, 0);
    ASSERT_FALSE(m.upper.empty());
    EXPECT_LT(m.attack.strongest().leakage.nats, m.upper.front().nats + 0.1);
    EXPECT_LT(m.attack.strongest().leakage.nats, m.belief + 0.1);
  }
  EXPECT_GT(gated.points[0].measure.unchanged, gated.points[1].measure.unchanged);
  EXPECT_LT(gated.points[0].measure.attack.strongest().leakage.nats,
            plain.points[0].measure.attack.strongest().leakage.nats);
}

TEST(ImageCurve, PapersMechanismRunsWithADiscriminatorAndDoesNotDependOnThreads) {
  const ImageSplit data = small_data();
  ImageCurveOptions options = small_run(ImageMethod::kPaper);
  options.epochs = 3;
  options.paper.gamma = 2;
  options.targets = {15, 3};
  const ImageCurveResult one = image_curve(data, options);
  options.threads = 2;
  const ImageCurveResult two = image_curve(data, options);
  ASSERT_EQ(one.points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(one.points[i].measure.distortion, two.points[i].measure.distortion);
    EXPECT_EQ(one.points[i].measure.attack.strongest().leakage.nats,
              two.points[i].measure.attack.strongest().leakage.nats);
    EXPECT_TRUE(one.points[i].measure.upper.empty());
  }
  EXPECT_LT(one.points[0].measure.distortion, one.points[1].measure.distortion);
}

TEST(ImageCurve, GoesOnFromItsStoreAfterAStop) {
  const ImageSplit data = small_data();
  ImageCurveOptions options = small_run(ImageMethod::kCode);
  options.epochs = 4;
  options.code.start_epochs = 4;
  options.targets = {0.42, 0.5};
  const ImageCurveResult whole = image_curve(data, options);

  const auto directory = std::filesystem::path(::testing::TempDir()) / "image_curve_test";
  std::filesystem::remove_all(directory);
  ImageCurveHooks hooks;
  int epochs = 0;
  hooks.epoch = [&](Index, const EpochReport&, double) { ++epochs; };
  hooks.interrupted = [&] { return epochs >= 6; };  // in the second epoch of the first point
  Store store(directory, "this run");
  const EngineOptions engine{.threads = 1};
  {
    ImageDomain domain(data, options, hooks, "this run");
    const ImageCurveResult part = domain.finish(make_pieces(domain, &store, engine).pieces);
    EXPECT_TRUE(part.interrupted);
    EXPECT_TRUE(part.points.empty());
  }
  hooks.interrupted = nullptr;
  epochs = 0;
  ImageDomain domain(data, options, hooks, "this run");
  const ImageCurveResult rest = domain.finish(make_pieces(domain, &store, engine).pieces);
  store.remove();
  EXPECT_EQ(epochs, 6);  // what was done is not done again
  ASSERT_EQ(rest.points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(rest.points[i].model.components[0].parameters, whole.points[i].model.components[0].parameters);
    EXPECT_EQ(rest.points[i].measure.attack.strongest().leakage.nats,
              whole.points[i].measure.attack.strongest().leakage.nats);
  }
}

double leakage_of(const ImagePoint& point) {
  return point.measure.attack.strongest().leakage.nats;
}

ImageCurveOptions small_run_with_task() {
  ImageCurveOptions options = small_run(ImageMethod::kCode);
  options.epochs = 25;
  options.code.code_weight = 0.03;
  options.code.teacher = {.hidden = {32}, .batch = 50, .rate = 0.003, .steps = 800};
  return options;
}

// The length of the hair is hidden, and recipients want to know who smiles: four pixels, of which a mechanism
// that cares for pixels alone keeps nothing. At the same budgets, and no more leakage than 0.05 nats above
// what that one leaks, one that knows the task keeps it. Seeds are fixed, so nothing varies from run to run;
// the margin is half of what was seen: AUC 0.48 and 0.47 without, 1.00 with the task, at 0.31 and 0.00 nats
// either way.
TEST(ImageCurve, KeepsATaskThatPixelsAloneLose) {
  const ImageSplit data{.train = testing::drawn_faces(1500, 23), .test = testing::drawn_faces(600, 24)};
  ImageCurveOptions options = small_run_with_task();
  options.targets = {budget_along(data, 0.3), budget_along(data, 0.6)};
  const ImageCurveResult pixels = image_curve(data, options);
  options.code.task_weight = 1;
  const ImageCurveResult both = image_curve(data, options);
  ASSERT_EQ(both.points.size(), 2U);
  ASSERT_EQ(both.task_unchanged.size(), 1U);
  EXPECT_GT(both.task_unchanged.front().original.value, 0.98);
  EXPECT_DOUBLE_EQ(both.task_constant.front().released.value, 0.5);
  for (std::size_t i = 0; i < 2; ++i) {
    const ImagePoint& plain = pixels.points[i];
    const ImagePoint& kept = both.points[i];
    EXPECT_NEAR(kept.measure.distortion, kept.target, 0.02);
    EXPECT_LT(leakage_of(kept), leakage_of(plain) + 0.05);
    EXPECT_GT(kept.measure.task.front().original.value, plain.measure.task.front().original.value + 0.25);
    EXPECT_GT(kept.measure.task.front().released.value, plain.measure.task.front().released.value + 0.25);
  }
  // The task alone: pixels have next to no price, and the smile is still there at hardly any leakage.
  options.code.task_weight = 0;
  options.code.task_budget = true;
  options.targets = {0.1};
  const ImageCurveResult task = image_curve(data, options);
  EXPECT_LT(leakage_of(task.points[0]), 0.05);
  EXPECT_LT(task.points[0].training_distortion, 0.12);  // nats about the task
  EXPECT_GT(task.points[0].measure.task.front().released.value, 0.9);
  EXPECT_GT(task.points[0].measure.task.front().original.value, 0.85);
}

TEST(ImageCurve, ATaskIsMadeOfPiecesToo) {
  const ImageSplit data{.train = testing::drawn_faces(300, 25), .test = testing::drawn_faces(120, 26)};
  ImageCurveOptions options = small_run_with_task();
  options.epochs = 2;
  options.code.start_epochs = 2;
  options.code.task_weight = 1;
  options.bound_images = 0;
  options.targets = {0.45, 0.5};
  const ImageCurveResult whole = image_curve(data, options);
  const ImageCurveHooks hooks;
  ImageDomain domain(data, options, hooks);
  EXPECT_THAT(domain.start_pieces(), ElementsAre("teacher", "start"));
  ASSERT_EQ(domain.reference_pieces().size(), 1U);
  const EngineOptions engine{.threads = 1, .only = domain.point_pieces(2)};
  Pieces pieces = make_pieces(domain, nullptr, engine).pieces;
  EXPECT_FALSE(pieces.contains(domain.reference_pieces().front()));
  pieces = make_pieces(domain, nullptr, {.threads = 2}, std::move(pieces)).pieces;
  const ImageCurveResult parts = domain.finish(pieces);
  ASSERT_EQ(parts.points.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(parts.points[i].model.components[0].parameters, whole.points[i].model.components[0].parameters);
    EXPECT_EQ(parts.points[i].measure.task.front().original.value,
              whole.points[i].measure.task.front().original.value);
  }
  EXPECT_EQ(parts.task_unchanged.front().original.value, whole.task_unchanged.front().original.value);
  // Another task is another training; one that is only measured is not.
  const std::string text = image_fingerprint(options, data);
  ImageSplit other = data;
  other.train.task.code[3] = 1 - other.train.task.code[3];
  EXPECT_NE(image_fingerprint(options, other), text);
  options.code.task_weight = 0;
  EXPECT_EQ(image_fingerprint(options, other), image_fingerprint(options, data));
  other.train.task = {};
  options.code.task_weight = 1;
  EXPECT_THROW(image_curve(other, options), Error);
}

}  // namespace
}  // namespace ppan
