#include "ppan/core/hull.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

namespace ppan {
namespace {

std::vector<HullPoint> points_of(const std::vector<std::pair<int, int>>& grid) {
  std::vector<HullPoint> points;
  for (const auto& [d, l] : grid)
    points.push_back({std::abs(d % 50) / 10.0, std::abs(l % 50) / 10.0});  // a coarse grid has ties
  return points;
}

TEST(Hull, KeepsTheEndsAndDropsWhatLiesAbove) {
  const std::vector<HullPoint> points{{0, 1}, {0.5, 0.9}, {0.5, 0.2}, {0.25, 0.6}, {1, 0}, {2, 0}};
  EXPECT_EQ(lower_hull(points), (std::vector<std::size_t>{0, 2, 4}));
}

TEST(Hull, OfOnePointIsThatPoint) {
  const std::vector<HullPoint> points{{0.3, 0.4}};
  const auto hull = lower_hull(points);
  EXPECT_EQ(hull, std::vector<std::size_t>{0});
  EXPECT_FALSE(at_most_distortion(points, hull, 0.29));
  EXPECT_FALSE(at_most_leakage(points, hull, 0.39));
  EXPECT_EQ(at_most_distortion(points, hull, 5)->second_weight, 0);
}

TEST(Hull, OfNothingServesNothing) {
  EXPECT_TRUE(lower_hull({}).empty());
  EXPECT_FALSE(at_most_distortion({}, {}, 1));
  EXPECT_FALSE(hull_leakage({}, {}, 1));
}

TEST(Hull, MixesTheTwoNeighbours) {
  const std::vector<HullPoint> points{{0, 1}, {0.4, 0.2}, {1, 0}};
  const auto hull = lower_hull(points);
  const auto by_distortion = at_most_distortion(points, hull, 0.1);
  ASSERT_TRUE(by_distortion);
  EXPECT_EQ(by_distortion->first, 0U);
  EXPECT_EQ(by_distortion->second, 1U);
  EXPECT_NEAR(by_distortion->second_weight, 0.25, 1e-12);
  EXPECT_NEAR(by_distortion->point.leakage, 0.8, 1e-12);
  const auto by_leakage = at_most_leakage(points, hull, 0.1);
  ASSERT_TRUE(by_leakage);
  EXPECT_EQ(by_leakage->first, 1U);
  EXPECT_EQ(by_leakage->second, 2U);
  EXPECT_NEAR(by_leakage->point.distortion, 0.7, 1e-12);
}

RC_GTEST_PROP(Hull, NoPointLiesBelowIt, (const std::vector<std::pair<int, int>>& grid)) {
  const auto points = points_of(grid);
  const auto hull = lower_hull(points);
  RC_ASSERT(hull.empty() == points.empty());
  for (const HullPoint& p : points) {
    const auto leakage = hull_leakage(points, hull, p.distortion);
    RC_ASSERT(leakage.has_value());
    RC_ASSERT(*leakage <= p.leakage + 1e-12);
  }
}

RC_GTEST_PROP(Hull, IsConvexAndFalls, (const std::vector<std::pair<int, int>>& grid)) {
  const auto points = points_of(grid);
  const auto hull = lower_hull(points);
  for (std::size_t i = 1; i < hull.size(); ++i) {
    const HullPoint& a = points[hull[i - 1]];
    const HullPoint& b = points[hull[i]];
    RC_ASSERT(a.distortion < b.distortion);
    RC_ASSERT(a.leakage > b.leakage);
    if (i < 2) continue;
    const HullPoint& before = points[hull[i - 2]];
    // Of three points on one line rounding decides whether the middle one stays.
    RC_ASSERT((a.leakage - before.leakage) / (a.distortion - before.distortion) <=
              (b.leakage - a.leakage) / (b.distortion - a.distortion) + 1e-12);
  }
}

RC_GTEST_PROP(Hull, DoesNotChangeWhenPointsOnOrAboveItAreAdded,
              (const std::vector<std::pair<int, int>>& grid, const std::vector<std::pair<int, int>>& more)) {
  const auto points = points_of(grid);
  const auto hull = lower_hull(points);
  auto extended = points;
  for (const HullPoint& p : points_of(more)) {
    const auto below = hull_leakage(points, hull, p.distortion);
    if (below && *below + 1e-9 < p.leakage) extended.push_back(p);
  }
  RC_ASSERT(lower_hull(extended) == hull);
}

RC_GTEST_PROP(Hull, ServesWhatItIsAskedForExactly, (const std::vector<std::pair<int, int>>& grid)) {
  const auto points = points_of(grid);
  RC_PRE(!points.empty());
  const auto hull = lower_hull(points);
  const double first = points[hull.front()].distortion;
  const double last = points[hull.back()].distortion;
  for (int i = 0; i <= 10; ++i) {
    const double wanted = first + (last - first) * i / 10;
    const auto mixture = at_most_distortion(points, hull, wanted);
    RC_ASSERT(mixture.has_value());
    RC_ASSERT(mixture->second_weight >= 0);
    RC_ASSERT(mixture->second_weight < 1);
    RC_ASSERT(std::abs(mixture->point.distortion - wanted) < 1e-9);
    // Asking for the leakage this gives leads to the same distortion.
    const auto back = at_most_leakage(points, hull, mixture->point.leakage + 1e-12);
    RC_ASSERT(back.has_value());
    RC_ASSERT(back->point.distortion <= wanted + 1e-6);
  }
}

TEST(Hull, TimeSharingMeetsTheDistortionAsked) {
  EXPECT_EQ(unchanged_share(0, 0, 2), 1);
  EXPECT_EQ(unchanged_share(0.5, 0, 2), 0.75);
  // Where even the unchanged release costs something.
  EXPECT_EQ(unchanged_share(1.25, 0.5, 2), 0.5);
  EXPECT_EQ(unchanged_share(0.1, 0.5, 2), 1) << "there is no less";
  EXPECT_EQ(unchanged_share(3, 0.5, 2), 0);
  EXPECT_EQ(unchanged_share(1, 1, 1), 0) << "nothing to share";
}

TEST(Hull, APointIsDominatedWhereOthersServeItsDistortionWithLess) {
  const std::vector<HullPoint> line{{0, 1}, {1, 0}};
  EXPECT_TRUE(is_dominated({0.5, 0.6}, line));
  EXPECT_FALSE(is_dominated({0.5, 0.5}, line)) << "a mixture does as well, not better";
  EXPECT_FALSE(is_dominated({0.5, 0.4}, line));
  EXPECT_TRUE(is_dominated({2, 0.1}, line)) << "nothing more is hidden for more distortion";
  EXPECT_FALSE(is_dominated({-1, 5}, line)) << "no other is as cheap";
  EXPECT_FALSE(is_dominated({0.5, 0.5}, {}));
}

}  // namespace
}  // namespace ppan
