#include "ppan/audit/task_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TaskScore score(double original, double released) {
  return {.task = "income",
          .original = {original, {original - 0.01, original + 0.01}},
          .released = {released, {released - 0.02, released + 0.02}}};
}

TEST(TaskScore, TwoLevelsAreRankedAndMoreAreCounted) {
  EXPECT_EQ(task_metric(2), TaskMetric::kAuc);
  EXPECT_EQ(task_metric(3), TaskMetric::kAccuracy);
  // Ten rows of each of two levels, all of which look like the first, but the second a little less.
  Matrix<float> answers(20, 2);
  Symbols truth;
  for (Index i = 0; i < 20; ++i) {
    truth.push_back(i < 10 ? 0 : 1);
    answers(i, 0) = i < 10 ? -0.1F : -0.2F;
    answers(i, 1) = i < 10 ? -2.0F : -1.5F;
  }
  EXPECT_DOUBLE_EQ(task_rate(answers, truth, 2).value, 1);
  Matrix<float> three = Matrix<float>::Constant(20, 3, -5);
  three.leftCols(2) = answers;
  EXPECT_DOUBLE_EQ(task_rate(three, truth, 3).value, 0.5);
}

TEST(TaskScore, SaysWhatIsLostAndWhatIsInflated) {
  const std::vector<TaskScore> unchanged{score(0.9, 0.9)};
  EXPECT_DOUBLE_EQ(task_loss(unchanged, {score(0.85, 0.8)}), 0.9 - 0.85);
  EXPECT_DOUBLE_EQ(task_loss(unchanged, {score(0.95, 0.8)}), 0);
  EXPECT_DOUBLE_EQ(task_loss({}, {}), 0);
  EXPECT_THAT(inflated_tasks(unchanged, {score(0.9, 0.92)}), IsEmpty());  // 0.90 to 0.94 against 0.89 to 0.91
  EXPECT_THAT(inflated_tasks(unchanged, {score(0.9, 0.94)}), ElementsAre("income"));
  EXPECT_EQ(task_text({score(0.9, 0.8)}, "images"),
            "income: AUC 0.900 (0.890 to 0.910), on released images 0.800");
  EXPECT_EQ(inflated_text("income"),
            "the release predicts 'income' better than the original does; a finding on released rows would "
            "be inflated");
}

}  // namespace
}  // namespace ppan
