#include "ppan/audit/ball_counter.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace ppan {
namespace {

constexpr std::int32_t kLeaf = 32;  // most points of a leaf
// A box is inside, or outside, only if rounding cannot have made it so.
constexpr double kSlack = 1e-9;

}  // namespace

BallCounter::BallCounter(const Matrix<double>& points) : place_(static_cast<std::size_t>(points.cols())) {
  const auto count = static_cast<std::int32_t>(points.cols());
  std::vector<std::int32_t> order(place_.size());
  std::iota(order.begin(), order.end(), 0);
  const Index most_nodes = 4 * (points.cols() / kLeaf + 1);
  low_.resize(points.rows(), most_nodes);
  high_.resize(points.rows(), most_nodes);
  nodes_.push_back({.first = 0, .last = count});
  for (std::int32_t node = 0; node < static_cast<std::int32_t>(nodes_.size()); ++node)
    build(node, points, order);
  value_.resize(points.cols(), points.rows());
  for (std::int32_t i = 0; i < count; ++i) {
    value_.row(i) = points.col(order[static_cast<std::size_t>(i)]).transpose();
    place_[static_cast<std::size_t>(order[static_cast<std::size_t>(i)])] = i;
  }
}

void BallCounter::build(std::int32_t node, const Matrix<double>& points, std::vector<std::int32_t>& order) {
  const Node here = nodes_[static_cast<std::size_t>(node)];
  auto low = low_.col(node);
  auto high = high_.col(node);
  low = high = points.col(order[static_cast<std::size_t>(here.first)]);
  for (std::int32_t i = here.first + 1; i < here.last; ++i) {
    const auto point = points.col(order[static_cast<std::size_t>(i)]);
    low = low.cwiseMin(point);
    high = high.cwiseMax(point);
  }
  if (here.last - here.first <= kLeaf) return;
  Index widest = 0;
  (high - low).maxCoeff(&widest);
  const std::int32_t middle = here.first + (here.last - here.first) / 2;
  std::nth_element(order.begin() + here.first, order.begin() + middle, order.begin() + here.last,
                   [&](std::int32_t a, std::int32_t b) { return points(widest, a) < points(widest, b); });
  nodes_[static_cast<std::size_t>(node)].left = static_cast<std::int32_t>(nodes_.size());
  nodes_.push_back({.first = here.first, .last = middle});
  nodes_.push_back({.first = middle, .last = here.last});
}

Index BallCounter::count_leaf(const Node& node, const double* center, double squared) const {
  std::array<double, kLeaf> distance{};
  const std::int32_t size = node.last - node.first;
  for (Index d = 0; d < value_.cols(); ++d) {
    const double* value = value_.col(d).data() + node.first;
    for (std::int32_t i = 0; i < size; ++i) {
      const double difference = value[i] - center[d];
      distance[static_cast<std::size_t>(i)] += difference * difference;
    }
  }
  Index inside = 0;
  for (std::int32_t i = 0; i < size; ++i) inside += distance[static_cast<std::size_t>(i)] < squared ? 1 : 0;
  return inside;
}

Index BallCounter::count(Index point, double squared) const {
  const Index dimensions = value_.cols();
  const Vector<double> center = value_.row(place_[static_cast<std::size_t>(point)]).transpose();
  // Halves of at most 2^31 points: a path is no longer than this.
  std::array<std::int32_t, 64> waiting{};
  std::size_t waits = 1;
  Index inside = 0;
  while (waits > 0) {
    const std::int32_t id = waiting[--waits];
    const Node& node = nodes_[static_cast<std::size_t>(id)];
    const double* low = low_.col(id).data();
    const double* high = high_.col(id).data();
    double nearest = 0;
    double farthest = 0;
    for (Index d = 0; d < dimensions; ++d) {
      const double below = low[d] - center[d];
      const double above = center[d] - high[d];
      const double gap = std::max({below, above, 0.0});
      const double reach = std::max(-below, -above);
      nearest += gap * gap;
      farthest += reach * reach;
    }
    if (nearest > squared * (1 + kSlack)) continue;
    if (farthest < squared * (1 - kSlack)) {
      inside += node.last - node.first;
    } else if (node.left < 0) {
      inside += count_leaf(node, center.data(), squared);
    } else {
      waiting[waits++] = node.left;
      waiting[waits++] = node.left + 1;
    }
  }
  return inside;
}

}  // namespace ppan
