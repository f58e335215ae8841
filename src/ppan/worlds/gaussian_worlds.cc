#include "ppan/worlds/gaussian_worlds.h"

#include <limits>

#include "ppan/worlds/sampling.h"

namespace ppan {
namespace {

/// X_i = rho_i Y_i + sqrt(1 - rho_i^2) N for standard normal Y: unit variances, correlation rho_i.
Matrix<double> correlated(const Matrix<double>& y, const Vector<double>& rho, RandomSource& random) {
  const Vector<double> rest = (1 - rho.array().square()).sqrt().matrix();
  return y * rho.asDiagonal() + standard_normal(y.rows(), y.cols(), random) * rest.asDiagonal();
}

}  // namespace

Problems GaussianScalarWorld::check() const {
  ProblemList problems;
  for (const Problem& p : theory::GaussianScalar{rho, 1}.check()) problems.require(false, p.field, p.what);
  problems.require(observation == Observation::kUsefulOnly || observation == Observation::kFullData,
                   "observation", "must be useful-only or full-data");
  return problems.take();
}

double GaussianScalarWorld::mutual_information() const {
  return theory::mutual_information(theory::GaussianScalar{rho, 1});
}

double GaussianScalarWorld::optimum(double distortion) const {
  const theory::GaussianScalar pair{rho, 1};
  return observation == Observation::kFullData ? least_leakage_full_data(pair, distortion)
                                               : least_leakage_useful_only(pair, distortion);
}

Records<double> GaussianScalarWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "scalar Gaussian world");
  const Matrix<double> y = standard_normal(count, 1, random);
  const Matrix<double> x = correlated(y, Vector<double>::Constant(1, rho), random);
  Matrix<double> w = y;
  if (observation == Observation::kFullData) {
    w.resize(count, 2);
    w << x, y;
  }
  return {real(w), {real(x)}, real(y)};
}

Problems GaussianVectorWorld::check() const {
  return theory::GaussianVector{rho, 1}.check();
}

double GaussianVectorWorld::mutual_information() const {
  return theory::mutual_information(theory::GaussianVector{rho, 1});
}

double GaussianVectorWorld::optimum(double distortion) const {
  return least_leakage(theory::GaussianVector{rho, 1}, distortion).leakage;
}

Records<double> GaussianVectorWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "vector Gaussian world");
  const Matrix<double> y = standard_normal(count, rho.size(), random);
  const Matrix<double> x = correlated(y, rho, random);
  return {real(y), {real(x)}, real(y)};
}

Problems GaussianRateDistortionWorld::check() const {
  return theory::GaussianSource{variances}.check();
}

double GaussianRateDistortionWorld::mutual_information() const {
  return std::numeric_limits<double>::infinity();
}

double GaussianRateDistortionWorld::optimum(double distortion) const {
  return least_rate(theory::GaussianSource{variances}, distortion).rate;
}

Records<double> GaussianRateDistortionWorld::sample(Index count, RandomSource& random) const {
  require_none(check(), "Gaussian rate-distortion world");
  const Vector<double> deviations = variances.cwiseSqrt();
  const Matrix<double> x = standard_normal(count, variances.size(), random) * deviations.asDiagonal();
  return {real(x), {real(x)}, real(x)};
}

}  // namespace ppan
