#include "ppan/chart_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>

#include "ppan/core/error.h"

namespace ppan::cli {
namespace {

// A line across the plot, which at one pixel per unit spans x 70..620 and y 420 (bottom) to 40.
Figure diagonal(const std::string& title = "Title") {
  Figure figure{.title = title};
  figure.x = {.label = "x", .low = 0, .high = 1};
  figure.y = {.label = "y", .low = 0, .high = 1};
  figure.series = {{.name = "learned", .kind = SeriesKind::kLine, .role = SeriesRole::kLearned}};
  figure.series.front().points = {{.x = 0, .y = 0}, {.x = 1, .y = 1}};
  return figure;
}

int at(const GreyImage& image, Index x, Index y) {
  return image.bytes[static_cast<std::size_t>(y * image.width + x)];
}

// The darkest of the pixels around.
int near(const GreyImage& image, Index x, Index y) {
  int darkest = 255;
  for (Index dy = -1; dy <= 1; ++dy) {
    for (Index dx = -1; dx <= 1; ++dx) darkest = std::min(darkest, at(image, x + dx, y + dy));
  }
  return darkest;
}

TEST(ChartPicture, ALineIsWhereItsValuesAre) {
  const GreyImage image = chart_picture(diagonal(), 1);
  EXPECT_EQ(image.width, 640);
  EXPECT_GT(image.height, 420);
  EXPECT_EQ(image.bytes.size(), static_cast<std::size_t>(image.width * image.height));
  for (const double share : {0.13, 0.37, 0.61, 0.89}) {
    const auto x = static_cast<Index>(70 + share * 550);
    const auto y = static_cast<Index>(420 - share * 380);
    EXPECT_LT(near(image, x, y), 60) << share;
    EXPECT_GT(at(image, x, y - 25), 200) << share;  // at most a pale line of the grid
  }
}

TEST(ChartPicture, MagnifiedItIsTheSamePictureWithMorePixels) {
  const GreyImage small = chart_picture(diagonal(), 1);
  const GreyImage large = chart_picture(diagonal(), 3);
  EXPECT_EQ(large.width, 3 * small.width);
  EXPECT_EQ(large.height, 3 * small.height);
  EXPECT_LT(near(large, 3 * 345, 3 * 230), 60);
}

TEST(ChartPicture, MarkersAndWhiskersAreDrawn) {
  Figure figure = diagonal();
  figure.series.front().kind = SeriesKind::kMarkers;
  figure.series.front().points = {{.x = 0.5, .y = 0.5, .interval = Interval{0.3, 0.7}}};
  const GreyImage image = chart_picture(figure, 1);
  EXPECT_LT(near(image, 345, 230), 40);
  EXPECT_LT(near(image, 345, 230 + 60), 160);   // y = 0.34, on the whisker
  EXPECT_GT(near(image, 345, 230 + 110), 200);  // y = 0.21, below it
}

TEST(ChartPicture, PointsThatAreNotFiniteAreLeftOut) {
  Figure figure = diagonal();
  figure.series.front().points.push_back({.x = 0.5, .y = std::numeric_limits<double>::quiet_NaN()});
  EXPECT_EQ(chart_picture(figure, 1).bytes, chart_picture(diagonal(), 1).bytes);
  figure.series.front().points.clear();
  EXPECT_NO_THROW(chart_picture(figure, 1));
}

TEST(ChartPicture, SaysWhatItCannotDraw) {
  Figure figure = diagonal();
  figure.series.front().kind = SeriesKind::kBars;
  EXPECT_THROW(chart_picture(figure), Error);
  figure = diagonal();
  figure.y.logarithmic = true;
  EXPECT_THROW(chart_picture(figure), Error);
}

TEST(ChartPicture, LettersDifferAndUnknownOnesAreKnownAsSuch) {
  EXPECT_TRUE(can_be_written("pixel cross-entropy [nats per pixel], I(X;Z) 0123456789 \u03bb \u03b3 \u2019"));
  EXPECT_FALSE(can_be_written("\u4e2d"));
  EXPECT_NE(chart_picture(diagonal("8"), 1).bytes, chart_picture(diagonal("9"), 1).bytes);
}

}  // namespace
}  // namespace ppan::cli
