#include "ppan/worlds/gaussian_mixture_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "ppan/core/linear_algebra.h"
#include "ppan/worlds/sampling.h"

namespace ppan {
namespace {

/// The means in orthonormal coordinates of their affine hull, in units of sigma: a row per class, as many
/// columns as the hull has dimensions.
Matrix<double> hull_coordinates(const GaussianMixtureWorld& world) {
  const Vector<double> centre = world.means.colwise().mean().transpose();
  const Matrix<double> centred = (world.means.rowwise() - centre.transpose()) / world.sigma;
  const RightSingular svd = right_singular(centred);
  Index dimension = 0;
  while (dimension < svd.values.size() && svd.values[dimension] > 1e-9) ++dimension;
  return centred * svd.v.leftCols(dimension);
}

}  // namespace

Problems GaussianMixtureWorld::check() const {
  ProblemList problems;
  problems.require(weights.size() > 0, "weights", "has no class");
  for (Index k = 0; k < weights.size(); ++k)
    problems.require_positive(fmt::format("weights[{}]", k), weights[k]);
  if (weights.size() > 0)
    problems.require(std::abs(weights.sum() - 1) <= 1e-9, "weights",
                     fmt::format("sum to {}, not to 1", weights.sum()));
  const bool shaped = means.rows() == weights.size() && means.cols() > 0;
  problems.require(
      shaped, "means",
      fmt::format("is {} x {} where {} classes need a row each", means.rows(), means.cols(), weights.size()));
  problems.require(means.allFinite(), "means", "has an entry that is not finite");
  problems.require_positive("sigma", sigma);
  if (shaped && means.rows() > 0 && means.allFinite() && sigma > 0)
    problems.require(hull_coordinates(*this).cols() <= 2, "means",
                     "span more than two dimensions; their information is not computed");
  return problems.take();
}

double GaussianMixtureWorld::mutual_information() const {
  require_none(check(), "Gaussian mixture world");
  const Matrix<double> means_in_hull = hull_coordinates(*this);
  const Index dimension = means_in_hull.cols();
  if (dimension == 0) return 0;

  // I(X;Y) = E log p(y|X)/p(y). The trapezoidal rule converges faster than any power of the step for such
  // smooth, rapidly falling integrands; steps of 1/16 sigma out to 10 sigma are far past double precision.
  constexpr double kStep = 1.0 / 16;
  constexpr double kReach = 10;
  const double log_norm = 0.5 * static_cast<double>(dimension) * std::log(2 * std::numbers::pi);
  Vector<double> place(dimension);
  Vector<double> log_term(weights.size());
  const auto integrand = [&] {
    for (Index k = 0; k < weights.size(); ++k)
      log_term[k] = -0.5 * (place - means_in_hull.row(k).transpose()).squaredNorm() - log_norm;
    const double top = log_term.maxCoeff();
    const double log_mixture = top + std::log(weights.dot((log_term.array() - top).exp().matrix()));
    double sum = 0;
    for (Index k = 0; k < weights.size(); ++k)
      sum += weights[k] * std::exp(log_term[k]) * (log_term[k] - log_mixture);
    return sum;
  };
  const auto steps_of = [&](Index axis) {
    const double width = means_in_hull.col(axis).maxCoeff() - means_in_hull.col(axis).minCoeff() + 2 * kReach;
    return static_cast<Index>(std::ceil(width / kStep));
  };
  const auto place_of = [&](Index axis, Index i) {
    return means_in_hull.col(axis).minCoeff() - kReach + kStep * static_cast<double>(i);
  };
  double sum = 0;
  for (Index i = 0; i <= steps_of(0); ++i) {
    place[0] = place_of(0, i);
    if (dimension == 1) {
      sum += integrand();
      continue;
    }
    for (Index j = 0; j <= steps_of(1); ++j) {
      place[1] = place_of(1, j);
      sum += integrand();
    }
  }
  return std::max(0.0, sum * std::pow(kStep, static_cast<double>(dimension)));
}

Records<double> GaussianMixtureWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "Gaussian mixture world");
  const std::span<const double> probabilities(weights.data(), static_cast<std::size_t>(weights.size()));
  Symbols label(static_cast<std::size_t>(count));
  for (auto& k : label) k = static_cast<std::int32_t>(draw_index(random, probabilities));
  Matrix<double> y = sigma * standard_normal(count, means.cols(), random);
  for (Index i = 0; i < count; ++i) y.row(i) += means.row(label[static_cast<std::size_t>(i)]);
  return {real(y), {finite(std::move(label), static_cast<std::int32_t>(weights.size()))}, real(y)};
}

}  // namespace ppan
