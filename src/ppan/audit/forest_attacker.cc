#include "ppan/audit/forest_attacker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace ppan {
namespace {

constexpr Index kMostTreeRows = 20'000;  // that one tree looks at
constexpr int kMostBins = 64;            // of a feature: one bit of a word for each
constexpr int kMostDepth = 24;
constexpr double kPriorRows = 1;  // that the prior counts for in a leaf
constexpr std::array<Index, 2> kLeastLeaf{3, 30};
constexpr int kTriedTrees = 15;  // of each size of leaves

using Bins = Eigen::Matrix<std::uint8_t, Eigen::Dynamic, Eigen::Dynamic>;

// Features cut into at most kMostBins bins of about equal share; `edge[f][b]` is the least value of bin b
// + 1.
struct BinnedRows {
  Bins bin;
  std::vector<std::vector<float>> edge;
};

BinnedRows bin_rows(const Matrix<float>& data) {
  BinnedRows out;
  out.bin.resize(data.rows(), data.cols());
  out.edge.resize(static_cast<std::size_t>(data.cols()));
  std::vector<float> sorted;
  for (Index f = 0; f < data.cols(); ++f) {
    sorted.assign(data.col(f).data(), data.col(f).data() + data.rows());
    std::sort(sorted.begin(), sorted.end());
    auto& edge = out.edge[static_cast<std::size_t>(f)];
    for (std::size_t b = 1; b < kMostBins; ++b) {
      const float value = sorted[sorted.size() * b / kMostBins];
      if (value > sorted.front() && (edge.empty() || value > edge.back())) edge.push_back(value);
    }
    for (Index i = 0; i < data.rows(); ++i) {
      out.bin(i, f) =
          static_cast<std::uint8_t>(std::upper_bound(edge.begin(), edge.end(), data(i, f)) - edge.begin());
    }
  }
  return out;
}

struct Split {
  Index feature = -1;
  int bin = 0;  // rows of a bin below this one go left
  double gain = 1e-9;
};

// Grows one tree.
class Grower {
 public:
  Grower(const BinnedRows& rows, const Symbols& x, const AttackTask& task, ForestKind kind, Index least_leaf,
         RandomSource& random)
      : rows_(rows), x_(x), task_(task), kind_(kind), least_leaf_(least_leaf), random_(random) {
    const auto features = static_cast<double>(rows.bin.cols());
    tried_ =
        std::max<Index>(1, std::min<Index>(rows.bin.cols(), std::lround(std::ceil(2 * std::sqrt(features)))));
    features_.resize(static_cast<std::size_t>(rows.bin.cols()));
    std::iota(features_.begin(), features_.end(), Index{0});
    count_.assign(static_cast<std::size_t>(task.levels) * kMostBins, 0);
    left_.resize(static_cast<std::size_t>(task.levels));
    all_.resize(static_cast<std::size_t>(task.levels));
  }

  // n log n of every count that a tree can meet: most of the time would go into logarithms.
  static std::vector<double> make_log_table() {
    std::vector<double> out(static_cast<std::size_t>(kMostTreeRows) + 1, 0.0);
    for (std::size_t n = 1; n < out.size(); ++n)
      out[n] = static_cast<double>(n) * std::log(static_cast<double>(n));
    return out;
  }

  ForestAttacker::Tree grow(std::vector<std::int32_t> sample) {
    ForestAttacker::Tree tree;
    tree.nodes.emplace_back();
    struct Open {
      std::size_t node;
      std::size_t begin;
      std::size_t end;
      int depth;
    };
    std::vector<Open> open{{0, 0, sample.size(), 0}};
    while (!open.empty()) {
      const Open at = open.back();
      open.pop_back();
      const std::span<std::int32_t> part(sample.data() + at.begin, at.end - at.begin);
      const Split split = at.depth < kMostDepth ? best_split(part) : Split{};
      if (split.feature < 0) {
        make_leaf(part, tree, at.node);
        continue;
      }
      const auto middle = std::partition(part.begin(), part.end(), [&](std::int32_t row) {
        return rows_.bin(row, split.feature) < split.bin;
      });
      const auto left = static_cast<std::size_t>(middle - part.begin());
      const auto below = static_cast<std::int32_t>(tree.nodes.size());
      tree.nodes[at.node] = {
          static_cast<std::int32_t>(split.feature),
          rows_.edge[static_cast<std::size_t>(split.feature)][static_cast<std::size_t>(split.bin - 1)],
          below};
      tree.nodes.resize(tree.nodes.size() + 2);
      open.push_back({static_cast<std::size_t>(below), at.begin, at.begin + left, at.depth + 1});
      open.push_back({static_cast<std::size_t>(below) + 1, at.begin + left, at.end, at.depth + 1});
    }
    return tree;
  }

 private:
  void make_leaf(std::span<const std::int32_t> part, ForestAttacker::Tree& tree, std::size_t node) {
    tree.nodes[node].below = static_cast<std::int32_t>(tree.shares.size());
    const auto total = static_cast<double>(part.size()) + kPriorRows;
    std::fill(all_.begin(), all_.end(), 0);
    for (const std::int32_t row : part)
      all_[static_cast<std::size_t>(x_[static_cast<std::size_t>(row)])] += 1;
    for (std::size_t l = 0; l < all_.size(); ++l) {
      tree.shares.push_back(
          static_cast<float>((all_[l] + kPriorRows * task_.prior[static_cast<Index>(l)]) / total));
    }
  }

  // Sum over classes of n log n: what entropies of counts are made of.
  static double sum_log(const std::vector<std::int32_t>& count, std::int32_t total) {
    static const std::vector<double> n_log_n = make_log_table();
    double sum = -n_log_n[static_cast<std::size_t>(total)];
    for (const std::int32_t c : count) sum += n_log_n[static_cast<std::size_t>(c)];
    return sum;
  }

  Split best_split(std::span<const std::int32_t> part) {
    Split best;
    const auto rows = static_cast<std::int32_t>(part.size());
    if (static_cast<Index>(part.size()) < 2 * least_leaf_) return best;
    std::fill(all_.begin(), all_.end(), 0);
    own_.clear();
    for (const std::int32_t row : part) {
      own_.push_back(x_[static_cast<std::size_t>(row)]);
      all_[static_cast<std::size_t>(own_.back())] += 1;
    }
    if (*std::max_element(all_.begin(), all_.end()) == rows) return best;
    const double whole = sum_log(all_, rows);
    const std::vector<std::int32_t> all = all_;
    for (Index t = 0; t < tried_; ++t) {
      const auto other =
          static_cast<std::size_t>(t + random_.index(static_cast<Index>(features_.size()) - t));
      std::swap(features_[static_cast<std::size_t>(t)], features_[other]);
      try_feature(features_[static_cast<std::size_t>(t)], part, all, whole, best);
    }
    return best;
  }

  void try_feature(Index feature, std::span<const std::int32_t> part, const std::vector<std::int32_t>& all,
                   double whole, Split& best) {
    const std::uint8_t* bin = rows_.bin.col(feature).data();
    if (kind_ == ForestKind::kExtraTrees) {
      try_random_threshold(feature, bin, part, all, whole, best);
    } else {
      try_all_thresholds(feature, bin, part, all, whole, best);
    }
  }

  // One threshold, drawn between the least and the greatest bin of the rows.
  void try_random_threshold(Index feature, const std::uint8_t* bin, std::span<const std::int32_t> part,
                            const std::vector<std::int32_t>& all, double whole, Split& best) {
    int low = kMostBins;
    int high = -1;
    for (const std::int32_t row : part) {
      low = std::min<int>(low, bin[row]);
      high = std::max<int>(high, bin[row]);
    }
    if (low >= high) return;
    const int threshold = low + 1 + static_cast<int>(random_.index(high - low));
    std::fill(left_.begin(), left_.end(), 0);
    std::int32_t left_rows = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::int32_t below = bin[part[i]] < threshold ? 1 : 0;
      left_[static_cast<std::size_t>(own_[i])] += below;
      left_rows += below;
    }
    const auto rows = static_cast<std::int32_t>(part.size());
    if (left_rows < least_leaf_ || rows - left_rows < least_leaf_) return;
    judge({feature, threshold}, left_rows, rows, all, whole, best);
  }

  // Most nodes are small: only bins that hold rows are looked at.
  void try_all_thresholds(Index feature, const std::uint8_t* bin, std::span<const std::int32_t> part,
                          const std::vector<std::int32_t>& all, double whole, Split& best) {
    const auto levels = static_cast<std::size_t>(task_.levels);
    std::uint64_t occupied = 0;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const std::size_t b = bin[part[i]];
      occupied |= std::uint64_t{1} << b;
      count_[b * levels + static_cast<std::size_t>(own_[i])] += 1;
    }
    const auto rows = static_cast<std::int32_t>(part.size());
    std::fill(left_.begin(), left_.end(), 0);
    std::int32_t left_rows = 0;
    // Counts are 0 outside a call.
    for (; occupied != 0; occupied &= occupied - 1) {
      const auto b = static_cast<std::size_t>(std::countr_zero(occupied));
      for (std::size_t l = 0; l < levels; ++l) {
        std::int32_t& c = count_[b * levels + l];
        left_[l] += c;
        left_rows += c;
        c = 0;
      }
      if (left_rows < least_leaf_ || rows - left_rows < least_leaf_) continue;
      judge({feature, static_cast<int>(b) + 1}, left_rows, rows, all, whole, best);
    }
  }

  // `left_` are the rows of each level on the left.
  void judge(Split split, std::int32_t left_rows, std::int32_t rows, const std::vector<std::int32_t>& all,
             double whole, Split& best) {
    for (std::size_t l = 0; l < left_.size(); ++l) all_[l] = all[l] - left_[l];
    split.gain = sum_log(left_, left_rows) + sum_log(all_, rows - left_rows) - whole;
    if (split.gain > best.gain) best = split;
  }

  const BinnedRows& rows_;
  const Symbols& x_;
  const AttackTask& task_;
  ForestKind kind_;
  Index least_leaf_;
  RandomSource& random_;
  Index tried_ = 1;
  std::vector<Index> features_;
  std::vector<std::int32_t> count_;
  std::vector<std::int32_t> left_;
  std::vector<std::int32_t> all_;
  Symbols own_;  // truth of the rows of a node, side by side
};

std::vector<std::int32_t> sample_rows(Index rows, ForestKind kind, RandomSource& random) {
  const Index wanted = std::min(rows, kMostTreeRows);
  std::vector<std::int32_t> sample(static_cast<std::size_t>(wanted));
  if (kind == ForestKind::kExtraTrees && wanted == rows) {
    std::iota(sample.begin(), sample.end(), 0);
    return sample;
  }
  for (std::int32_t& row : sample) row = static_cast<std::int32_t>(random.index(rows));
  return sample;
}

}  // namespace

void ForestAttacker::fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) {
  const BinnedRows binned = bin_rows(train.data);
  const int trees = std::max(10, task_.effort.trees / 20);
  const int first = std::min(trees, kTriedTrees);
  const auto grow = [&](Index least_leaf, int count, std::vector<Tree>& grown) {
    for (int t = 0; t < count; ++t) {
      Grower grower(binned, train.x, task_, kind_, least_leaf, random);
      grown.push_back(grower.grow(sample_rows(train.rows(), kind_, random)));
    }
  };
  double best = -std::numeric_limits<double>::infinity();
  Index chosen = kLeastLeaf.front();
  // Few trees show which leaves are better; only those are grown to the end.
  for (const Index least_leaf : kLeastLeaf) {
    std::vector<Tree> grown;
    grow(least_leaf, first, grown);
    std::swap(trees_, grown);
    const double score = mean_score(log_probability(selection), selection.x);
    if (score > best) {
      best = score;
      chosen = least_leaf;
    } else {
      std::swap(trees_, grown);
    }
  }
  grow(chosen, trees - first, trees_);
}

Matrix<float> ForestAttacker::log_probability(const AttackRows& rows) {
  // A few rows at a time, cell beside cell: every tree jumps from feature to feature of a row.
  constexpr Index kBlock = 128;
  using RowMajor = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  RowMajor out = RowMajor::Zero(rows.rows(), task_.levels);
  RowMajor block;
  for (Index begin = 0; begin < rows.rows(); begin += kBlock) {
    const Index count = std::min(kBlock, rows.rows() - begin);
    block = rows.data.middleRows(begin, count);
    for (const Tree& tree : trees_) {
      for (Index i = 0; i < count; ++i) {
        const float* cell = block.row(i).data();
        const Node* node = tree.nodes.data();
        while (node->feature >= 0)
          node = tree.nodes.data() + node->below + (cell[node->feature] < node->threshold ? 0 : 1);
        for (Index l = 0; l < task_.levels; ++l)
          out(begin + i, l) += tree.shares[static_cast<std::size_t>(node->below + l)];
      }
    }
  }
  return (out / static_cast<float>(std::max<std::size_t>(1, trees_.size()))).array().max(1e-12F).log();
}

}  // namespace ppan
