#include "ppan/theory/convex_baseline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ppan/core/linear_algebra.h"
#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

using Rows = std::vector<Index>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Beyond this gap the barrier drowns in rounding, and there is nothing more to win.
constexpr double kLeastPromise = 1e-12;

/// The problem reduced to what matters: w and x of positive probability, and allowed releases.
struct Reduced {
  Matrix<double> wx;        ///< P(w,x).
  Matrix<double> cost;      ///< D(w,z) less the least D(w,.), in units of what the budget leaves to spare.
  Eigen::ArrayXXd allowed;  ///< 1 where z may be released for w, else 0.
  bool budget_matters =
      true;  ///< sum cost P <= 1 must hold. False when every allowed mechanism is within the budget.
};

/// g(w,z) of the header, at the joint q = P(x,z).
Matrix<double> tangent(const Reduced& problem, const Matrix<double>& mechanism) {
  const Matrix<double> q = problem.wx.transpose() * mechanism;
  const Vector<double> px = q.rowwise().sum();
  const Vector<double> pz = q.colwise().sum().transpose();
  Matrix<double> log_ratio(q.rows(), q.cols());
  for (Index z = 0; z < q.cols(); ++z)
    for (Index x = 0; x < q.rows(); ++x)
      // A release that never happens (not allowed for any w) has no tangent; its cells are masked by
      // `allowed`.
      log_ratio(x, z) = q(x, z) > 0 ? std::log(q(x, z) / px[x]) - std::log(pz[z]) : 0;
  return problem.wx * log_ratio;
}

/// The greatest over s >= 0 of sum_w min_z (g + s cost) - s, and the s that attains it.
std::pair<double, double> dual_bound(const Reduced& problem, const Matrix<double>& g, double guess) {
  const auto bound_at = [&](double s) {
    double value = 0;
    double slope = -1;
    for (Index w = 0; w < g.rows(); ++w) {
      double least = kInfinity;
      double cost = 0;
      for (Index z = 0; z < g.cols(); ++z) {
        if (problem.allowed(w, z) == 0) continue;
        const double here = g(w, z) + s * problem.cost(w, z);
        if (here < least) {
          least = here;
          cost = problem.cost(w, z);
        }
      }
      value += least;
      slope += cost;
    }
    return std::pair{value - s, slope};
  };
  if (!problem.budget_matters) return {bound_at(0).first, 0.0};

  // Concave in s: bisection on the sign of the slope, from a bracket around the solver's own multiplier.
  double low = 0;
  double high = std::max(1.0, 2 * guess);
  while (bound_at(high).second > 0 && high < 1e12) high *= 2;
  std::pair best{bound_at(0).first, 0.0};
  const auto consider = [&](double s) {
    const auto [value, slope] = bound_at(s);
    if (value > best.first) best = {value, s};
    return slope;
  };
  consider(guess);
  for (int i = 0; i < 100; ++i) {
    const double middle = 0.5 * (low + high);
    (consider(middle) > 0 ? low : high) = middle;
  }
  return best;
}

/// Interior-point method: for falling mu, minimise
///     I(P) - mu sum log P(z|w) - mu log(1 - <D, P>)   subject to   sum_z P(z|w) = 1
/// from a strictly feasible start. Directions are primal-dual: the barrier's curvature is taken as bound/P
/// and price/(1 - <D, P>), with multipliers that carry over from one mu to the next, so that a fall of
/// mu does not throw the step out of the feasible set. Steps are damped until the function above decreases,
/// so that they always arrive, also where I has infinite slope. (J. Nocedal, S. Wright, Numerical
/// Optimization, sections 19.2-19.4.)
///
/// The Hessian of I falls into one block per z, A (diag(1/q(x,z)) - 1 1^T / q(z)) A^T with A = P(w,x), to
/// which the barrier adds the diagonal bound/P. Scaled by S = sqrt(P/bound) each block S H S + 1 has no
/// eigenvalue below 1, so its factors are safe however small P gets; a Schur complement in the |W| + 1
/// multipliers is left.
class Barrier {
 public:
  Barrier(const Reduced& problem, const Matrix<double>& start) : problem_(problem), p_(start) {
    cells_ = problem_.allowed.sum();
    slack_ = slack_of(p_);
    mu_ = 0.1 / cells_;
    bound_ = central_bound();
    price_ = mu_ / slack_;
    gradient_ = tangent(problem_, p_);
  }

  [[nodiscard]] const Matrix<double>& mechanism() const { return p_; }
  [[nodiscard]] const Matrix<double>& gradient() const { return gradient_; }
  [[nodiscard]] double price() const { return problem_.budget_matters ? price_ : 0; }
  /// The gap that the present mu proves once centred.
  [[nodiscard]] double promised_gap() const { return mu_ * (cells_ + 1); }
  void tighten() { mu_ *= 0.1; }

  enum class Step { kTaken, kCentred, kStuck };

  /// One step for the present mu. kCentred: the minimum for this mu is reached, near enough.
  Step step() {
    const double central_price = problem_.budget_matters ? mu_ / slack_ : 0;
    Matrix<double> slope = (gradient_ + central_price * problem_.cost).array() - central_bound();
    // Directions sum to 0 over z, so a constant per w changes nothing; without it less is lost to
    // cancellation.
    slope.colwise() -= slope.cwiseProduct(p_).rowwise().sum().eval();
    slope.array() *= problem_.allowed;
    const Matrix<double> d = newton(slope);
    const double descent = -inner(slope, d);
    if (!std::isfinite(descent)) return Step::kStuck;
    if (descent <= kCentred * mu_) return Step::kCentred;

    const double use = problem_.budget_matters ? inner(problem_.cost, d) : 0;
    double length = 1;
    for (Index i = 0; i < d.size(); ++i)
      if (problem_.allowed(i) > 0 && d(i) < 0) length = std::min(length, -0.99 * p_(i) / d(i));
    if (use > 0) length = std::min(length, 0.99 * slack_ / use);
    const double value = merit(p_, slack_);
    // A decrease below the rounding of the function cannot be seen, and shorter steps would not help.
    const double visible = 1e-15 * (1 + std::abs(value));
    for (; length * descent > visible; length *= 0.5) {
      Matrix<double> p = p_ + length * d;
      // Removes the rounding error of the sums.
      for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
      const double slack = slack_of(p);
      if (slack <= 0 || !((problem_.allowed == 0 || p.array() > 0).all())) continue;
      if (merit(p, slack) > value - 1e-3 * length * descent) continue;
      move_multipliers(d, use);
      p_ = std::move(p);
      slack_ = slack;
      keep_multipliers_central();
      gradient_ = tangent(problem_, p_);
      return Step::kTaken;
    }
    return Step::kStuck;
  }

 private:
  /// Centred when the Newton decrement squared, in units of mu, is below this.
  static constexpr double kCentred = 1e-2;
  /// Multipliers stay within this factor of their value at the centre.
  static constexpr double kSpread = 100;

  [[nodiscard]] Eigen::ArrayXXd central_bound() const {
    return (problem_.allowed > 0).select(mu_ / p_.array(), 0.0);
  }

  /// The multipliers' own Newton step, as far as they stay positive.
  void move_multipliers(const Matrix<double>& d, double use) {
    const Eigen::ArrayXXd change =
        (problem_.allowed > 0).select(mu_ / p_.array() - bound_ * (1 + d.array() / p_.array()), 0.0);
    const double price_change = problem_.budget_matters ? mu_ / slack_ - price_ + price_ / slack_ * use : 0;
    double length = 1;
    for (Index i = 0; i < change.size(); ++i)
      if (change(i) < 0) length = std::min(length, -0.99 * bound_(i) / change(i));
    if (price_change < 0) length = std::min(length, -0.99 * price_ / price_change);
    bound_ += length * change;
    price_ += length * price_change;
  }

  void keep_multipliers_central() {
    const Eigen::ArrayXXd central = central_bound();
    bound_ = bound_.max(central / kSpread).min(central * kSpread);
    price_ = std::clamp(price_, mu_ / slack_ / kSpread, mu_ / slack_ * kSpread);
  }

  static double inner(const Matrix<double>& a, const Matrix<double>& b) { return a.cwiseProduct(b).sum(); }

  [[nodiscard]] double slack_of(const Matrix<double>& p) const {
    return problem_.budget_matters ? 1 - inner(problem_.cost, p) : 1;
  }

  [[nodiscard]] double merit(const Matrix<double>& p, double slack) const {
    double logs = problem_.budget_matters ? std::log(slack) : 0;
    for (Index i = 0; i < p.size(); ++i)
      if (problem_.allowed(i) > 0) logs += std::log(p(i));
    return mutual_information(problem_.wx.transpose() * p) - mu_ * logs;
  }

  /// The direction dP with  K dP + D t - 1 u = -slope,  sum_z dP = 0,  t = (price/slack) <D, dP>,
  /// K = H + bound/P, u and t free.
  [[nodiscard]] Matrix<double> newton(const Matrix<double>& slope) const {
    const Index nw = p_.rows();
    const Index nz = p_.cols();
    const Matrix<double> q = problem_.wx.transpose() * p_;
    // (u, t) meet dP through B = [1 | -D]: dP = K^-1 (B (u,t) - slope).
    Matrix<double> schur = Matrix<double>::Zero(nw + 1, nw + 1);
    Vector<double> schur_right = Vector<double>::Zero(nw + 1);
    std::vector<Matrix<double>> inverse_b(static_cast<std::size_t>(nz));  // K^-1 B, a block per z
    Matrix<double> direction(nw, nz);                                     // K^-1 (-slope), then dP
    for (Index z = 0; z < nz; ++z) {
      const Vector<double> scale =
          (problem_.allowed.col(z) > 0).select((p_.col(z).array() / bound_.col(z)).sqrt(), 0.0);
      Matrix<double> b = Matrix<double>::Zero(nw, nw + 1);
      b.leftCols(nw).diagonal() = scale;
      b.col(nw) = -scale.cwiseProduct(problem_.cost.col(z));
      const Vector<double> right = -scale.cwiseProduct(slope.col(z));
      Matrix<double>& solved_b = inverse_b[static_cast<std::size_t>(z)];
      solved_b = b;
      direction.col(z) = right;
      if (const double pz = q.col(z).sum(); pz > 0) {
        // H = A C C^T A^T with C = diag(q^-1/2) (1 - r r^T), r = sqrt(q/q(z)) a unit vector: semidefinite
        // exactly.
        const Vector<double> root = q.col(z).cwiseSqrt();
        const Vector<double> unit = root / std::sqrt(pz);
        Matrix<double> c = -unit * unit.transpose();
        c.diagonal().array() += 1;
        // q(x,z) = 0 only where no w with this x may release z; A then has nothing there either.
        const Vector<double> inverse_root = (root.array() > 0).select(root.cwiseInverse(), 0.0);
        const Matrix<double> f = scale.asDiagonal() * (problem_.wx * (inverse_root.asDiagonal() * c));
        // (1 + F F^T)^-1 = 1 - F (1 + F^T F)^-1 F^T: a system of |X| instead of |W|.
        Matrix<double> small = f.transpose() * f;
        small.diagonal().array() += 1;
        const Matrix<double> factor = cholesky_factor(small);
        solved_b.noalias() -= f * solve_cholesky(factor, f.transpose() * b);
        direction.col(z) -= f * solve_cholesky(factor, f.transpose() * right);
      }
      schur.noalias() += b.transpose() * solved_b;
      schur_right.noalias() -= b.transpose() * direction.col(z);
      solved_b = scale.asDiagonal() * solved_b;
      direction.col(z) = scale.cwiseProduct(direction.col(z));
    }
    if (problem_.budget_matters) {
      schur(nw, nw) += slack_ / price_;
    } else {
      schur.row(nw).setZero();
      schur.col(nw).setZero();
      schur(nw, nw) = 1;
      schur_right[nw] = 0;
    }
    // The Schur complement inherits the wild scales of P; equilibrate before factoring.
    const Vector<double> balance = schur.diagonal().cwiseSqrt().cwiseInverse();
    const Vector<double> multipliers = balance.cwiseProduct(solve_symmetric(
        balance.asDiagonal() * schur * balance.asDiagonal(), balance.cwiseProduct(schur_right)));
    for (Index z = 0; z < nz; ++z) direction.col(z) += inverse_b[static_cast<std::size_t>(z)] * multipliers;
    return direction;
  }

  const Reduced& problem_;
  Matrix<double> p_;
  Matrix<double> gradient_;
  Eigen::ArrayXXd bound_;  // multipliers of P >= 0
  double price_ = 0;       // multiplier of the budget
  double slack_ = 1;
  double mu_ = 0;
  double cells_ = 0;
};

Rows positive_rows(const Vector<double>& mass) {
  Rows rows;
  for (Index i = 0; i < mass.size(); ++i)
    if (mass[i] > 0) rows.push_back(i);
  return rows;
}

void require_usable(const FiniteDistribution& distribution, const MatrixRef<double>& distortion,
                    double budget, const ConvexOptions& options) {
  ProblemList problems;
  problems.add("distribution", distribution.check());
  problems.add("options", options.check());
  problems.require_at_least("budget", budget, 0);
  problems.require(distortion.rows() == distribution.wy.cols() && distortion.cols() > 0, "distortion",
                   fmt::format("is {} x {} where {} useful values are known", distortion.rows(),
                               distortion.cols(), distribution.wy.cols()));
  problems.require(distortion.size() == 0 || (distortion.allFinite() && distortion.minCoeff() >= 0),
                   "distortion", "has an entry that is negative or not finite");
  require_none(problems.take(), "the convex baseline cannot be computed");
}

}  // namespace

Problems ConvexOptions::check() const {
  ProblemList problems;
  problems.require_at_least("gap", gap, 1e-10);
  problems.require_at_least("iterations", iterations, 1);
  return problems.take();
}

double least_distortion(const FiniteDistribution& distribution, const MatrixRef<double>& distortion) {
  return (distribution.wy * distortion).rowwise().minCoeff().sum();
}

ConvexSolution solve_convex(const FiniteDistribution& distribution, const MatrixRef<double>& distortion,
                            double budget, const ConvexOptions& options) {
  require_usable(distribution, distortion, budget, options);
  const double least = least_distortion(distribution, distortion);
  const double rounding = 1e-12 * std::max(1.0, distortion.maxCoeff());
  if (budget < least - rounding)
    throw Error(ErrorCode::kUsage, fmt::format("no mechanism has a distortion of {} or less", budget),
                fmt::format("give a budget of at least {}", least));

  const Rows possible = positive_rows(distribution.wx.rowwise().sum());
  const Rows present = positive_rows(distribution.wx.colwise().sum().transpose());
  Reduced problem;
  problem.wx = distribution.wx(possible, present);
  problem.cost = distribution.wy(possible, Eigen::all) * distortion;
  problem.cost.colwise() -= problem.cost.rowwise().minCoeff().eval();
  const Index nw = problem.wx.rows();
  const Index nz = distortion.cols();
  problem.allowed = Eigen::ArrayXXd::Ones(nw, nz);
  const double spare = budget - least;
  problem.budget_matters = spare > rounding;
  if (problem.budget_matters)
    problem.cost /= spare;
  else
    // Only the cheapest releases of each w are within the budget, and any mixture of them is.
    problem.allowed = (problem.cost.array() <= rounding).cast<double>();

  // A strictly feasible start: between the cheapest mechanism and the uniform one, using half of the spare
  // budget.
  const auto normalised = [](Matrix<double> mechanism) {
    for (Index w = 0; w < mechanism.rows(); ++w) mechanism.row(w) /= mechanism.row(w).sum();
    return mechanism;
  };
  Matrix<double> start = normalised(problem.allowed.matrix());
  if (problem.budget_matters) {
    const Matrix<double> cheap = normalised((problem.cost.array() <= 0).cast<double>().matrix());
    const double mix = std::min(1.0, 0.5 / problem.cost.cwiseProduct(start).sum());
    start = (1 - mix) * cheap + mix * start;
  }

  Barrier solver(problem, start);
  ConvexSolution best;
  best.leakage = kInfinity;
  Matrix<double> best_mechanism = start;
  const auto record = [&] {
    const double leakage = mutual_information(problem.wx.transpose() * solver.mechanism());
    if (leakage < best.leakage) {
      best.leakage = leakage;
      best_mechanism = solver.mechanism();
    }
    const auto [bound, price] = dual_bound(problem, solver.gradient(), solver.price());
    if (bound > best.lower_bound) {
      best.lower_bound = bound;
      best.multiplier = problem.budget_matters ? price / spare : 0;
    }
  };
  record();
  while (best.gap() > options.gap && best.iterations < options.iterations) {
    const Barrier::Step step = solver.step();
    ++best.iterations;
    if (step == Barrier::Step::kTaken) continue;
    record();
    if (solver.promised_gap() < kLeastPromise) break;
    solver.tighten();
  }
  record();

  const Vector<double> mass = problem.wx.rowwise().sum();
  best.mechanism = Vector<double>::Ones(distribution.wx.rows()) * (mass.transpose() * best_mechanism);
  for (std::size_t i = 0; i < possible.size(); ++i)
    best.mechanism.row(possible[i]) = best_mechanism.row(static_cast<Index>(i));
  best.leakage = leakage(distribution, best.mechanism);
  best.distortion = expected_distortion(distribution, best.mechanism, distortion);
  // Rounding may leave the two bounds in the wrong order by a few units in the last place.
  best.lower_bound = std::min(best.lower_bound, best.leakage);
  return best;
}

}  // namespace ppan::theory
