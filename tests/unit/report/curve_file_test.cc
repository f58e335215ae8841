#include "ppan/report/curve_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

CurveTable two_rows() {
  CurveTable table;
  table.more_columns = {"seconds", "stop"};
  CurveRow& first = table.rows.emplace_back();
  first.series = "ppan/useful-only";
  first.budget = 0.1;
  first.distortion = 1.0 / 3;
  first.set_leakage(
      {.nats = 0.25, .interval95 = Interval{0.2, 0.3}, .bound = Bound::kLower, .method = "MLP, large"});
  first.set("seconds", 1.5);
  first.set("stop", "epoch limit, \"2,000\" epochs");
  CurveRow& second = table.rows.emplace_back();
  second.series = "conventional/useful-only";
  second.optimum = std::numeric_limits<double>::infinity();
  return table;
}

TEST(CurveFile, BeginsWithTheColumnsOfTheContract) {
  EXPECT_THAT(to_csv({}), "series,budget,weight,distortion,leakage,optimum,excess\n");
  EXPECT_THAT(to_csv(two_rows()),
              StartsWith("series,budget,weight,distortion,leakage,optimum,excess,seconds,stop,"));
}

TEST(CurveFile, WritesShortestNumbersAndLeavesUnknownOnesEmpty) {
  const std::string text = to_csv(two_rows());
  EXPECT_THAT(text, HasSubstr("\nppan/useful-only,0.1,,0.3333333333333333,0.25,,,1.5,"));
  EXPECT_THAT(text, HasSubstr("\nconventional/useful-only,,,,,inf,,,,"));
}

TEST(CurveFile, ReadsBackWhatItWrote) {
  const CurveTable table = two_rows();
  const CurveTable again = from_csv(to_csv(table));
  EXPECT_EQ(again.rows, table.rows);
  EXPECT_EQ(to_csv(again), to_csv(table));
  EXPECT_EQ(again.rows[0].distortion, 1.0 / 3);
  EXPECT_EQ(again.rows[0].text("stop"), "epoch limit, \"2,000\" epochs");
}

TEST(CurveFile, LeakageKeepsDirectionIntervalAndMethod) {
  const auto estimate = from_csv(to_csv(two_rows())).rows[0].leakage_estimate();
  ASSERT_TRUE(estimate.has_value());
  EXPECT_EQ(estimate->nats, 0.25);
  EXPECT_EQ(estimate->bound, Bound::kLower);
  EXPECT_EQ(estimate->method, "MLP, large");
  ASSERT_TRUE(estimate->interval95.has_value());
  EXPECT_EQ(estimate->interval95->low, 0.2);
  EXPECT_EQ(estimate->interval95->high, 0.3);
}

TEST(CurveFile, LeakageWithoutAMethodSaysSo) {
  CurveRow row;
  row.leakage = 1;
  EXPECT_EQ(row.leakage_estimate()->method, "method not stated");
  EXPECT_EQ(row.leakage_estimate()->bound, Bound::kEstimate);
}

TEST(CurveFile, NotANumberIsUnknown) {
  EXPECT_EQ(shortest(std::nan("")), "");
  EXPECT_EQ(shortest(-0.0), "0");
  EXPECT_EQ(parse_shortest("nan"), std::nullopt);
  EXPECT_EQ(parse_shortest("1.5x"), std::nullopt);
  EXPECT_EQ(parse_shortest("1e-300"), 1e-300);
}

TEST(CurveFile, PointsAreNumberedWithinTheirSeries) {
  CurveTable table;
  for (const char* name : {"a", "b", "a", "a"}) table.rows.emplace_back().series = name;
  table.rows[3].set(curve_column::kPoint, 7.0);
  EXPECT_THAT(point_numbers(table), ElementsAre(1, 1, 2, 7));
  EXPECT_THAT(series_of(table), ElementsAre("a", "b"));
}

TEST(CurveFile, NamesLineAndColumnOfABadCell) {
  try {
    from_csv("series,budget,weight,distortion,leakage,optimum,excess\na,,,0.1,0.2,,\nb,,,much,0.2,,\n",
             "run/curve.csv");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_STREQ(error.what(), "run/curve.csv line 3, column \"distortion\": \"much\" is not a number");
  }
}

TEST(CurveFile, RefusesOtherTables) {
  EXPECT_THROW(from_csv("age,income\n1,2\n"), Error);
  EXPECT_THROW(from_csv("series,weight,budget,distortion,leakage,optimum,excess\n"), Error);
}

}  // namespace
}  // namespace ppan
