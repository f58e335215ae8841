#include "ppan/theory/gaussian_scalar.h"

#include <cmath>

namespace ppan::theory {
namespace {

/// Distortion as a share of the variance of Y, after checking everything.
double share(const GaussianScalar& pair, double distortion) {
  ProblemList problems;
  problems.require_at_least("distortion", distortion, 0);
  for (const Problem& p : pair.check()) problems.require(false, p.field, p.what);
  require_none(problems.take(), "scalar Gaussian pair");
  return distortion / pair.variance_y;
}

}  // namespace

Problems GaussianScalar::check() const {
  ProblemList problems;
  problems.require_inside("rho", rho, -1, 1);
  problems.require_positive("variance_y", variance_y);
  return problems.take();
}

double mutual_information(const GaussianScalar& pair) {
  return -0.5 * std::log1p(-pair.rho * pair.rho);
}

double least_leakage_useful_only(const GaussianScalar& pair, double distortion) {
  const double e = share(pair, distortion);
  return e >= 1 ? 0 : -0.5 * std::log1p(-pair.rho * pair.rho * (1 - e));
}

GaussianRelease best_release_useful_only(const GaussianScalar& pair, double distortion) {
  const double e = share(pair, distortion);
  if (e >= 1) return {};
  return {.from_x = 0, .from_y = 1 - e, .noise_variance = distortion * (1 - e)};
}

double least_leakage_full_data(const GaussianScalar& pair, double distortion) {
  const double e = share(pair, distortion);
  const double r2 = pair.rho * pair.rho;
  if (e >= r2) return 0;
  const double correlation = std::sqrt(r2 * (1 - e)) - std::sqrt((1 - r2) * e);
  return -0.5 * std::log1p(-correlation * correlation);
}

GaussianRelease best_release_full_data(const GaussianScalar& pair, double distortion) {
  const double e = share(pair, distortion);
  const double r2 = pair.rho * pair.rho;
  const double sigma_y = std::sqrt(pair.variance_y);
  if (e >= r2) return {.from_x = -pair.rho * sigma_y, .from_y = 1, .noise_variance = 0};
  const double tilt = std::copysign(std::sqrt(e * (1 - e) / (1 - r2)), pair.rho);
  return {.from_x = -tilt * sigma_y, .from_y = 1 - e + tilt * pair.rho, .noise_variance = 0};
}

}  // namespace ppan::theory
