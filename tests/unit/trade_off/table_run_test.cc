#include "ppan/trade_off/table_run.h"
#include "ppan/core/error.h"
#include "ppan/trade_off/model_audit.h"
#include "ppan/trade_off/run_files.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace ppan {
namespace {

using ::testing::HasSubstr;

MeasuredRelease bounded(double nats) {
  MeasuredRelease out;
  out.upper = Estimate{.nats = nats, .bound = Bound::kUpper, .method = "density"};
  out.upper->interval95 = Interval{nats - 0.1, nats + 0.1};
  AttributeAudit attribute;
  attribute.name = "s";
  attribute.leakage.nats = 0.05;
  attribute.upper_end = 0.08;
  attribute.upper.push_back(*out.upper);
  out.audit.attributes.push_back(attribute);
  return out;
}

TEST(SurrogateSlack, IsAddedToEveryUpperBoundAndToNothingElse) {
  TableCurveResult result;
  result.points.emplace_back();
  result.points.back().measured = bounded(0.3);
  result.unchanged = bounded(0.9);
  result.hull.push_back(bounded(0.3));
  add_surrogate_slack(result, 0.25);
  for (const MeasuredRelease* each : {&result.points[0].measured, &result.hull[0]}) {
    EXPECT_DOUBLE_EQ(each->upper->nats, 0.55);
    EXPECT_DOUBLE_EQ(each->upper->interval95->high, 0.65);
    EXPECT_THAT(each->upper->method, HasSubstr("surrogate"));
    EXPECT_THAT(each->upper->method, HasSubstr("I(X;Z) <= I(S;Z) + 0.25"));
    EXPECT_DOUBLE_EQ(each->audit.attributes[0].upper[0].nats, 0.55);
    EXPECT_DOUBLE_EQ(each->audit.attributes[0].upper_end, 0.33);
    EXPECT_DOUBLE_EQ(each->audit.attributes[0].leakage.nats, 0.05);
  }
  EXPECT_DOUBLE_EQ(result.unchanged->upper->nats, 1.15);
}

TEST(SurrogateSlack, NoneLeavesABoundAsItIs) {
  MeasuredRelease release = bounded(0.3);
  add_surrogate_slack(release, 0);
  EXPECT_EQ(release.upper->method, "density");
}

// An audit of a model knows the slack of the job that made it.
TEST(SurrogateSlack, IsReadFromTheModel) {
  ModelOrigin origin;
  EXPECT_EQ(surrogate_slack_of(origin), 0);
  origin.settings = {{"privacy.points", "3"}, {"privacy.surrogate_slack", "0.25"}};
  EXPECT_EQ(surrogate_slack_of(origin), 0.25);
  origin.settings.back().second = "-1";
  EXPECT_THROW(surrogate_slack_of(origin), Error);
}

TEST(RunFiles, OnlyThoseOfARunAreRemoved) {
  const auto directory = std::filesystem::path(::testing::TempDir()) / "table_run_test";
  std::filesystem::create_directories(directory);
  for (const char* name : {"curve.csv", "point-03.ppan", "unchanged.ppan", "mine.csv"})
    std::ofstream(directory / name) << "x";
  remove_old_run(directory);
  EXPECT_FALSE(std::filesystem::exists(directory / "curve.csv"));
  EXPECT_FALSE(std::filesystem::exists(directory / "point-03.ppan"));
  EXPECT_TRUE(std::filesystem::exists(directory / "mine.csv"));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace ppan
