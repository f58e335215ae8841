#include "ppan/report/trade_off.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace ppan {
namespace {

// All that a curve of a table may hold at once: none may look like another.
TEST(TradeOff, SeriesOfOneCurveLookDifferent) {
  CurveTable table;
  for (const char* name : {"ppan/table", "reference/unchanged", "reference/constant", "reference/noise",
                           "reference/randomized-response", "reference/gaussian-noise", "reference/dropped",
                           "reference/time-sharing", "ppan/hull"}) {
    CurveRow row;
    row.series = name;
    row.distortion = 0.1;
    row.leakage = 0.1;
    table.rows.push_back(std::move(row));
  }
  std::set<SeriesRole> roles;
  for (const CurveRow& row : table.rows) roles.insert(series_role(row.series, table));
  EXPECT_EQ(roles.size(), table.rows.size());
}

// With heads there are two more.
TEST(TradeOff, SeriesOfACurveOfHeadsLookDifferent) {
  CurveTable table;
  for (const char* name :
       {"ppan/table", "ppan/redrawn", "reference/unchanged", "reference/constant", "reference/independent",
        "reference/noise", "reference/randomized-response", "reference/gaussian-noise", "reference/dropped",
        "reference/time-sharing", "ppan/hull"}) {
    CurveRow row;
    row.series = name;
    table.rows.push_back(std::move(row));
  }
  std::set<SeriesRole> roles;
  for (const CurveRow& row : table.rows) roles.insert(series_role(row.series, table));
  EXPECT_EQ(roles.size(), table.rows.size());
}

// Rate-distortion at four points: between 0.05 and 0.8 a chord lies far above the curve.
TEST(TradeOff, TheOptimumIsDrawnOnItsOwnGrid) {
  const auto optimum_at = [](double d) { return 0.5 * std::log(1 / d); };
  CurveTable table;
  const auto add = [&](const std::string& series, double d) {
    CurveRow row;
    row.series = series;
    row.distortion = d;
    row.leakage = row.optimum = optimum_at(d);
    table.rows.push_back(std::move(row));
  };
  add("ppan/rate-distortion", 0.05);
  add("ppan/rate-distortion", 0.8);
  const Figure without = trade_off_figure(table, {});
  EXPECT_EQ(without.series.front().name, "optimum");
  EXPECT_EQ(without.series.front().kind, SeriesKind::kMarkers);  // no line that would be a chord
  for (int i = 1; i <= 100; ++i) add("optimum/rate-distortion", i / 100.0);
  const CurveTable grid = take_optimum(table);
  EXPECT_EQ(table.rows.size(), 2U);
  const Figure figure = trade_off_figure(table, {}, grid);
  ASSERT_EQ(figure.series.size(), 2U);
  const FigureSeries& line = figure.series.front();
  EXPECT_EQ(line.kind, SeriesKind::kLine);
  ASSERT_EQ(line.points.size(), 100U);
  for (const FigurePoint& p : line.points) EXPECT_NEAR(p.y, optimum_at(p.x), 1e-12);
}

TEST(TradeOff, SeriesAreNamedForPeople) {
  EXPECT_EQ(series_title("ppan/noisy"), "learned, noisy data");
  EXPECT_EQ(series_title("ppan@250/useful-only"), "learned on 250 records, useful data only");
  EXPECT_EQ(series_title("conventional-prior/full-data"), "conventional with the same prior, full data");
  EXPECT_EQ(series_title("reference/noise"), "independent noise");
  EXPECT_EQ(series_title("other"), "other");
}

}  // namespace
}  // namespace ppan
