#include "ppan/table/heads_links.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "ppan/nn/adam.h"
#include "ppan/table/heads_batch.h"

namespace ppan {
namespace {

constexpr std::size_t kMostLinks = 12;  // of a head
constexpr int kSteps = 800;
constexpr int kChecks = 20;
constexpr Index kBatch = 256;
constexpr double kRate = 0.03;
constexpr double kDecay = 0.005;
constexpr double kHeldOut = 0.2;
constexpr std::size_t kMostHeldOut = 4000;
constexpr double kPrior = 0.5;  // rows, added to the counts of cells

// I(A;B) by counting, less what chance gives.
double information(const CellRows& own, Index a, Index b, Index cells_a, Index cells_b) {
  Matrix<double> joint = Matrix<double>::Zero(cells_a, cells_b);
  for (Index i = 0; i < own.cols(); ++i) joint(own(a, i), own(b, i)) += 1;
  const auto rows = static_cast<double>(own.cols());
  const Vector<double> of_a = joint.rowwise().sum();
  const Vector<double> of_b = joint.colwise().sum();
  double sum = 0;
  for (Index x = 0; x < cells_a; ++x) {
    for (Index y = 0; y < cells_b; ++y) {
      if (joint(x, y) > 0) sum += joint(x, y) / rows * std::log(joint(x, y) * rows / (of_a[x] * of_b[y]));
    }
  }
  const auto seen = [](const Vector<double>& count) {
    return static_cast<double>((count.array() > 0).count()) - 1;
  };
  return sum - seen(of_a) * seen(of_b) / (2 * rows);
}

// One head given some of those before it.
class LinkFit {
 public:
  LinkFit(const CellRows& own, const std::vector<Index>& cells, Index head, std::vector<Index> from)
      : own_(own),
        cells_(cells),
        head_(head),
        from_(std::move(from)),
        count_(cells[static_cast<std::size_t>(head)]) {
    Index next = count_;
    for (const Index g : from_) {
      first_.push_back(next);
      next += count_ * cells_[static_cast<std::size_t>(g)];
    }
    parameters_.setZero(next);
    for (Index i = 0; i < own.cols(); ++i) parameters_[own(head, i)] += 1;
    parameters_.head(count_) =
        ((parameters_.head(count_).array() + static_cast<float>(kPrior)) / static_cast<float>(own.cols()))
            .log();
  }

  void run(const LearnAndTest& rows, RandomSource& random) {
    if (from_.empty() || rows.test.empty()) return;
    BatchCycle cycle(rows.learn, kBatch);
    Adam<float> adam;
    const RateSchedule rate{.rate = kRate, .decay_from = 0.2, .final_fraction = 0.02};
    Vector<float> best = parameters_;
    double most = score(rows.test, false);
    for (int step = 1; step <= kSteps; ++step) {
      score(cycle.next(random), true);
      const double now = rate.at(static_cast<double>(step) / kSteps);
      parameters_.tail(parameters_.size() - count_) *= static_cast<float>(1 - now * kDecay);
      adam.step(now, gradient_, parameters_);
      if (step % (kSteps / kChecks) != 0) continue;
      if (const double found = score(rows.test, false); found > most) {
        most = found;
        best = parameters_;
      }
    }
    parameters_ = best;
  }

  void add_to(HeadLinks& out) const {
    out.base.emplace_back(parameters_.head(count_));
    for (std::size_t g = 0; g < from_.size(); ++g) {
      const Index cells = cells_[static_cast<std::size_t>(from_[g])];
      out.links.push_back({static_cast<std::int32_t>(from_[g]), static_cast<std::int32_t>(head_),
                           Eigen::Map<const Matrix<float>>(parameters_.data() + first_[g], count_, cells)});
    }
  }

 private:
  // Mean log-likelihood; with its gradient, downwards.
  double score(std::span<const std::int32_t> rows, bool with_gradient) {
    if (with_gradient) gradient_.setZero(parameters_.size());
    const float share = 1.0F / static_cast<float>(rows.size());
    double sum = 0;
    for (const std::int32_t i : rows) {
      logit_ = parameters_.head(count_);
      for (std::size_t g = 0; g < from_.size(); ++g) logit_ += link(parameters_, g, i);
      logit_.array() -= logit_.maxCoeff();
      sum += static_cast<double>(logit_[own_(head_, i)]);
      logit_ = logit_.array().exp();
      const float total = logit_.sum();
      sum -= static_cast<double>(std::log(total));
      if (!with_gradient) continue;
      logit_ *= share / total;
      logit_[own_(head_, i)] -= share;
      gradient_.head(count_) += logit_;
      for (std::size_t g = 0; g < from_.size(); ++g) link(gradient_, g, i) += logit_;
    }
    return sum / static_cast<double>(rows.size());
  }
  Eigen::Map<Vector<float>> link(Vector<float>& of, std::size_t g, std::int32_t row) const {
    return {of.data() + first_[g] + own_(from_[g], row) * count_, count_};
  }

  const CellRows& own_;
  const std::vector<Index>& cells_;
  Index head_;
  std::vector<Index> from_;
  Index count_;
  std::vector<Index> first_;  // where the matrix of each earlier head begins
  Vector<float> parameters_;
  Vector<float> gradient_;
  Vector<float> logit_;
};

}  // namespace

HeadLinks fit_links(const CellRows& own, const std::vector<Index>& cells, std::uint64_t seed, Index first) {
  HeadLinks out;
  SeededRandom random(seed);
  const LearnAndTest rows = learn_and_test(own.cols(), kHeldOut, kMostHeldOut, random);
  for (Index h = 0; h < own.rows(); ++h) {
    std::vector<std::pair<double, Index>> told;
    for (Index g = 0; h >= first && g < h; ++g) {
      const double nats =
          information(own, g, h, cells[static_cast<std::size_t>(g)], cells[static_cast<std::size_t>(h)]);
      if (nats > 0) told.emplace_back(-nats, g);
    }
    std::sort(told.begin(), told.end());
    std::vector<Index> from;
    for (std::size_t k = 0; k < std::min(told.size(), kMostLinks); ++k) from.push_back(told[k].second);
    std::sort(from.begin(), from.end());
    LinkFit fit(own, cells, h, std::move(from));
    fit.run(rows, random);
    fit.add_to(out);
  }
  return out;
}

}  // namespace ppan
