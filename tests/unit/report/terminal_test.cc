#include "ppan/report/terminal.h"

#include <gmock/gmock.h>

#include <cmath>
#include <sstream>

#include "ppan/report/text.h"
#include "ppan/report/trade_off.h"
#include "unit/report/xml_check.h"

namespace ppan {
namespace {

using text::length_of;

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

CurveTable sample_curve(int points = 11) {
  CurveTable table;
  for (const char* series : {"ppan/useful-only", "ppan/full-data"}) {
    for (int i = 0; i < points; ++i) {
      CurveRow& row = table.rows.emplace_back();
      row.series = series;
      row.budget = row.distortion = 0.1 * i;
      row.optimum = (series[5] == 'u' ? 1.0 : 0.5) * (1 - 0.1 * i);
      row.excess = 0.01;
      row.set_leakage({.nats = *row.optimum + 0.01,
                       .interval95 = Interval{*row.optimum, *row.optimum + 0.02},
                       .method = "m"});
    }
  }
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(TerminalPlot, KeepsToTheWidth) {
  for (const int width : {10, 40, 80, 200}) {
    for (const bool unicode : {false, true}) {
      const TerminalStyle style{.width = width, .unicode = unicode};
      CurveTable table = sample_curve();
      table.rows[0].series = std::string(300, 'x');
      for (const std::string& line : lines_of(plot_text(table, style)))
        EXPECT_LE(length_of(line), std::max(width, 40)) << line;
    }
  }
}

TEST(TerminalPlot, AsciiIsAscii) {
  CurveTable table = sample_curve();
  table.rows[0].series = "gr\u00fc\u00df";
  table.rows[1].leakage = -0.5;
  for (const char c : plot_text(table, {.unicode = false}) + table_text(table, {.unicode = false})) {
    EXPECT_TRUE(c == '\n' || (c >= ' ' && c < 0x7f)) << static_cast<int>(c);
  }
}

// A falling curve is drawn falling: the first point on top left, the last at the bottom right.
TEST(TerminalPlot, PutsPointsWhereTheyBelong) {
  CurveTable table;
  for (const auto& [d, l] : {std::pair{0.0, 1.0}, std::pair{1.0, 0.0}}) {
    CurveRow& row = table.rows.emplace_back();
    row.series = "s";
    row.distortion = d;
    row.leakage = l;
  }
  const auto lines = lines_of(plot_text(table, {.width = 60, .height = 10, .unicode = false}));
  std::vector<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t y = 1; y <= 10; ++y) {
    if (const auto x = lines[y].find('A'); x != std::string::npos) found.emplace_back(y, x);
  }
  ASSERT_EQ(found.size(), 2U);
  EXPECT_LT(found[0].second, found[1].second);
  EXPECT_LE(found[0].first, 2U);
  EXPECT_EQ(found[1].first, 10U);
}

TEST(TerminalPlot, IsEmptyWithoutPointsAndSurvivesOne) {
  EXPECT_EQ(plot_text({}, {}), "");
  CurveTable table = sample_curve(1);
  EXPECT_THAT(plot_text(table, {}), HasSubstr("A ppan/useful-only"));
  table.rows[0].optimum = HUGE_VAL;
  EXPECT_NE(plot_text(table, {}), "");
}

TEST(TerminalTable, AlignsAndLeavesOutEmptyColumns) {
  const auto lines = lines_of(table_text(sample_curve(2), {.width = 100, .unicode = false}));
  EXPECT_THAT(lines,
              ElementsAre("series            budget  distortion  leakage   95 % interval  optimum  excess",
                          "ppan/useful-only  0.0000      0.0000   1.0100  [1.000, 1.020]   1.0000  0.0100",
                          "ppan/useful-only  0.1000      0.1000   0.9100  [0.900, 0.920]   0.9000  0.0100",
                          "ppan/full-data    0.0000      0.0000   0.5100  [0.500, 0.520]   0.5000  0.0100",
                          "ppan/full-data    0.1000      0.1000   0.4600  [0.450, 0.470]   0.4500  0.0100",
                          "(leakage: estimate; information in nats)"));
}

TEST(TerminalTable, WhatWasNotSeenIsNotZero) {
  CurveTable table;
  for (const char* series : {"ppan/table", "reference/noise", "reference/unchanged"}) {
    CurveRow& row = table.rows.emplace_back();
    row.series = series;
    row.distortion = 0.1;
    row.set_leakage({.nats = 0, .interval95 = Interval{0, 0.03}, .bound = Bound::kLower, .method = "m"});
    row.set(curve_column::kUpperEnd, 0.2084);
  }
  const std::string text = table_text(without_references(table), {.width = 100, .unicode = false});
  EXPECT_THAT(text, HasSubstr("ppan/table               0.1000  not seen  [0.000, 0.030]  0.2084"));
  EXPECT_THAT(text, HasSubstr("reference/unchanged"));
  EXPECT_THAT(text, Not(HasSubstr("reference/noise")));
}

TEST(TerminalTable, ShowsBits) {
  CurveTable table;
  CurveRow& row = table.rows.emplace_back();
  row.series = "s";
  row.distortion = 1;
  row.leakage = std::log(2.0);
  EXPECT_THAT(table_text(table, {.unit = InformationUnit::kBits}), HasSubstr("1.0000   1.0000"));
  EXPECT_THAT(table_text(table, {.unit = InformationUnit::kNats}), HasSubstr("1.0000   0.6931"));
}

TEST(TradeOff, DrawsEverySeriesWithItsIntervalsAndOneOptimumPerObservation) {
  CurveTable table = sample_curve();
  table.rows.push_back(table.rows[0]);
  table.rows.back().series = "conventional/useful-only";
  table.rows[3].set(curve_column::kTrainingBelief, 0.2);
  const Figure figure = trade_off_figure(table, {});
  std::vector<std::string> names;
  for (const FigureSeries& series : figure.series) names.push_back(series.name);
  EXPECT_THAT(names,
              ElementsAre("optimum, useful data only", "optimum, full data",
                          "training adversary\u2019s own belief (not evidence)", "learned, useful data only",
                          "learned, full data", "conventional, useful data only"));
  EXPECT_TRUE(figure.series[3].points[0].interval.has_value());
  EXPECT_EQ(figure.series[4].points[0].key, "11");
  EXPECT_THAT(figure.y.label, HasSubstr("estimate"));
  EXPECT_EQ(test::xml_fault(to_svg(figure), {}, {"style"}), "");
}

TEST(TradeOff, SaysNoCommonKindWhenKindsDiffer) {
  CurveTable table = sample_curve();
  table.rows[0].set(curve_column::kLeakageKind, "exact");
  EXPECT_THAT(trade_off_figure(table, {}).y.label, Not(HasSubstr("estimate")));
  EXPECT_EQ(common_kind(table), "");
}

}  // namespace
}  // namespace ppan
