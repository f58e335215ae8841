#include "ppan/theory/gaussian_general.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "ppan/core/linear_algebra.h"

namespace ppan::theory {
namespace {

constexpr double kSingular = 1e-12;  // of an eigenvalue against the greatest

Matrix<double> symmetric(const Matrix<double>& m) {
  return 0.5 * (m + m.transpose());
}

// m with its eigenvalues passed through f.
template <typename Function>
Matrix<double> spectral(const Matrix<double>& m, Function f) {
  const SymmetricEigen eigen = symmetric_eigen(symmetric(m));
  Vector<double> values = eigen.values;
  for (double& v : values) v = f(v);
  return eigen.vectors * values.asDiagonal() * eigen.vectors.transpose();
}

double log_det(const Matrix<double>& m) {
  const Vector<double> values = symmetric_eigenvalues(symmetric(m));
  if (values.minCoeff() <= 0) return -std::numeric_limits<double>::infinity();
  return values.array().log().sum();
}

// The problem in whitened coordinates of U: E = R F R^T with R R^T = Cov(U), 0 <= F <= 1, tr(R^T D R F) <=
// budget; D is 1 for the components of U that distortion counts and 0 for the others.
class MaxDet {
 public:
  /// `c` is the covariance of X and U.
  MaxDet(const GaussianCovariance& c, const Vector<double>& counted, double budget) : budget_(budget) {
    const SymmetricEigen eigen = symmetric_eigen(symmetric(c.y));
    const double most = eigen.values.maxCoeff();
    for (Index i = 0; i < c.y.rows(); ++i) {
      if (eigen.values[i] <= kSingular * most) continue;
      basis_.conservativeResize(c.y.rows(), basis_.cols() + 1);
      basis_.rightCols(1) = eigen.vectors.col(i) * std::sqrt(eigen.values[i]);
    }
    weight_ = basis_.transpose() * counted.asDiagonal() * basis_;
    // The columns of the basis are orthogonal.
    const Matrix<double> whiten = basis_ * basis_.colwise().squaredNorm().cwiseInverse().asDiagonal();
    slope_ = c.xy * whiten;  // X on whitened U
    rest_ = symmetric(c.x - slope_ * slope_.transpose());
    free_ = log_det(c.x);
  }

  [[nodiscard]] Index size() const { return basis_.cols(); }
  [[nodiscard]] const Matrix<double>& basis() const { return basis_; }
  [[nodiscard]] double leakage(const Matrix<double>& f) const {
    return 0.5 * (free_ - log_det(rest_ + slope_ * f * slope_.transpose()));
  }
  /// Of minus the leakage.
  [[nodiscard]] Matrix<double> gradient(const Matrix<double>& f) const {
    const Matrix<double> inside = symmetric(rest_ + slope_ * f * slope_.transpose());
    return 0.5 * slope_.transpose() * solve_symmetric(inside, slope_);
  }

  /// The nearest F within the limits: eigenvalues of F - nu W clipped to [0, 1], nu >= 0 such that the budget
  /// is met.
  [[nodiscard]] Matrix<double> projected(const Matrix<double>& f) const {
    const auto clipped = [&](double nu) {
      return spectral(f - nu * weight_, [](double v) { return std::clamp(v, 0.0, 1.0); });
    };
    const auto spent = [&](const Matrix<double>& g) { return weight_.cwiseProduct(g).sum(); };
    Matrix<double> g = clipped(0);
    if (spent(g) <= budget_) return g;
    double low = 0;
    double high = 1;
    while (spent(clipped(high)) > budget_ && high < 1e18) high *= 4;
    for (int i = 0; i < 100; ++i) {
      const double middle = 0.5 * (low + high);
      (spent(clipped(middle)) > budget_ ? low : high) = middle;
    }
    return clipped(high);
  }

  /// The leakage is convex, so it lies above its tangent at f, whose least value over the limits is by
  /// duality at least -(s budget + sum of the positive eigenvalues of G - s W) for every s >= 0.
  [[nodiscard]] double lower_bound(const Matrix<double>& f) const {
    const Matrix<double> g = gradient(f);
    const auto most = [&](double s) {
      const Vector<double> values = symmetric_eigenvalues(symmetric(g - s * weight_));
      return s * budget_ + values.cwiseMax(0).sum();
    };
    double low = 0;  // convex in s: golden section on a bracket
    double high = 1;
    while (most(high) < most(0.5 * high) && high < 1e18) high *= 2;
    high *= 2;
    for (int i = 0; i < 200; ++i) {
      const double a = low + 0.381966 * (high - low);
      const double b = high - 0.381966 * (high - low);
      if (most(a) < most(b)) {
        high = b;
      } else {
        low = a;
      }
    }
    const double best = std::min(most(0), most(0.5 * (low + high)));
    return leakage(f) + g.cwiseProduct(f).sum() - best;
  }

 private:
  double budget_;
  double free_ = 0;
  Matrix<double> basis_;
  Matrix<double> weight_;
  Matrix<double> slope_;
  Matrix<double> rest_;
};

}  // namespace

Problems GaussianCovariance::check() const {
  ProblemList list;
  const auto block = [&](const char* name, const Matrix<double>& m) {
    const bool square = m.rows() > 0 && m.rows() == m.cols();
    list.require(square, name, fmt::format("is {} x {}; it must be square", m.rows(), m.cols()));
    list.require(m.allFinite(), name, "has an entry that is not finite");
    if (!square || !m.allFinite()) return false;
    const double scale = m.cwiseAbs().maxCoeff();
    const bool even = (m - m.transpose()).cwiseAbs().maxCoeff() <= 1e-9 * scale;
    list.require(even, name, "is not symmetric");
    const bool positive = symmetric_eigenvalues(symmetric(m)).minCoeff() > kSingular * scale;
    list.require(positive, name, "is not positive definite");
    return even && positive;
  };
  const bool x_sound = block("covariance of X", x);
  const bool y_sound = block("covariance of Y", y);
  const bool fits = xy.rows() == x.rows() && xy.cols() == y.rows();
  list.require(fits, "covariance of X and Y",
               fmt::format("is {} x {}; it must be {} x {}", xy.rows(), xy.cols(), x.rows(), y.rows()));
  list.require(xy.allFinite(), "covariance of X and Y", "has an entry that is not finite");
  if (x_sound && y_sound && fits && xy.allFinite()) {
    Matrix<double> whole(x.rows() + y.rows(), x.rows() + y.rows());
    whole << x, xy, xy.transpose(), y;
    const Vector<double> values = symmetric_eigenvalues(symmetric(whole));
    list.require(values.minCoeff() >= -1e-9 * values.maxCoeff(), "covariance",
                 fmt::format("is not positive semi-definite: its least eigenvalue is {}", values.minCoeff()));
  }
  return list.take();
}

Problems check_covariance(const MatrixRef<double>& whole, Index sensitive) {
  ProblemList list;
  const bool square = whole.rows() == whole.cols();
  const bool small = std::max(whole.rows(), whole.cols()) <= kMostComponents;
  list.require(square, "covariance",
               fmt::format("is {} x {}; it must be square", whole.rows(), whole.cols()));
  list.require(small, "covariance",
               fmt::format("is {} x {}; it may have {} rows", whole.rows(), whole.cols(), kMostComponents));
  list.require(sensitive >= 1 && sensitive < whole.rows(), "sensitive",
               fmt::format("{} of {} rows are X's; X and Y need one each", sensitive, whole.rows()));
  list.require(whole.allFinite(), "covariance", "has an entry that is not finite");
  if (!square || !small || !whole.allFinite()) return list.take();
  const double scale = whole.cwiseAbs().maxCoeff();
  for (Index i = 0; i < whole.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      list.require(std::abs(whole(i, j) - whole(j, i)) <= 1e-9 * scale, "covariance",
                   fmt::format("is not symmetric: row {}, column {} is {} and row {}, column {} is {}", j + 1,
                               i + 1, whole(j, i), i + 1, j + 1, whole(i, j)));
    }
  }
  const double least = symmetric_eigenvalues(symmetric(whole)).minCoeff();
  list.require(least >= -1e-9 * scale, "covariance",
               fmt::format("is not positive semi-definite: its least eigenvalue is {:.6g}", least));
  return list.take();
}

GaussianCovariance split_covariance(const MatrixRef<double>& whole, Index sensitive) {
  require_none(check_covariance(whole, sensitive), "this is not a covariance:", ErrorCode::kBadInput);
  const Index rest = whole.rows() - sensitive;
  return {whole.topLeftCorner(sensitive, sensitive), whole.bottomRightCorner(rest, rest),
          whole.topRightCorner(sensitive, rest)};
}

double mutual_information(const GaussianCovariance& c) {
  const Matrix<double> rest = symmetric(c.x - c.xy * solve_symmetric(c.y, c.xy.transpose()));
  return std::max(0.0, 0.5 * (log_det(c.x) - log_det(rest)));
}

namespace {

GaussianGeneralOptimum solve(const GaussianCovariance& covariance, const Vector<double>& counted,
                             double distortion, const GaussianGeneralOptions& options) {
  if (!(distortion >= 0))
    throw Error(ErrorCode::kUsage,
                fmt::format("distortion: {} is not allowed; it must be at least 0", distortion));
  const MaxDet problem(covariance, counted, distortion);
  const Index n = problem.size();
  GaussianGeneralOptimum best;
  Matrix<double> f = problem.projected(Matrix<double>::Identity(n, n));
  best.leakage = problem.leakage(f);
  best.lower_bound = std::max(0.0, problem.lower_bound(f));
  double length = 1;
  while (best.gap() > options.gap && best.iterations < options.iterations && length > 1e-14) {
    ++best.iterations;
    const Matrix<double> next = problem.projected(f + length * problem.gradient(f));
    const double leakage = problem.leakage(next);
    if (!(leakage < best.leakage)) {
      length *= 0.5;
      continue;
    }
    f = next;
    best.leakage = leakage;
    length *= 1.5;
    if (best.iterations % 5 == 0) best.lower_bound = std::max(best.lower_bound, problem.lower_bound(f));
  }
  best.leakage = std::max(0.0, best.leakage);
  best.lower_bound = std::min(std::max(best.lower_bound, problem.lower_bound(f)), best.leakage);
  const Matrix<double>& basis = problem.basis();
  // F-coordinates of U; the columns of the basis are orthogonal.
  const Matrix<double> whiten = basis * basis.colwise().squaredNorm().cwiseInverse().asDiagonal();
  best.error = basis * f * basis.transpose();
  best.gain = Matrix<double>::Identity(basis.rows(), basis.rows()) - basis * f * whiten.transpose();
  best.noise = basis * (f - f * f) * basis.transpose();
  return best;
}

}  // namespace

GaussianGeneralOptimum least_leakage(const GaussianCovariance& covariance, double distortion,
                                     const GaussianGeneralOptions& options) {
  return solve(covariance, Vector<double>::Ones(covariance.y.rows()), distortion, options);
}

GaussianGeneralOptimum least_leakage_full_data(const GaussianCovariance& c, double distortion,
                                               const GaussianGeneralOptions& options) {
  const Index nx = c.x.rows();
  const Index ny = c.y.rows();
  Matrix<double> whole(nx + ny, nx + ny);
  whole << c.x, c.xy, c.xy.transpose(), c.y;
  Vector<double> counted = Vector<double>::Zero(nx + ny);
  counted.tail(ny).setOnes();
  GaussianGeneralOptimum best = solve({c.x, whole, whole.topRows(nx)}, counted, distortion, options);
  best.gain = best.gain.bottomRows(ny).eval();
  best.noise = best.noise.bottomRightCorner(ny, ny).eval();
  return best;
}

}  // namespace ppan::theory
