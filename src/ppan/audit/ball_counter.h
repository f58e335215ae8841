#pragma once

#include <cstdint>
#include <vector>

#include "ppan/core/matrix.h"

namespace ppan {

/// How many points lie strictly within a Euclidean distance of one of them, by a k-d tree that knows how many
/// points are below each node: a box inside the ball is counted at once, and only leaves that the sphere cuts
/// are looked at point by point. A point is inside by its computed squared distance, terms added in the order
/// of the dimensions, so that the answer is that of comparing all points.
class BallCounter {
 public:
  /// `points`: one to a column.
  explicit BallCounter(const Matrix<double>& points);

  /// Points with a squared distance from point `point` below `squared`, itself included if that is above 0.
  [[nodiscard]] Index count(Index point, double squared) const;

 private:
  /// Points first..last of the tree's order. Its children are `left` and left + 1, of a leaf there are none.
  struct Node {
    std::int32_t first = 0;
    std::int32_t last = 0;
    std::int32_t left = -1;
  };
  void build(std::int32_t node, const Matrix<double>& points, std::vector<std::int32_t>& order);
  [[nodiscard]] Index count_leaf(const Node& node, const double* center, double squared) const;

  std::vector<Node> nodes_;
  Matrix<double> low_;    // of each node, a column: least coordinates of its points
  Matrix<double> high_;   // and the greatest
  Matrix<double> value_;  // points x dimensions in the tree's order: a coordinate of neighbours is contiguous
  std::vector<std::int32_t> place_;  // of each point in that order
};

}  // namespace ppan
