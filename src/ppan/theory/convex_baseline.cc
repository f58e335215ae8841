#include "ppan/theory/convex_baseline.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

using Rows = std::vector<Index>;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The problem reduced to what matters: w and x of positive probability, and allowed releases.
struct Reduced {
  Matrix<double> wx;        ///< P(w,x).
  Matrix<double> cost;      ///< D(w,z) = sum_y P(w,y) d(y,z).
  Eigen::ArrayXXd allowed;  ///< 1 where z may be released for w, else 0.
  double budget = 0;
  bool budget_matters = true;  ///< False when every allowed mechanism is within the budget.
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

/// The greatest over s >= 0 of sum_w min_z (g + s D) - s budget, and the s that attains it.
std::pair<double, double> dual_bound(const Reduced& problem, const Matrix<double>& g, double guess) {
  const auto bound_at = [&](double s) {
    double value = 0;
    double slope = -problem.budget;
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
    return std::pair{value - s * problem.budget, slope};
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

/// Primal-dual interior-point method (S. Boyd, L. Vandenberghe, Convex Optimization, section 11.7) on
///     minimise I(P)  subject to  P >= 0,  sum_z P(z|w) = 1,  <D, P> <= budget,
/// with multipliers bound(w,z) of P >= 0, price of the budget and free(w) of the sums. Every iterate is
/// strictly feasible.
///
/// The Hessian of I falls into one block per z, A (diag(1/q(x,z)) - 1 1^T / q(z)) A^T with A = P(w,x), to
/// which the barrier adds the diagonal bound/P. With S = sqrt(P/bound) each scaled block S H S + 1 has no
/// eigenvalue below 1, so its Cholesky factor is safe however small P gets; a Schur complement in the |W| + 1
/// multipliers is left.
class InteriorPoint {
 public:
  InteriorPoint(const Reduced& problem, const Matrix<double>& start) : problem_(problem), p_(start) {
    cells_ = problem_.allowed.sum();
    slack_ = problem_.budget_matters ? problem_.budget - inner(problem_.cost, p_) : 1;
    mu_ = 0.1 / cells_;
    bound_ = (problem_.allowed > 0).select(mu_ / p_.array(), 0.0);
    price_ = problem_.budget_matters ? mu_ / slack_ : 0;
    free_ = Vector<double>::Zero(p_.rows());
    gradient_ = tangent(problem_, p_);
  }

  [[nodiscard]] const Matrix<double>& mechanism() const { return p_; }
  [[nodiscard]] const Matrix<double>& gradient() const { return gradient_; }
  [[nodiscard]] double price() const { return price_; }

  /// One Newton step towards the centre for a smaller mu. False when no further progress can be made.
  bool step() {
    const double complementarity =
        (bound_.matrix().cwiseProduct(p_)).sum() + (problem_.budget_matters ? price_ * slack_ : 0);
    mu_ = 0.1 * complementarity / (cells_ + 1);
    const Residual now = residual(p_, gradient_, bound_.matrix(), price_, free_, slack_);

    Direction d = newton(now);
    double length = 1;
    limit(length, p_, d.p);
    limit(length, bound_.matrix(), d.bound);
    if (problem_.budget_matters) {
      if (d.price < 0) length = std::min(length, -price_ / d.price);
      const double use = inner(problem_.cost, d.p);
      if (use > 0) length = std::min(length, slack_ / use);
    }
    if (length < 1) length *= 0.99;
    for (int halving = 0; halving < 40; ++halving, length *= 0.5) {
      Matrix<double> p = p_ + length * d.p;
      normalise(p);
      const double slack = problem_.budget_matters ? problem_.budget - inner(problem_.cost, p) : 1;
      if (slack <= 0 || !positive(p)) continue;
      const Matrix<double> bound = bound_.matrix() + length * d.bound;
      const double price = price_ + length * d.price;
      const Vector<double> free = free_ + length * d.free;
      Matrix<double> gradient = tangent(problem_, p);
      if (residual(p, gradient, bound, price, free, slack).norm() > (1 - 0.01 * length) * now.norm())
        continue;
      p_ = std::move(p);
      gradient_ = std::move(gradient);
      bound_ = bound.array();
      price_ = price;
      free_ = free;
      slack_ = slack;
      return true;
    }
    return false;
  }

 private:
  struct Residual {
    Matrix<double> dual;       ///< g + price D - bound - free.
    Matrix<double> centre;     ///< bound P - mu.
    double budget_centre = 0;  ///< price slack - mu.
    [[nodiscard]] double norm() const {
      return std::sqrt(dual.squaredNorm() + centre.squaredNorm() + budget_centre * budget_centre);
    }
  };
  struct Direction {
    Matrix<double> p;
    Matrix<double> bound;
    Vector<double> free;
    double price = 0;
  };

  static double inner(const Matrix<double>& a, const Matrix<double>& b) { return a.cwiseProduct(b).sum(); }

  [[nodiscard]] bool positive(const Matrix<double>& p) const {
    return (problem_.allowed == 0 || p.array() > 0).all();
  }

  /// Removes the rounding error of the sums.
  static void normalise(Matrix<double>& p) {
    for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
  }

  void limit(double& length, const Matrix<double>& value, const Matrix<double>& change) const {
    for (Index i = 0; i < value.size(); ++i)
      if (problem_.allowed(i) > 0 && change(i) < 0) length = std::min(length, -value(i) / change(i));
  }

  [[nodiscard]] Residual residual(const Matrix<double>& p, const Matrix<double>& gradient,
                                  const Matrix<double>& bound, double price, const Vector<double>& free,
                                  double slack) const {
    Residual r;
    r.dual = gradient + price * problem_.cost - bound;
    r.dual.colwise() -= free;
    r.dual.array() *= problem_.allowed;
    r.centre = ((bound.array() * p.array() - mu_) * problem_.allowed).matrix();
    if (problem_.budget_matters) r.budget_centre = price * slack - mu_;
    return r;
  }

  /// Solves, for the directions,
  ///     H dP + D dprice - dbound - dfree = -dual,          sum_z dP = 0,
  ///     bound dP + P dbound = -centre,                     -price <D, dP> + slack dprice = -budget_centre.
  Direction newton(const Residual& r) const {
    const Index nw = p_.rows();
    const Index nz = p_.cols();
    const Matrix<double> q = problem_.wx.transpose() * p_;
    const Matrix<double> right =
        -r.dual - ((problem_.allowed > 0).select(r.centre.array() / p_.array(), 0.0)).matrix();

    // The unknowns (dfree, dprice) meet dP through B = [1 | -D]: dP = K^-1 (right + B u).
    Matrix<double> schur = Matrix<double>::Zero(nw + 1, nw + 1);
    Vector<double> schur_right = Vector<double>::Zero(nw + 1);
    std::vector<Matrix<double>> inverse_b(static_cast<std::size_t>(nz));  // K^-1 B, a block per z
    Matrix<double> inverse_right(nw, nz);                                 // K^-1 right
    for (Index z = 0; z < nz; ++z) {
      const Vector<double> scale =
          ((problem_.allowed.col(z) > 0).select((p_.col(z).array() / bound_.col(z)).sqrt(), 0.0)).matrix();
      const double pz = q.col(z).sum();
      Matrix<double> b = Matrix<double>::Zero(nw, nw + 1);
      b.leftCols(nw).diagonal() = scale;
      b.col(nw) = -scale.cwiseProduct(problem_.cost.col(z));
      if (pz > 0) {
        // H = A (diag(1/q) - 1 1^T/q(z)) A^T = F F^T with F = A (diag(1/q) - 1 1^T/q(z))^1/2; in this form,
        // as A C with C = diag(q^-1/2) (1 - r r^T), r = sqrt(q/q(z)) a unit vector, it is positive
        // semidefinite exactly.
        const Vector<double> root = q.col(z).cwiseSqrt();
        const Vector<double> unit = root / std::sqrt(pz);
        Matrix<double> c = (-unit * unit.transpose());
        c.diagonal().array() += 1;
        c = root.cwiseInverse().asDiagonal() * c;
        const Matrix<double> f = scale.asDiagonal() * (problem_.wx * c);
        // (1 + F F^T)^-1 = 1 - F (1 + F^T F)^-1 F^T: a system of |X| instead of |W|.
        Matrix<double> small = f.transpose() * f;
        small.diagonal().array() += 1;
        const Eigen::LLT<Matrix<double>> factor(small);
        const Vector<double> scaled_right = scale.cwiseProduct(right.col(z));
        inverse_b[static_cast<std::size_t>(z)] = b - f * factor.solve(f.transpose() * b);
        inverse_right.col(z) = scaled_right - f * factor.solve(f.transpose() * scaled_right);
      } else {
        inverse_b[static_cast<std::size_t>(z)] = b;
        inverse_right.col(z) = scale.cwiseProduct(right.col(z));
      }
      schur.noalias() += b.transpose() * inverse_b[static_cast<std::size_t>(z)];
      schur_right.noalias() -= b.transpose() * inverse_right.col(z);
      inverse_b[static_cast<std::size_t>(z)] = scale.asDiagonal() * inverse_b[static_cast<std::size_t>(z)];
      inverse_right.col(z) = scale.cwiseProduct(inverse_right.col(z));
    }
    // Last row: <D, dP> - (slack/price) dprice = budget_centre/price.
    if (problem_.budget_matters) {
      schur(nw, nw) += slack_ / price_;
      schur_right[nw] -= r.budget_centre / price_;
    } else {
      schur.row(nw).setZero();
      schur.col(nw).setZero();
      schur(nw, nw) = 1;
      schur_right[nw] = 0;
    }
    // The Schur complement inherits the wild scales of P; equilibrate before factoring.
    const Vector<double> balance = schur.diagonal().cwiseSqrt().cwiseInverse();
    const Eigen::LDLT<Matrix<double>> factor(balance.asDiagonal() * schur * balance.asDiagonal());
    const Vector<double> u = balance.cwiseProduct(factor.solve(balance.cwiseProduct(schur_right)));

    Direction d;
    d.free = u.head(nw);
    d.price = u[nw];
    d.p = inverse_right;
    for (Index z = 0; z < nz; ++z) d.p.col(z) += inverse_b[static_cast<std::size_t>(z)] * u;
    d.bound = ((problem_.allowed > 0).select((-r.centre.array() - bound_ * d.p.array()) / p_.array(), 0.0))
                  .matrix();
    return d;
  }

  const Reduced& problem_;
  Matrix<double> p_;
  Eigen::ArrayXXd bound_;
  Vector<double> free_;
  Matrix<double> gradient_;
  double price_ = 0;
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

void require_usable(const FiniteLaw& law, const MatrixRef<double>& distortion, double budget,
                    const ConvexOptions& options) {
  ProblemList problems;
  problems.add("law", law.check());
  problems.add("options", options.check());
  problems.require_at_least("budget", budget, 0);
  problems.require(distortion.rows() == law.wy.cols() && distortion.cols() > 0, "distortion",
                   fmt::format("is {} x {} where {} useful values are known", distortion.rows(),
                               distortion.cols(), law.wy.cols()));
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

double least_distortion(const FiniteLaw& law, const MatrixRef<double>& distortion) {
  return (law.wy * distortion).rowwise().minCoeff().sum();
}

ConvexSolution solve_convex(const FiniteLaw& law, const MatrixRef<double>& distortion, double budget,
                            const ConvexOptions& options) {
  require_usable(law, distortion, budget, options);
  const double least = least_distortion(law, distortion);
  const double rounding = 1e-12 * std::max(1.0, distortion.maxCoeff());
  if (budget < least - rounding)
    throw Error(ErrorCode::kUsage, fmt::format("no mechanism has a distortion of {} or less", budget),
                fmt::format("give a budget of at least {}", least));

  const Rows possible = positive_rows(law.wx.rowwise().sum());
  const Rows present = positive_rows(law.wx.colwise().sum().transpose());
  Reduced problem;
  problem.wx = law.wx(possible, present);
  problem.cost = law.wy(possible, Eigen::all) * distortion;
  problem.budget = budget;
  const Index nw = problem.wx.rows();
  const Index nz = distortion.cols();
  const Vector<double> cheapest = problem.cost.rowwise().minCoeff();
  problem.allowed = Eigen::ArrayXXd::Ones(nw, nz);
  if (budget <= least + rounding) {
    // Nothing to spare: only the cheapest releases of each w are within the budget, and any mixture of them
    // is.
    problem.allowed = (problem.cost.array() <= cheapest.replicate(1, nz).array() + rounding).cast<double>();
    problem.budget_matters = false;
  }

  // A strictly feasible start: between the cheapest mechanism and the uniform one, using half of the spare
  // budget.
  Matrix<double> uniform = problem.allowed.matrix();
  for (Index w = 0; w < nw; ++w) uniform.row(w) /= uniform.row(w).sum();
  Matrix<double> start = uniform;
  if (problem.budget_matters) {
    Matrix<double> cheap =
        (problem.cost.array() <= cheapest.replicate(1, nz).array()).cast<double>().matrix();
    for (Index w = 0; w < nw; ++w) cheap.row(w) /= cheap.row(w).sum();
    const double excess = problem.cost.cwiseProduct(uniform).sum() - least;
    const double mix = excess > 0 ? std::min(1.0, 0.5 * (budget - least) / excess) : 1.0;
    start = (1 - mix) * cheap + mix * uniform;
  }

  InteriorPoint solver(problem, start);
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
      best.multiplier = price;
    }
  };
  record();
  while (best.gap() > options.gap && best.iterations < options.iterations && solver.step()) {
    ++best.iterations;
    record();
  }

  const Vector<double> mass = problem.wx.rowwise().sum();
  best.mechanism = Vector<double>::Ones(law.wx.rows()) * (mass.transpose() * best_mechanism);
  for (std::size_t i = 0; i < possible.size(); ++i)
    best.mechanism.row(possible[i]) = best_mechanism.row(static_cast<Index>(i));
  best.leakage = leakage(law, best.mechanism);
  best.distortion = expected_distortion(law, best.mechanism, distortion);
  // Rounding may leave the two bounds in the wrong order by a few units in the last place.
  best.lower_bound = std::min(best.lower_bound, best.leakage);
  return best;
}

}  // namespace ppan::theory
