// Images through the facade: from a job and images in memory to a model, a release and an audit.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ppan/core/random.h"
#include "ppan/ppan.h"

namespace ppan {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr Index kSide = 6;

// Noise, and in images of class 1 a bright left half, `contrast` brighter than the rest.
ImageSet made_images(Index count, float contrast, std::uint64_t seed) {
  SeededRandom random(seed);
  ImageSet set{.height = kSide, .width = kSide};
  set.pixels.resize(count, kSide * kSide);
  for (Index i = 0; i < count; ++i) {
    const bool bright = random.uniform() < 0.5;
    set.labels.push_back(bright ? 1 : 0);
    for (Index j = 0; j < set.pixels.cols(); ++j) {
      const float left = bright && j % kSide < kSide / 2 ? contrast : 0.0F;
      set.pixels(i, j) = (1 - contrast) * static_cast<float>(random.uniform()) + left;
    }
  }
  set.classes = 2;
  set.class_names = {"plain", "bright"};
  return set;
}

Job quick_job() {
  return parse_job(
      "[data]\nimages = \"in memory\"\nlabels = \"in memory\"\n[privacy]\npoints = 2\n"
      "[train]\nepochs = 2\n[mechanism]\nhidden = [8]\n[audit]\nquick = true\n",
      "images.toml");
}

std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(FacadeImages, FromATrainedCurveToARelease) {
  const ImageSet images = made_images(400, 0.5F, 1);
  const ImageCurve curve = trade_off(quick_job(), images);
  ASSERT_EQ(curve.result.points.size(), 2U);

  const ImageReleaseModel model = pick(curve, {.point = 2});
  EXPECT_EQ(model.class_names, images.class_names);
  const ImageSet fresh = made_images(300, 0.5F, 2);
  const ImageSet released = release(model, fresh);
  ASSERT_EQ(released.size(), fresh.size());
  EXPECT_TRUE(released.labels.empty());
  EXPECT_FALSE(released.pixels.isApprox(release(model, fresh).pixels)) << "noise has no seed";

  const ImageFindings found = audit(model, fresh, {.source = "fresh", .quick = true});
  EXPECT_EQ(found.images, fresh.size());
  EXPECT_GE(found.upper_end(), found.attack.strongest().leakage.nats);

  const auto directory = std::filesystem::path(testing::TempDir()) / "ppan_facade_images";
  const auto page = write_run(curve, directory);
  EXPECT_TRUE(std::filesystem::exists(page));
  const Picked same = pick(directory, {.point = 2});
  EXPECT_EQ(std::get<ImageReleaseModel>(same.model).origin.label, model.origin.label);
  std::filesystem::remove_all(directory);
}

TEST(FacadeImages, AFindingOfFewImagesIsNoAllClear) {
  // Nothing to find, and few images to find it in: an ideal attacker would miss less than least_seen().
  const ImageCurve curve = trade_off(quick_job(), made_images(250, 0.0F, 3));
  for (const ImagePoint& point : curve.result.points) {
    const ImageAttack& attack = point.measure.attack;
    EXPECT_GT(attack.least_seen(), 0.1);
    EXPECT_GE(attack.upper_end({}), std::min(attack.least_seen(), attack.entropy));
  }
  // So a small limit is kept by hiding nearly every image behind the mean, not by trusting a finding of 0.
  const ImageReleaseModel model = pick(curve, {.leakage = 0.01, .accept_inconclusive = true});
  EXPECT_LE(model.origin.upper_end.value_or(0), 0.01);
  ASSERT_EQ(model.images.components.size(), 2U);
  const auto& constant = model.images.components[0].kind == ComponentKind::kConstant
                             ? model.images.components[0]
                             : model.images.components[1];
  EXPECT_GT(constant.weight, 0.8);
}

TEST(FacadeImages, UpperBoundsLowerTheUpperEnd) {
  ImageAttack attack;
  attack.entropy = 0.69;
  attack.attackers.push_back(
      {.name = "a", .leakage = {.nats = 0.1, .interval95 = Interval{0.05, 0.15}, .samples = 10'000}});
  EXPECT_NEAR(attack.upper_end({}), 0.1 + 0.05 * 2.576 / 1.96, 1e-9);
  EXPECT_NEAR(attack.upper_end({{.nats = 0.12, .interval95 = Interval{0.11, 0.13}}}), 0.13, 1e-9);
  attack.attackers[0].leakage.samples = 50;
  EXPECT_NEAR(attack.least_seen(), 2 * 3.24 * 3.24 / 50, 1e-9);
  EXPECT_NEAR(attack.upper_end({}), attack.least_seen(), 1e-9);
  attack.attackers[0].leakage.samples = 10;
  EXPECT_NEAR(attack.upper_end({}), attack.entropy, 1e-9);
}

TEST(FacadeImages, EveryProblemOfASetIsNamedAtOnce) {
  ImageSet images = made_images(60, 0.5F, 1);
  images.pixels(3, 4) = std::nanf("");
  images.labels[0] = 7;
  images.class_names.pop_back();
  EXPECT_THAT(message_of([&] { static_cast<void>(trade_off(quick_job(), images)); }),
              AllOf(HasSubstr("each must lie in [0, 1]"), HasSubstr("one of 0 to 1"), HasSubstr("1 names")));
  images = made_images(60, 0.5F, 1);
  images.labels.pop_back();
  images.width = 5;
  EXPECT_THAT(message_of([&] { static_cast<void>(trade_off(quick_job(), images)); }),
              AllOf(HasSubstr("59 for 60 images"), HasSubstr("36 for each image of 6 x 5")));
}

TEST(FacadeImages, ATableIsNoImageJob) {
  const Job table = parse_job(
      "[data]\nsource = \"people.csv\"\n[roles]\nsensitive = [\"ill\"]\nuseful = [\"age\"]\n"
      "[columns]\nill = \"category\"\nage = \"integer\"\n",
      "job.toml");
  EXPECT_THAT(message_of([&] { static_cast<void>(trade_off(table, made_images(200, 0.5F, 1))); }),
              HasSubstr("about a table"));
}

}  // namespace
}  // namespace ppan
