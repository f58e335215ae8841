#include "ppan/report/figure.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <regex>

#include "ppan/core/error.h"
#include "ppan/report/text.h"
#include "unit/report/xml_check.h"

namespace ppan {
namespace {

using text::cut_to_columns;
using text::cut_to_width;
using text::escape;
using text::show_number;
using text::text_width;
using text::wrap;

using test::count_of;
using test::xml_fault;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Figure curve_of(int points) {
  Figure figure{.title = "T", .x = {.label = "distortion"}, .y = {.label = "leakage [nats]"}};
  FigureSeries series{.name = "learned"};
  for (int i = 0; i < points; ++i) {
    const double x = points == 1 ? 0.5 : i / (points - 1.0);
    series.points.push_back(
        {.x = x, .y = 1 - x, .interval = Interval{0.9 - x, 1.1 - x}, .key = std::to_string(i)});
  }
  figure.series.push_back(series);
  return figure;
}

TEST(XmlCheck, SeesFaults) {
  EXPECT_EQ(xml_fault("<a b=\"1\"><c/>x &lt; y</a>"), "");
  for (const char* bad :
       {"<a>", "<a></b>", "<a b=1/>", "<a b=\"1\" b=\"2\"/>", "a & b", "a > b", "<a b=\"<\"/>"}) {
    EXPECT_NE(xml_fault(bad), "") << bad;
  }
}

TEST(Ticks, AreRound) {
  EXPECT_THAT(round_ticks(0, 1, 5), ElementsAre(0, 0.2, 0.4, 0.6, 0.8, 1.0));
  EXPECT_THAT(round_ticks(-0.03, 0.71, 4), ElementsAre(0, 0.2, 0.4, 0.6));
  EXPECT_THAT(round_ticks(0, 23, 5), ElementsAre(0, 5, 10, 15, 20));
  EXPECT_THAT(round_ticks(1e9, 1e9 + 4, 4), ElementsAre(1e9, 1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4));
}

TEST(Ticks, LieInsideWhateverTheRange) {
  for (const double low : {-1e6, -3.7, 0.0, 1e-9, 123456.7}) {
    for (const double size : {1e-12, 1e-3, 0.7, 19.0, 1e5}) {
      for (const int wanted : {1, 2, 5, 10}) {
        const auto ticks = round_ticks(low, low + size, wanted);
        EXPECT_LE(ticks.size(), static_cast<std::size_t>(2 * wanted + 2)) << low << " " << size;
        for (const double tick : ticks) {
          EXPECT_GE(tick, low - 1e-6 * size);
          EXPECT_LE(tick, low + size * (1 + 1e-6));
        }
      }
    }
  }
  EXPECT_THAT(round_ticks(1, 1, 5), ElementsAre());
}

TEST(Ticks, OfALogarithmicAxisAreDecades) {
  EXPECT_THAT(log_ticks(1, 10000), ElementsAre(1, 10, 100, 1000, 10000));
  EXPECT_THAT(log_ticks(1.5, 30), ElementsAre(2, 5, 10, 20));
  EXPECT_LE(log_ticks(1e-30, 1e30).size(), 9U);
}

TEST(Ticks, LabelsShowTheFewestDecimalsThatTellThemApart) {
  EXPECT_THAT(tick_labels({0, 0.5, 1}), ElementsAre("0.0", "0.5", "1.0"));
  EXPECT_THAT(tick_labels({-2, 0, 2}), ElementsAre("\u22122", "0", "2"));
  EXPECT_THAT(tick_labels({0.25, 0.3}), ElementsAre("0.25", "0.30"));
  EXPECT_THAT(tick_labels({1e-5, 2e-5}), ElementsAre("1e-05", "2e-05"));
  EXPECT_THAT(tick_labels({0.1, 1, 10, 100}), ElementsAre("0.1", "1", "10", "100"));
}

TEST(Figure, IsWellFormedForAnyNumberOfPoints) {
  for (const int points : {0, 1, 2, 5, 200}) {
    SCOPED_TRACE(points);
    const std::string svg = to_svg(curve_of(points));
    EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
    EXPECT_EQ(count_of(svg, "class=\"m\"/>"), points + 1);  // and one in the legend
    EXPECT_THAT(svg, Not(HasSubstr("nan")));
    EXPECT_THAT(svg, Not(HasSubstr("inf")));
  }
}

TEST(Figure, EscapesEveryText) {
  const std::string evil = "<script>alert(\"1\")</script>&'";
  Figure figure = curve_of(3);
  figure.title = figure.x.label = figure.y.label = figure.note = figure.series[0].name = evil;
  figure.series[0].points[0].key = figure.series[0].points[0].label = evil;
  figure.series.push_back(
      {.name = evil, .kind = SeriesKind::kBars, .role = SeriesRole::kAfter, .points = {{.x = 0, .y = 1}}});
  figure.x.categories = {evil};
  for (const SvgUse use : {SvgUse::kDocument, SvgUse::kInline}) {
    const std::string svg = to_svg(figure, use);
    EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, HasSubstr("&lt;script&gt;"));
  }
}

TEST(Figure, LeavesOutWhatIsNotFinite) {
  Figure figure = curve_of(3);
  figure.series[0].points[1].y = std::numeric_limits<double>::quiet_NaN();
  figure.series[0].points[2].interval = Interval{-HUGE_VAL, HUGE_VAL};
  figure.series.push_back(
      {.name = "optimum", .kind = SeriesKind::kLine, .points = {{.x = 0, .y = HUGE_VAL}, {.x = 1, .y = 0}}});
  const std::string svg = to_svg(figure);
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
}

TEST(Figure, DrawsZeroWidthIntervalsAndEqualValues) {
  Figure figure = curve_of(2);
  for (FigurePoint& point : figure.series[0].points) {
    point.y = 0.25;
    point.interval = Interval{0.25, 0.25};
  }
  const std::string svg = to_svg(figure);
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
  EXPECT_EQ(count_of(svg, "class=\"w\""), 1);
}

TEST(Figure, DrawsTheBackgroundBelowTheOthersWithPaleIntervals) {
  Figure figure = curve_of(2);
  for (FigurePoint& point : figure.series[0].points) point.interval = Interval{point.y, point.y + 0.1};
  FigureSeries reference = figure.series[0];
  reference.role = SeriesRole::kReference;
  reference.background = true;
  figure.series.push_back(reference);
  const std::string svg = to_svg(figure);
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
  const auto pale = svg.find("class=\"w pale\"");
  const auto full = svg.find("class=\"w\"");
  ASSERT_NE(full, std::string::npos);
  EXPECT_LT(pale, full);
}

// The legend stands below the axes: its topmost entry lies under the lowest tick label.
TEST(Figure, LegendNeverCoversData) {
  Figure figure = curve_of(5);
  for (int i = 0; i < 12; ++i) {
    figure.series.push_back({.name = "a series with a rather long name, number " + std::to_string(i),
                             .points = {{.x = 0.5, .y = 0.1 * i}}});
  }
  const std::string svg = to_svg(figure);
  const std::regex clip("<svg x=\"[^\"]*\" y=\"([^\"]*)\" width=\"[^\"]*\" height=\"([^\"]*)\"");
  std::smatch area;
  ASSERT_TRUE(std::regex_search(svg, area, clip));
  const double bottom = std::stod(area[1]) + std::stod(area[2]);
  const std::regex entry("<text x=\"[^\"]*\" y=\"([^\"]*)\" class=\"t\">");
  int entries = 0;
  for (std::sregex_iterator it(svg.begin(), svg.end(), entry); it != std::sregex_iterator(); ++it) {
    EXPECT_GT(std::stod((*it)[1]), bottom);
    ++entries;
  }
  EXPECT_EQ(entries, 13);
}

TEST(Figure, LogarithmicAxisLeavesOutWhatIsNotPositive) {
  Figure figure = curve_of(3);
  figure.x.logarithmic = true;  // the first point is at 0
  const std::string svg = to_svg(figure);
  EXPECT_EQ(count_of(svg, "class=\"m\"/>"), 3);
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
}

TEST(Figure, CrowdsAreDrawnSmallWithABand) {
  const std::string svg = to_svg(curve_of(200));
  EXPECT_EQ(count_of(svg, "class=\"w\""), 0);
  EXPECT_EQ(count_of(svg, "class=\"b band\""), 1);
  Figure figure = curve_of(200);
  figure.y.logarithmic = true;  // some intervals reach below 0
  EXPECT_THAT(to_svg(figure), Not(HasSubstr("nan")));
}

TEST(Figure, TargetsOnlyInPages) {
  EXPECT_EQ(count_of(to_svg(curve_of(4), SvgUse::kInline), "data-key="), 4);
  EXPECT_EQ(count_of(to_svg(curve_of(4)), "data-key="), 0);
}

TEST(Figure, RefusesSizesThatAreNotPositive) {
  Figure figure = curve_of(2);
  figure.width = 0;
  EXPECT_THROW(to_svg(figure), Error);
}

TEST(FigureGrid, DrawsAllPanelsAndOneLegendEntryPerSeries) {
  FigureGrid grid{.title = "grid", .columns = 2};
  for (int i = 0; i < 5; ++i) {
    Figure panel = curve_of(4);
    panel.title = "panel " + std::to_string(i);
    panel.width = 200;
    panel.height = 150;
    grid.panels.push_back(panel);
  }
  const std::string svg = to_svg(grid);
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
  EXPECT_EQ(count_of(svg, ">panel "), 5);
  EXPECT_EQ(count_of(svg, ">learned<"), 1);
  EXPECT_EQ(xml_fault(to_svg(FigureGrid{}), {}, {"style"}), "");
}

TEST(Scatter, LeastSquaresLineIsExactForALine) {
  const auto line = least_squares({{0, 1}, {1, 3}, {2, 5}});
  ASSERT_TRUE(line.has_value());
  EXPECT_DOUBLE_EQ(line->first, 2);
  EXPECT_DOUBLE_EQ(line->second, 1);
  EXPECT_EQ(least_squares({{1, 1}, {1, 2}}), std::nullopt);
  EXPECT_EQ(least_squares({}), std::nullopt);
}

TEST(Scatter, DrawsCloudsAndLines) {
  const std::string svg = to_svg(scatter_figure(
      "s", {{"a", "Y", "X and Z", {{0, 0}, {1, 1}, {2, 1}}, {{0, 1}, {1, 0}}}}, "before", "after"));
  EXPECT_EQ(xml_fault(svg, {}, {"style"}), "");
  EXPECT_EQ(count_of(svg, "class=\"d\""), 4);  // two clouds, two samples in the legend
  EXPECT_THAT(svg, HasSubstr("before, fitted line"));
  EXPECT_THAT(svg, HasSubstr(">X and Z<"));
}

TEST(Text, EscapesWhatPagesCannotHold) {
  EXPECT_EQ(escape("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&#39;");
  EXPECT_EQ(escape("gr\u00fc\u00df \U0001F600"), "gr\u00fc\u00df \U0001F600");
  EXPECT_EQ(escape(std::string("a\0b\x01", 4)),
            "a\uFFFD"
            "b\uFFFD");
  EXPECT_EQ(escape("\xff\xc0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(escape("\xe2\x82"), "\uFFFD\uFFFD");  // cut off
}

TEST(Text, CutsAndWrapsByCharacterNotByByte) {
  EXPECT_EQ(cut_to_columns("\u00fc\u00fc\u00fc\u00fc", 3, "\u2026"), "\u00fc\u00fc\u2026");
  EXPECT_EQ(cut_to_columns("abc", 3, "~"), "abc");
  EXPECT_LE(text_width(cut_to_width(std::string(500, 'm'), 10)), 10);
  EXPECT_THAT(wrap("one two  three", 4.5), ElementsAre("one two", "three"));
  EXPECT_THAT(wrap("", 4), ElementsAre());
}

TEST(Text, ShowsNumbersAsPeopleWriteThem) {
  EXPECT_EQ(show_number(0.05234), "0.0523");
  EXPECT_EQ(show_number(0.5), "0.500");
  EXPECT_EQ(show_number(12.345), "12.3");
  EXPECT_EQ(show_number(-1.5), "\u22121.50");
  EXPECT_EQ(show_number(0), "0");
  EXPECT_EQ(show_number(1e-7), "1.00e-07");
  EXPECT_EQ(show_number(HUGE_VAL), "\u221E");
}

// Two measures of the same points: the second has its own scale, so that both fill the height.
TEST(Figure, ASecondAxisHasItsOwnScale) {
  Figure figure{.x = {.label = "distortion"},
                .y = {.label = "accuracy", .low = 0, .high = 1},
                .y2 = {.label = "leakage", .low = 0},
                .series = {}};
  figure.series.push_back({.name = "accuracy", .points = {{.x = 0, .y = 1}, {.x = 1, .y = 0.5}}});
  const std::string one = to_svg(figure);
  figure.series.push_back({.name = "leakage",
                           .role = SeriesRole::kLearned2,
                           .points = {{.x = 0, .y = 200}, {.x = 1, .y = 0}},
                           .second = true});
  const std::string two = to_svg(figure);
  EXPECT_EQ(one.find(">leakage<"), std::string::npos);
  EXPECT_NE(two.find("rotate(90)"), std::string::npos);
  EXPECT_NE(two.find(">200<"), std::string::npos);  // a tick of the right axis
  EXPECT_NE(two.find(">0.5<"), std::string::npos);  // and one of the left
  EXPECT_EQ(test::xml_fault(two, {}, {"style"}), "");
}

}  // namespace
}  // namespace ppan
