#include "ppan/image/image_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/image/image_subset.h"
#include "ppan/image/image_training.h"
#include "support/drawn_digits.h"

namespace ppan {
namespace {

using testing::drawn_digits;
using testing::parity_and_size;

ImageSplit digits(Index train, Index test) {
  return {.train = parity_and_size(drawn_digits(train, 8, 10, 41)),
          .test = parity_and_size(drawn_digits(test, 8, 10, 42))};
}

ImageAttackOptions recipient() {
  ImageAttackOptions options;
  options.networks = {{{64}}};
  options.convolution = false;
  options.tree_images = 0;
  options.epochs = 12;
  options.batch = 50;
  options.rate = 0.004;
  return options;
}

TEST(ImageTask, TheGameGetsItBesideThePixelsOrBeforeThem) {
  const ImageSet set = digits(30, 1).train;
  const Records<float> beside = image_records(set, 20);
  EXPECT_EQ(beside.useful.value, set.pixels.topRows(20));
  EXPECT_EQ(beside.second.levels, 2);
  EXPECT_EQ(beside.second.code, Symbols(set.task.code.begin(), set.task.code.begin() + 20));
  EXPECT_EQ(beside.observed.value, set.pixels.topRows(20));  // which is all that the mechanism sees
  const Records<float> first = image_records(set, 20, true);
  EXPECT_EQ(first.useful.code, beside.second.code);
  EXPECT_EQ(first.second.value, beside.useful.value);
  EXPECT_EQ(first.observed.value, beside.observed.value);
  EXPECT_EQ(image_records(drawn_digits(30, 8, 4, 1)).second.rows(), 0);
}

TEST(ImageTask, ASubsetKeepsItsOwn) {
  const ImageSet set = digits(10, 1).train;
  const std::vector<std::int32_t> which{7, 2};
  const ImageSet part = take_images(set, which);
  EXPECT_EQ(part.task.code, (Symbols{set.task.code[7], set.task.code[2]}));
  EXPECT_EQ(part.task.name, "small");
  EXPECT_EQ(part.task.classes, 2);
}

TEST(TaskTeacher, LearnsTheTaskFromOriginalImages) {
  const ImageSet set = digits(1000, 1).train;
  const TeacherOptions options{.hidden = {32}, .batch = 50, .rate = 0.003, .steps = 800};
  const TaskTeacher teacher = fit_task_teacher(set, 0, options);
  EXPECT_LT(teacher.nats, 0.25);  // of 0.69; seen: 0.10
  EXPECT_EQ(fit_task_teacher(set, 0, options).parameters, teacher.parameters);
  // Labels that say nothing cannot be learned: it is kept where it has overfitted least.
  ImageSet shuffled = set;
  SeededRandom random(3);
  shuffle(random, shuffled.task.code);
  EXPECT_GT(fit_task_teacher(shuffled, 0, options).nats, 0.6);
  EXPECT_THROW(fit_task_teacher(set, 0, {.batch = 0, .rate = 0}), Error);
}

TEST(ImageTask, ARecipientOfImagesAsTheyAreLosesNothingAndOfTheMeanEverything) {
  const ImageSplit data = digits(1200, 400);
  const TaskScore unchanged = measure_image_task(unchanged_model(data.train), data, 0, recipient());
  EXPECT_EQ(unchanged.task, "small");
  EXPECT_EQ(unchanged.metric, TaskMetric::kAuc);
  EXPECT_GT(unchanged.original.value, 0.93);
  EXPECT_DOUBLE_EQ(unchanged.original.value, unchanged.released.value);
  EXPECT_LE(unchanged.original.interval95.low, unchanged.original.value);
  const TaskScore constant = measure_image_task(constant_model(data.train), data, 0, recipient());
  EXPECT_DOUBLE_EQ(constant.released.value, 0.5);
  // With a quarter of the images there is less to learn from; the seed is the same.
  EXPECT_LT(measure_image_task(unchanged_model(data.train), data, 100, recipient()).original.value,
            unchanged.original.value);
}

}  // namespace
}  // namespace ppan
