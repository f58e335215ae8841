#include "ppan/audit/attacker_pool.h"

#include <algorithm>
#include <cmath>

#include "ppan/core/linear_algebra.h"

namespace ppan {
namespace {

constexpr std::size_t kMostParts = 4;
constexpr int kSteps = 12;
constexpr double kLeastGain = 3;  // over the number of rows: less is what chance gives
constexpr double kMostWeight = 3;
constexpr std::size_t kMostRows = 4000;  // ample for a handful of weights

// log Q of one row.
void pooled_row(const std::vector<const Matrix<float>*>& log_probability,
                const std::vector<AttackerPool::Part>& part, const Vector<double>& log_prior, Index row,
                Vector<double>& out) {
  out = log_prior;
  for (const AttackerPool::Part& p : part)
    out += p.weight * (log_probability[p.attacker]->row(row).transpose().cast<double>() - log_prior);
  const double most = out.maxCoeff();
  out.array() -= most + std::log((out.array() - most).exp().sum());
}

// Newton's method on a concave function of few weights; each step is halved until the rows become likelier.
class PoolFit {
 public:
  PoolFit(const std::vector<const Matrix<float>*>& log_probability, const Symbols& x,
          const Vector<double>& log_prior, const std::vector<std::size_t>& attackers)
      : log_probability_(log_probability), x_(x), log_prior_(log_prior) {
    for (const std::size_t a : attackers) part_.push_back({a, 1 / static_cast<double>(attackers.size())});
  }

  AttackerPool run() {
    double now = evaluate(true);
    for (int step = 0; step < kSteps; ++step) {
      const auto size = static_cast<Index>(part_.size());
      const Vector<double> direction =
          solve_symmetric(curvature_ + 1e-9 * Matrix<double>::Identity(size, size), slope_);
      const std::vector<AttackerPool::Part> before = part_;
      double share = 1;
      double next = now;
      for (int half = 0; half < 6; ++half, share /= 2) {
        for (std::size_t p = 0; p < part_.size(); ++p)
          part_[p].weight =
              std::clamp(before[p].weight + share * direction[static_cast<Index>(p)], 0.0, kMostWeight);
        next = evaluate(false);
        if (next > now) break;
      }
      if (next <= now + 1e-9) {
        if (next <= now) part_ = before;
        now = std::max(now, next);
        break;
      }
      now = evaluate(true);
    }
    return {part_, now};
  }

 private:
  // The mean score; with its slope and curvature in the weights if wanted.
  double evaluate(bool derivatives) {
    const auto size = static_cast<Index>(part_.size());
    slope_ = Vector<double>::Zero(size);
    curvature_ = Matrix<double>::Zero(size, size);
    const auto rows = static_cast<Index>(std::min(x_.size(), kMostRows));
    const Index levels = log_prior_.size();
    double sum = 0;
    Vector<double> log_q(levels);
    Matrix<double> evidence(levels, size);
    for (Index i = 0; i < rows; ++i) {
      pooled_row(log_probability_, part_, log_prior_, i, log_q);
      const Index truth = x_[static_cast<std::size_t>(i)];
      sum += log_q[truth];
      if (!derivatives) continue;
      for (Index p = 0; p < size; ++p) {
        const Matrix<float>& own = *log_probability_[part_[static_cast<std::size_t>(p)].attacker];
        evidence.col(p) = own.row(i).transpose().cast<double>() - log_prior_;
      }
      const Vector<double> q = log_q.array().exp();
      const Vector<double> mean = evidence.transpose() * q;
      slope_ += evidence.row(truth).transpose() - mean;
      curvature_ += evidence.transpose() * q.asDiagonal() * evidence - mean * mean.transpose();
    }
    slope_ /= static_cast<double>(rows);
    curvature_ /= static_cast<double>(rows);
    return sum / static_cast<double>(rows);
  }

  const std::vector<const Matrix<float>*>& log_probability_;
  const Symbols& x_;
  const Vector<double>& log_prior_;
  std::vector<AttackerPool::Part> part_;
  Vector<double> slope_;
  Matrix<double> curvature_;
};

}  // namespace

Matrix<float> AttackerPool::apply(const std::vector<const Matrix<float>*>& log_probability,
                                  const Vector<double>& prior) const {
  const Matrix<float>& shape = *log_probability.front();
  Matrix<float> out(shape.rows(), shape.cols());
  const Vector<double> log_prior = prior.array().log();
  Vector<double> row(shape.cols());
  for (Index i = 0; i < out.rows(); ++i) {
    pooled_row(log_probability, part, log_prior, i, row);
    out.row(i) = row.transpose().cast<float>();
  }
  return out;
}

AttackerPool pool_attackers(const std::vector<const Matrix<float>*>& log_probability, const Symbols& x,
                            const Vector<double>& prior, std::size_t first) {
  const Vector<double> log_prior = prior.array().log();
  const double least = kLeastGain / static_cast<double>(std::clamp<std::size_t>(x.size(), 1, kMostRows));
  std::vector<std::size_t> members{first};
  AttackerPool best = PoolFit(log_probability, x, log_prior, members).run();
  while (members.size() < kMostParts) {
    AttackerPool next;
    next.score = best.score + least;
    for (std::size_t a = 0; a < log_probability.size(); ++a) {
      if (std::find(members.begin(), members.end(), a) != members.end()) continue;
      std::vector<std::size_t> with = members;
      with.push_back(a);
      AttackerPool tried = PoolFit(log_probability, x, log_prior, with).run();
      if (tried.score > next.score) next = std::move(tried);
    }
    if (next.part.empty()) break;
    best = std::move(next);
    members.clear();
    for (const AttackerPool::Part& p : best.part) members.push_back(p.attacker);
  }
  std::erase_if(best.part, [](const AttackerPool::Part& p) { return p.weight <= 0; });
  if (best.part.size() < 2) best.part.clear();
  return best;
}

}  // namespace ppan
