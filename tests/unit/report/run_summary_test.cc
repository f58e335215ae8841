#include "ppan/report/run_summary.h"

#include <gmock/gmock.h>

#include <limits>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

RunSummary sample_summary() {
  RunSummary s;
  s.version = "0.1.0";
  s.command = "ppan paper scalar-gaussian --out \"a b\"";
  s.name = "scalar-gaussian";
  s.description = "line one\nline <two>";
  s.hidden = "X";
  s.leakage_ceiling = std::numeric_limits<double>::infinity();
  s.settings = {{"epochs", "250", "250"}, {"batch", std::nullopt, "200"}};
  s.seed = 18446744073709551615U;
  s.facts = {{"records", "8000"}, {"z first", "kept in order"}, {"a second", ""}};
  s.job_file = "[data]\nfile = \"x.csv\"\n";
  s.seconds = 1.25;
  s.status = RunStatus::kInterrupted;
  s.missing = {{"ppan/useful-only", 3, 0.5, "interrupted"}};
  PointSummary& point = s.points.emplace_back();
  point.series = "ppan/useful-only";
  point.number = 2;
  point.budget = 0.25;
  point.stop = "epoch limit";
  point.epochs = 250;
  point.iterations = 60'000;
  point.leakage = Estimate{
      .nats = 0.1, .interval95 = Interval{0.09, 0.11}, .method = "Gaussian plug-in", .samples = 4000};
  point.estimates = {
      {"KSG", {.nats = 0.2, .interval95 = Interval{0.1, 0.3}, .bound = Bound::kUpper, .method = "m"}}};
  point.training_belief = 0.05;
  point.warnings = {"look"};
  s.claimed = {"this"};
  s.not_claimed = {"that", "those"};
  return s;
}

TEST(RunSummary, ReadsBackWhatItWrote) {
  const RunSummary s = sample_summary();
  const RunSummary again = run_summary_from_json(to_json(s));
  EXPECT_EQ(to_json(again), to_json(s));
  EXPECT_EQ(again.seed, s.seed);
  EXPECT_EQ(again.facts, s.facts);
  EXPECT_EQ(again.settings, s.settings);
  EXPECT_EQ(again.leakage_ceiling, s.leakage_ceiling);
  EXPECT_EQ(again.status, RunStatus::kInterrupted);
  ASSERT_THAT(again.points, SizeIs(1));
  EXPECT_EQ(again.points[0].estimates[0].estimate.bound, Bound::kUpper);
  EXPECT_EQ(again.points[0].leakage->samples, 4000);
  EXPECT_EQ(again.points[0].weight, std::nullopt);
  EXPECT_EQ(again.missing[0].reason, "interrupted");
}

TEST(RunSummary, IgnoresUnknownKeysAndFillsAbsentOnes) {
  const RunSummary s = run_summary_from_json(R"({"format": 1, "name": "n", "from_the_future": [1, 2]})");
  EXPECT_EQ(s.name, "n");
  EXPECT_THAT(s.points, SizeIs(0));
  EXPECT_EQ(s.status, RunStatus::kComplete);
}

TEST(RunSummary, FaultsNameTheFile) {
  for (const char* text : {"", "{", "[]", R"({"format": 2})", R"({"format": 1, "points": [{"series": 3}]})",
                           R"({"format": 1, "leakage_ceiling": "big"})"}) {
    SCOPED_TRACE(text);
    try {
      run_summary_from_json(text, "run/summary.json");
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      EXPECT_THAT(error.what(), HasSubstr("run/summary.json"));
    }
  }
}

TEST(RunSummary, BytesThatAreNotTextAreReplaced) {
  RunSummary s = sample_summary();
  s.command = "ppan paper --out \xff";
  EXPECT_THAT(run_summary_from_json(to_json(s)).command, HasSubstr("ppan paper --out "));
}

TEST(Metrics, ReadBackLineByLine) {
  MetricsLine line{
      .series = "ppan/useful-only", .number = 2, .epoch = 9, .distortion = 0.1, .leakage = 1.0 / 3};
  const std::string text = to_json_line(line);
  EXPECT_THAT(metrics_from_jsonl(text + text), testing::ElementsAre(line, line));
}

TEST(Metrics, ALastLineCutOffIsSkippedAndABrokenOneIsNot) {
  const std::string good = to_json_line({.series = "s", .epoch = 1});
  EXPECT_THAT(metrics_from_jsonl(good + R"({"series":"s","ep)"), SizeIs(1));
  try {
    metrics_from_jsonl(good + "{broken\n" + good);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("metrics.jsonl line 2"));
  }
}

}  // namespace
}  // namespace ppan
