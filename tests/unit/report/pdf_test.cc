#include "ppan/report/pdf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <charconv>

#include "ppan/core/error.h"
#include "ppan/report/figure.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

Figure sample() {
  Figure figure{
      .title = "A (title) \u2013 \u03b3 = 2", .x = {.label = "x"}, .y = {.label = "y"}, .series = {}};
  figure.series.push_back({.name = "one",
                           .role = SeriesRole::kLearned,
                           .points = {{.x = 0, .y = 1, .interval = Interval{0.5, 1.5}}, {.x = 1, .y = 2}}});
  figure.series.push_back({.name = "two",
                           .kind = SeriesKind::kLine,
                           .role = SeriesRole::kOptimum2,
                           .points = {{.x = 0, .y = 0}, {.x = 1, .y = 1}}});
  return figure;
}

TEST(Pdf, HoldsWhatTheDrawingHolds) {
  const std::string pdf = figure_pdf(to_svg(sample()));
  EXPECT_TRUE(pdf.starts_with("%PDF-1.4\n"));
  EXPECT_TRUE(pdf.ends_with("%%EOF\n"));
  EXPECT_THAT(pdf, HasSubstr("(A \\(title\\) \\226 gamma = 2) Tj"));
  EXPECT_THAT(pdf, HasSubstr("0.000 0.447 0.698 RG"));  // #0072B2, the colour of what was learned
  EXPECT_THAT(pdf, HasSubstr("[7 4] 0 d"));             // the dash of the second optimum
  EXPECT_THAT(pdf, HasSubstr("/MediaBox[0 0 640 "));
  EXPECT_EQ(pdf, figure_pdf(to_svg(sample())));
}

// Every object begins where the table says.
TEST(Pdf, TheTableOfObjectsIsRight) {
  const std::string pdf = figure_pdf(to_svg(sample()));
  const std::size_t table = pdf.rfind("\nxref\n") + 1;
  EXPECT_THAT(pdf, HasSubstr("startxref\n" + std::to_string(table) + "\n"));
  std::size_t line = pdf.find('\n', pdf.find("65535 f", table)) + 1;
  for (int object = 1; object <= 6; ++object, line += 20) {
    std::size_t place = 0;
    std::from_chars(pdf.data() + line, pdf.data() + line + 10, place);
    EXPECT_TRUE(pdf.substr(place).starts_with(std::to_string(object) + " 0 obj")) << object;
  }
  const std::size_t length_at = pdf.find("/Length ") + 8;
  std::size_t length = 0;
  std::from_chars(pdf.data() + length_at, pdf.data() + length_at + 10, length);
  const std::size_t begin = pdf.find("stream\n") + 7;
  EXPECT_EQ(pdf.substr(begin + length, 9), "endstream");
}

TEST(Pdf, OtherTextIsRefused) {
  EXPECT_THROW(figure_pdf("hello"), Error);
  EXPECT_THROW(figure_pdf("<svg></svg>"), Error);
}

}  // namespace
}  // namespace ppan
