#include "ppan/audit/ball_counter.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/random.h"

namespace ppan {
namespace {

Index brute_force(const Matrix<double>& points, Index center, double squared) {
  Index inside = 0;
  for (Index i = 0; i < points.cols(); ++i) {
    double distance = 0;
    for (Index d = 0; d < points.rows(); ++d)
      distance += (points(d, i) - points(d, center)) * (points(d, i) - points(d, center));
    inside += distance < squared ? 1 : 0;
  }
  return inside;
}

TEST(BallCounter, CountsAsComparingAllPointsDoes) {
  SeededRandom random(1);
  for (const Index dimensions : {2, 3, 7}) {
    for (const Index count : {1, 32, 33, 1000}) {
      Matrix<double> points(dimensions, count);
      fill_normal(random, points);
      const BallCounter balls(points);
      for (Index i = 0; i < count; i += 1 + count / 20)
        for (const double squared : {0.0, 0.01, 0.5, 4.0, 1000.0})
          ASSERT_EQ(balls.count(i, squared), brute_force(points, i, squared))
              << dimensions << " dimensions, " << count << " points, " << squared;
    }
  }
}

// On a grid many points lie exactly on the sphere, which is outside, and many are equal.
TEST(BallCounter, CountsTiesAsComparingAllPointsDoes) {
  SeededRandom random(2);
  Matrix<double> points(2, 2000);
  fill_normal(random, points);
  points = points.array().round().matrix();
  const BallCounter balls(points);
  for (Index i = 0; i < points.cols(); i += 37)
    for (const double squared : {1.0, 2.0, 4.0, 5.0})
      ASSERT_EQ(balls.count(i, squared), brute_force(points, i, squared));
}

}  // namespace
}  // namespace ppan
