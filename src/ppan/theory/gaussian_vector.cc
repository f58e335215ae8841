#include "ppan/theory/gaussian_vector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "ppan/core/linear_algebra.h"

namespace ppan::theory {
namespace {

void require_solvable(const GaussianVector& pair, double distortion) {
  ProblemList problems;
  problems.require_at_least("distortion", distortion, 0);
  for (const Problem& p : pair.check()) problems.require(false, p.field, p.what);
  require_none(problems.take(), "vector Gaussian pair");
}

/// Where a falling function passes `wanted`, by bisection to the last bit.
template <typename Function>
double where_it_falls_to(double wanted, double low, double high, const Function& falling) {
  for (double middle = (low + high) / 2; middle > low && middle < high; middle = (low + high) / 2)
    (falling(middle) > wanted ? low : high) = middle;
  return high;
}

/// The angle p of a pair with |rho| = cos f at which cot(f + p) / sin 2p has fallen to the slope. It falls
/// because leakage is convex in the distortion.
double angle_at(double f, double slope) {
  return where_it_falls_to(slope, 0, std::numbers::pi / 2 - f,
                           [&](double p) { return 1 / (std::tan(f + p) * std::sin(2 * p)); });
}

/// S^-1/2 of a covariance.
Matrix<double> inverse_root(const MatrixRef<double>& covariance, const char* name) {
  const SymmetricEigen eigen = covariance.allFinite() ? symmetric_eigen(covariance) : SymmetricEigen{};
  if (eigen.values.size() == 0 || eigen.values.minCoeff() <= 0)
    throw Error(ErrorCode::kBadInput, fmt::format("the covariance of {} is not positive definite", name));
  return eigen.vectors * eigen.values.cwiseSqrt().cwiseInverse().asDiagonal() * eigen.vectors.transpose();
}

}  // namespace

Problems GaussianVector::check() const {
  ProblemList problems;
  problems.require(rho.size() > 0, "rho", "has no component");
  for (Index i = 0; i < rho.size(); ++i) problems.require_inside(fmt::format("rho[{}]", i), rho[i], -1, 1);
  problems.require_positive("scale", scale);
  return problems.take();
}

double mutual_information(const GaussianVector& pair) {
  return -0.5 * (-pair.rho.array().square()).log1p().sum();
}

GaussianVectorOptimum least_leakage(const GaussianVector& pair, double distortion) {
  require_solvable(pair, distortion);
  // Component i begins to fill when the level passes rho_i^-2 - 1 and is full one unit later, so the filled
  // volume is piecewise linear in the level: walk over the sorted turning points.
  std::vector<double> starts;
  for (const double r : pair.rho)
    if (r != 0) starts.push_back(1 / (r * r) - 1);
  std::vector<double> turns = starts;
  for (const double s : starts) turns.push_back(s + 1);
  std::sort(turns.begin(), turns.end());
  const auto volume = [&](double level) {
    double sum = 0;
    for (const double s : starts) sum += std::clamp(level - s, 0.0, 1.0);
    return sum;
  };
  const double wanted = std::min(distortion / pair.scale, static_cast<double>(starts.size()));
  double level = turns.empty() ? 0 : turns.back();
  for (std::size_t i = 0; i + 1 < turns.size(); ++i) {
    const double below = volume(turns[i]);
    const double above = volume(turns[i + 1]);
    if (wanted <= above && above > below) {
      level = turns[i] + (turns[i + 1] - turns[i]) * std::max(0.0, wanted - below) / (above - below);
      break;
    }
  }

  GaussianVectorOptimum optimum{.component_distortion = Vector<double>::Zero(pair.rho.size()),
                                .level = level};
  for (Index i = 0; i < pair.rho.size(); ++i) {
    const double r2 = pair.rho[i] * pair.rho[i];
    if (r2 == 0) continue;
    const double share = std::clamp(level - (1 / r2 - 1), 0.0, 1.0);
    optimum.component_distortion[i] = share;
    optimum.leakage += std::max(0.0, -0.5 * std::log1p(-r2 * (1 - share)));
  }
  return optimum;
}

GaussianVectorOptimum least_leakage_full_data(const GaussianVector& pair, double distortion) {
  require_solvable(pair, distortion);
  const Vector<double> f = pair.rho.cwiseAbs().array().acos();
  GaussianVectorOptimum optimum{.component_distortion = pair.rho.cwiseAbs2(), .level = 0};
  const double wanted = distortion / pair.scale;
  if (wanted >= optimum.component_distortion.sum()) return optimum;
  const auto angles = [&](double slope) {
    Vector<double> p = Vector<double>::Zero(f.size());
    for (Index i = 0; i < f.size(); ++i)
      if (pair.rho[i] != 0) p[i] = angle_at(f[i], slope);
    return p;
  };
  // The slope is steep at small distortions, so it is looked for by its logarithm.
  constexpr double kReach = 60;
  const double at = where_it_falls_to(wanted, -kReach, kReach, [&](double logarithm) {
    return angles(std::exp(logarithm)).array().sin().square().sum();
  });
  optimum.level = std::exp(at);
  const Vector<double> p =
      wanted > 0 ? angles(optimum.level) : Vector<double>(Vector<double>::Zero(f.size()));
  optimum.component_distortion = p.array().sin().square();
  optimum.leakage = std::max(0.0, -(f + p).array().sin().log().sum());
  return optimum;
}

std::optional<GaussianVector> CanonicalForm::solvable() const {
  if (departure > 1e-9) return std::nullopt;
  GaussianVector pair{rho, scale};
  if (!pair.check().empty()) return std::nullopt;
  return pair;
}

CanonicalForm canonical_form(const MatrixRef<double>& covariance_x, const MatrixRef<double>& covariance_y,
                             const MatrixRef<double>& covariance_xy) {
  const Index dx = covariance_x.rows();
  const Index dy = covariance_y.rows();
  if (dx == 0 || dy == 0 || covariance_x.cols() != dx || covariance_y.cols() != dy ||
      covariance_xy.rows() != dx || covariance_xy.cols() != dy)
    throw Error(ErrorCode::kBadInput,
                fmt::format("covariances of {} x {}, {} x {} and {} x {} do not belong together", dx,
                            covariance_x.cols(), dy, covariance_y.cols(), covariance_xy.rows(),
                            covariance_xy.cols()));
  const Matrix<double> p = inverse_root(covariance_x, "X") * covariance_xy * inverse_root(covariance_y, "Y");
  const RightSingular svd = right_singular(p);
  const Matrix<double> rotated = svd.v.transpose() * covariance_y * svd.v;
  CanonicalForm form{.rho = svd.values, .scale = rotated.diagonal().mean()};
  form.departure =
      (rotated - form.scale * Matrix<double>::Identity(dy, dy)).cwiseAbs().maxCoeff() / form.scale;
  return form;
}

}  // namespace ppan::theory
