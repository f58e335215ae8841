#include "ppan/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace ppan::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

// A screen and a clock that stand still until told otherwise.
struct Desk {
  std::vector<std::string> written;
  std::chrono::steady_clock::time_point now;
  int columns = 200;

  void pass(double seconds) {
    now += std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  ProgressSurface surface() {
    return {.write = [this](std::string_view text) { written.emplace_back(text); },
            .now = [this] { return now; },
            .width = [this] { return columns; }};
  }
};

ProgressState half_way() {
  return {.points_done = 4,
          .points = 10,
          .epochs_done = 500,
          .epochs = 1000,
          .label = "useful-only 0.30",
          .distortion = 0.3012,
          .leakage_nats = 0.4119,
          .elapsed_seconds = 90};
}

TEST(ProgressState, RemainingTimeFollowsThePace) {
  EXPECT_EQ(half_way().fraction(), 0.5);
  EXPECT_EQ(half_way().remaining_seconds(), 90);
  auto quarter = half_way();
  quarter.epochs_done = 250;
  EXPECT_EQ(quarter.remaining_seconds(), 270);
  EXPECT_LT(ProgressState{.epochs = 10}.remaining_seconds(), 0);
}

TEST(ProgressBar, ShowsEverything) {
  EXPECT_EQ(
      progress_bar(half_way(), 200),
      "[==========>         ]  50%  4/10 points  epoch 500/1000  useful-only 0.30: distortion 0.301, own "
      "adversary 0.412 nats  01:30 left");
}

// A curve is not done when its last epoch is: attacks and references follow.
TEST(ProgressState, AttacksAndReferencesCount) {
  ProgressState state = half_way();
  state.epochs_done = 1000;
  state.steps = 40;
  state.steps_done = 10;
  state.under_way = 0;
  EXPECT_EQ(state.fraction(), 0.25);
  EXPECT_EQ(state.remaining_seconds(), 270);
  state.under_way = 2;
  EXPECT_EQ(state.fraction(), 0.3);
  EXPECT_THAT(progress_line(state), HasSubstr("10/40 steps"));
}

TEST(Progress, ATrainingUnderWayCountsByItsEpochs) {
  Desk desk;
  Progress progress(ProgressStyle::kLines, 2, 10, desk.surface());
  progress.steps_done(2, 8);
  desk.pass(30);
  progress.epoch_done({.point = 0, .epoch = 5, .label = "point 1"});
  EXPECT_EQ(progress.state().fraction(), 2.5 / 8);
  // What is finished is a step, and no longer under way.
  desk.pass(30);
  progress.epoch_done({.point = 0, .epoch = 10, .label = "point 1"});
  progress.steps_done(3, 8);
  EXPECT_EQ(progress.state().fraction(), 3.0 / 8);
  progress.steps_done(8, 8);
  EXPECT_THAT(desk.written.back(), StartsWith("100%"));
}

TEST(ProgressBar, NeverWiderThanTheTerminal) {
  for (const int width : {1, 10, 40, 80}) {
    EXPECT_THAT(progress_bar(half_way(), width), SizeIs(width));
  }
}

TEST(ProgressBar, BothEnds) {
  ProgressState state{.points = 2, .epochs = 20};
  EXPECT_THAT(progress_bar(state, 200), StartsWith("[>                   ]   0%"));
  EXPECT_THAT(progress_bar(state, 200), Not(HasSubstr("left")));
  state.epochs_done = 20;
  state.elapsed_seconds = 3;
  EXPECT_THAT(progress_bar(state, 200), StartsWith("[====================] 100%"));
  EXPECT_THAT(progress_bar(state, 200), Not(HasSubstr("left")));
}

TEST(ProgressLine, IsPlainAndSaysHowLongItHasRun) {
  auto state = half_way();
  state.elapsed_seconds = 3661;
  EXPECT_THAT(progress_line(state), EndsWith("1:01:01 left  1:01:01 elapsed"));
  EXPECT_THAT(progress_line(state), Not(HasSubstr("\x1b")));
}

TEST(Progress, QuietWritesNothing) {
  Desk desk;
  {
    Progress progress(ProgressStyle::kQuiet, 1, 10, desk.surface());
    desk.pass(100);
    progress.epoch_done({.point = 0, .epoch = 5});
    progress.note("a note");
    progress.point_done(0);
  }
  EXPECT_THAT(desk.written, IsEmpty());
}

TEST(Progress, LinesComeSeldomAndTheLastAlways) {
  Desk desk;
  Progress progress(ProgressStyle::kLines, 2, 100, desk.surface());
  for (int epoch = 1; epoch <= 100; ++epoch) {
    desk.pass(0.25);
    progress.epoch_done({.point = 0, .epoch = epoch, .label = "a", .distortion = 0.5, .leakage_nats = 0.25});
  }
  EXPECT_THAT(desk.written, SizeIs(2));  // at 10 and 20 of 25 seconds
  EXPECT_THAT(desk.written[0],
              HasSubstr(" 20%  0/2 points  epoch 40/200  a: distortion 0.500, own adversary 0.250 nats"));
  EXPECT_THAT(desk.written[0], EndsWith("00:40 left  00:10 elapsed\n"));
  progress.point_done(0);
  progress.point_done(1);
  EXPECT_THAT(desk.written, SizeIs(3));
  EXPECT_THAT(desk.written[2], HasSubstr("100%  2/2 points  epoch 200/200"));
}

TEST(Progress, TheBarRedrawsItsLineAndEndsIt) {
  Desk desk;
  {
    Progress progress(ProgressStyle::kBar, 1, 10, desk.surface());
    progress.epoch_done({.point = 0, .epoch = 1});  // too soon to show
    desk.pass(0.2);
    progress.epoch_done({.point = 0, .epoch = 2});
    progress.epoch_done({.point = 0, .epoch = 3});  // too soon again
  }
  ASSERT_THAT(desk.written, SizeIs(2));
  EXPECT_THAT(desk.written[0], StartsWith("\r\x1b[K["));
  EXPECT_THAT(desk.written[0], HasSubstr("epoch 2/10"));
  EXPECT_EQ(desk.written[1], "\n");
}

TEST(Progress, ANoteTakesALineOfItsOwn) {
  Desk desk;
  Progress progress(ProgressStyle::kBar, 1, 10, desk.surface());
  desk.pass(1);
  progress.epoch_done({.point = 0, .epoch = 2});
  progress.note("point 0 diverged");
  ASSERT_THAT(desk.written, SizeIs(3));
  EXPECT_EQ(desk.written[1], "\r\x1b[Kpoint 0 diverged\n");
  EXPECT_THAT(desk.written[2], StartsWith("\r\x1b[K["));
}

TEST(Progress, APointThatStopsEarlyCountsInFullAndOnce) {
  Desk desk;
  Progress progress(ProgressStyle::kQuiet, 2, 100, desk.surface());
  progress.epoch_done({.point = 1, .epoch = 30});
  progress.point_done(1);
  progress.point_done(1);
  EXPECT_EQ(progress.state().points_done, 1);
  EXPECT_EQ(progress.state().epochs_done, 100);
}

TEST(Progress, ReportsOutOfOrderOrBeyondTheEndDoNoHarm) {
  Desk desk;
  Progress progress(ProgressStyle::kQuiet, 1, 10, desk.surface());
  progress.epoch_done({.point = 0, .epoch = 6});
  progress.epoch_done({.point = 0, .epoch = 4});
  EXPECT_EQ(progress.state().epochs_done, 6);
  progress.epoch_done({.point = 0, .epoch = 25});
  EXPECT_EQ(progress.state().epochs_done, 10);
}

TEST(Progress, CountsEveryReportOfManyThreads) {
  Desk desk;
  Progress progress(ProgressStyle::kBar, 8, 500, desk.surface());
  {
    std::vector<std::jthread> threads;
    for (int point = 0; point < 8; ++point) {
      threads.emplace_back([&progress, point] {
        for (int epoch = 1; epoch <= 500; ++epoch)
          progress.epoch_done({.point = point, .epoch = epoch, .label = "x"});
        progress.point_done(point);
      });
    }
  }
  EXPECT_EQ(progress.state().points_done, 8);
  EXPECT_EQ(progress.state().epochs_done, 4000);
}

}  // namespace
}  // namespace ppan::cli
