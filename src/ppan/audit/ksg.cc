#include "ppan/audit/ksg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nanoflann.hpp>
#include <numbers>
#include <numeric>
#include <vector>

#include "ppan/audit/ball_counter.h"
#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

/// Points as columns, so that one point is contiguous; the form nanoflann asks for.
struct Cloud {
  Matrix<double> points;

  [[nodiscard]] std::size_t kdtree_get_point_count() const { return static_cast<std::size_t>(points.cols()); }
  [[nodiscard]] double kdtree_get_pt(std::size_t point, std::size_t dimension) const {
    return points(static_cast<Index>(dimension), static_cast<Index>(point));
  }
  template <typename Box>
  bool kdtree_get_bbox(Box&) const {
    return false;
  }
};

using Tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<double, Cloud>, Cloud, -1,
                                                 std::uint32_t>;

/// Collects the k nearest under max(|dx|, |dz|) from a tree that searches by sqrt(|dx|^2 + |dz|^2). The
/// second is at most sqrt(2) times the first, so whatever lies beyond sqrt(2) times the k-th distance found
/// cannot be nearer.
class NearestByMaximum {
 public:
  NearestByMaximum(const Matrix<double>& joint, Index dim_x, Index self, int k)
      : joint_(joint),
        dim_x_(dim_x),
        self_(self),
        squared_(static_cast<std::size_t>(k), std::numeric_limits<double>::infinity()) {}

  [[nodiscard]] double worstDist() const { return 2 * squared_.back(); }
  [[nodiscard]] bool full() const { return std::isfinite(squared_.back()); }
  [[nodiscard]] std::size_t size() const { return squared_.size(); }
  bool addPoint(double /*euclidean*/, std::uint32_t point) {
    const auto other = static_cast<Index>(point);
    if (other == self_) return true;
    const Index dim_z = joint_.rows() - dim_x_;
    const double dx = (joint_.col(other).head(dim_x_) - joint_.col(self_).head(dim_x_)).squaredNorm();
    const double dz = (joint_.col(other).tail(dim_z) - joint_.col(self_).tail(dim_z)).squaredNorm();
    const double distance = std::max(dx, dz);
    if (distance >= squared_.back()) return true;
    // Insertion sort: k is a handful.
    std::size_t i = squared_.size() - 1;
    for (; i > 0 && squared_[i - 1] > distance; --i) squared_[i] = squared_[i - 1];
    squared_[i] = distance;
    return true;
  }
  /// Squared distance of the k-th neighbour.
  [[nodiscard]] double kth() const { return squared_.back(); }

 private:
  const Matrix<double>& joint_;
  Index dim_x_;
  Index self_;
  std::vector<double> squared_;  // rising
};

/// How many other points of a cloud lie strictly within a distance of one of them.
class Neighbourhood {
 public:
  explicit Neighbourhood(const Matrix<double>& points) {
    if (points.rows() > 1) {
      balls_ = std::make_unique<BallCounter>(points);
      return;
    }
    std::vector<Index> order(static_cast<std::size_t>(points.cols()));
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return points(0, a) < points(0, b); });
    sorted_.resize(order.size());
    rank_.resize(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      sorted_[i] = points(0, order[i]);
      rank_[static_cast<std::size_t>(order[i])] = static_cast<Index>(i);
    }
  }

  [[nodiscard]] Index count(Index point, double squared_distance) const {
    // The k-th neighbour itself often lies exactly at the distance and must not count, whatever the rounding.
    const double squared = squared_distance * (1 - 1e-12);
    if (balls_) return balls_->count(point, squared) - (squared > 0 ? 1 : 0);
    // On a line: two binary searches, then settled by the very differences the distance was computed from.
    const double distance = std::sqrt(squared);
    const Index rank = rank_[static_cast<std::size_t>(point)];
    const double here = sorted_[static_cast<std::size_t>(rank)];
    const auto inside = [&](Index i) {
      const double difference = sorted_[static_cast<std::size_t>(i)] - here;
      return difference * difference < squared;
    };
    const auto size = static_cast<Index>(sorted_.size());
    Index first = std::min<Index>(
        rank, std::lower_bound(sorted_.begin(), sorted_.end(), here - distance) - sorted_.begin());
    while (first > 0 && inside(first - 1)) --first;
    while (first < rank && !inside(first)) ++first;
    Index last = std::max<Index>(
        rank + 1, std::upper_bound(sorted_.begin(), sorted_.end(), here + distance) - sorted_.begin());
    while (last < size && inside(last)) ++last;
    while (last > rank + 1 && !inside(last - 1)) --last;
    return last - first - 1;
  }

 private:
  std::unique_ptr<BallCounter> balls_;  // of several dimensions
  std::vector<double> sorted_;          // of one
  std::vector<Index> rank_;             // position of each point in sorted_
};

/// psi(1) .. psi(count): psi(1) = -gamma, psi(j+1) = psi(j) + 1/j.
std::vector<double> digamma_table(Index count) {
  std::vector<double> psi(static_cast<std::size_t>(count) + 1);
  psi[1] = -std::numbers::egamma;
  for (std::size_t j = 1; j + 1 < psi.size(); ++j) psi[j + 1] = psi[j] + 1 / static_cast<double>(j);
  return psi;
}

/// The estimator itself, on points that are columns: the first dim_x rows x, the others z.
double ksg(const Matrix<double>& points, Index dim_x, int k, int threads) {
  const Index n = points.cols();
  // In the order of a tree's leaves, neighbours lie beside each other in memory.
  const std::vector<std::uint32_t> order =
      Tree(static_cast<std::uint32_t>(points.rows()), Cloud{points}).vAcc;
  const Cloud cloud{points(Eigen::all, order)};
  const Matrix<double>& joint = cloud.points;
  const Tree tree(static_cast<std::uint32_t>(joint.rows()), cloud);
  const Neighbourhood near_x(joint.topRows(dim_x));
  const Neighbourhood near_z(joint.bottomRows(joint.rows() - dim_x));
  const std::vector<double> psi = digamma_table(n);

  std::vector<double> term(static_cast<std::size_t>(n));
  constexpr Index kChunk = 512;
  parallel_for((n + kChunk - 1) / kChunk, threads, [&](std::int64_t chunk) {
    const Index end = std::min<Index>(n, (chunk + 1) * kChunk);
    for (Index i = chunk * kChunk; i < end; ++i) {
      NearestByMaximum nearest(joint, dim_x, i, k);
      tree.findNeighbors(nearest, joint.col(i).data(), nanoflann::SearchParams());
      term[order[static_cast<std::size_t>(i)]] =
          psi[static_cast<std::size_t>(near_x.count(i, nearest.kth())) + 1] +
          psi[static_cast<std::size_t>(near_z.count(i, nearest.kth())) + 1];
    }
  });
  const double mean = std::accumulate(term.begin(), term.end(), 0.0) / static_cast<double>(n);
  return psi[static_cast<std::size_t>(k)] + psi[static_cast<std::size_t>(n)] - mean;
}

/// Columns of `values` standardised and jittered, as rows of the result; constant columns are left out.
Matrix<double> prepare(const MatrixRef<double>& values, double jitter, SeededRandom random) {
  Matrix<double> rows(values.cols(), values.rows());
  Index kept = 0;
  for (Index j = 0; j < values.cols(); ++j) {
    const double mean = values.col(j).mean();
    const double deviation =
        std::sqrt((values.col(j).array() - mean).square().sum() / static_cast<double>(values.rows()));
    // What is left of a constant after rounding its mean is not variation.
    if (deviation <= 1e-14 * values.col(j).cwiseAbs().maxCoeff()) continue;
    Matrix<double> noise(values.rows(), 1);
    fill_uniform(random, -jitter, jitter, noise);
    rows.row(kept++) =
        ((values.col(j).array() - mean) / deviation + noise.col(0).array()).matrix().transpose();
  }
  return rows.topRows(kept);
}

/// 97.5 % point of Student's t (Cornish-Fisher expansion; within 0.002 from 4 degrees of freedom on).
double student_t(double freedom) {
  constexpr double z = 1.959964;
  constexpr double z2 = z * z;
  return z + z * (z2 + 1) / (4 * freedom) + z * ((5 * z2 + 16) * z2 + 3) / (96 * freedom * freedom) +
         z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * freedom * freedom * freedom);
}

}  // namespace

Problems KsgOptions::check() const {
  ProblemList problems;
  problems.require_between("neighbours", neighbours, 1, 100);
  problems.require_between("jitter", jitter, 0, 0.01);
  problems.require_between("blocks", blocks, 5, 100);
  problems.require_at_least("threads", threads, 0);
  return problems.take();
}

Estimate ksg_information(const MatrixRef<double>& x, const MatrixRef<double>& z, const KsgOptions& options) {
  require_none(options.check(), "nearest-neighbour estimate");
  if (x.rows() != z.rows())
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} sensitive and {} released rows do not match", x.rows(), z.rows()));
  const Index least = static_cast<Index>(options.blocks) * (options.neighbours + 2);
  if (x.rows() < least || x.rows() > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows are too few for a nearest-neighbour estimate", x.rows()),
                fmt::format("give at least {} rows", least));
  if (!x.allFinite() || !z.allFinite())
    throw Error(ErrorCode::kBadInput, "a sensitive or released value is not finite");

  Estimate estimate{0, Interval{0, 0}, Bound::kEstimate, "ksg", x.rows()};
  const SeededRandom root(options.seed);
  const Matrix<double> rows_x = prepare(x, options.jitter, root.fork("jitter-x"));
  const Matrix<double> rows_z = prepare(z, options.jitter, root.fork("jitter-z"));
  if (rows_x.rows() == 0 || rows_z.rows() == 0) return estimate;
  Matrix<double> joint(rows_x.rows() + rows_z.rows(), x.rows());
  joint << rows_x, rows_z;
  estimate.nats = ksg(joint, rows_x.rows(), options.neighbours, options.threads);

  std::vector<std::int32_t> order(static_cast<std::size_t>(x.rows()));
  std::iota(order.begin(), order.end(), 0);
  SeededRandom partition = root.fork("blocks");
  shuffle(partition, order);
  Vector<double> part(options.blocks);
  const std::int64_t size = x.rows() / options.blocks;
  for (int b = 0; b < options.blocks; ++b) {
    const std::vector<std::int32_t> mine(order.begin() + b * size, order.begin() + (b + 1) * size);
    part[b] = ksg(joint(Eigen::all, mine), rows_x.rows(), options.neighbours, options.threads);
  }
  const double variance = (part.array() - part.mean()).square().sum() / (options.blocks - 1);
  const double error = student_t(options.blocks - 1) * std::sqrt(variance / options.blocks);
  estimate.interval95 = Interval{estimate.nats - error, estimate.nats + error};
  return estimate;
}

}  // namespace ppan
