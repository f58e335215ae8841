#include "ppan/theory/leakage_measures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

// Orders nearer to 1 than this are taken as 1: the quotient by alpha - 1 would lose more digits than the
// difference of the measures is worth.
constexpr double kNearOne = 1e-7;

void require_order(double alpha) {
  if (alpha > 0) return;
  throw Error(ErrorCode::kUsage, fmt::format("alpha: {} is not allowed; it must be greater than 0", alpha));
}

bool shannon(double alpha) {
  return std::abs(alpha - 1) < kNearOne;
}

// (sum_i v_i^alpha)^(1/alpha), scaled by the greatest v so that no power over- or underflows.
double power_norm(const VectorRef<double>& v, double alpha) {
  const double most = v.size() == 0 ? 0 : v.maxCoeff();
  if (most <= 0 || std::isinf(alpha)) return std::max(most, 0.0);
  return most * std::pow((v.array() / most).pow(alpha).sum(), 1 / alpha);
}

// alpha / (alpha - 1) log(value), with the factor 1 at infinity.
double scaled_log(double value, double alpha) {
  return (std::isinf(alpha) ? 1 : alpha / (alpha - 1)) * std::log(value);
}

}  // namespace

Problems check_joint(const MatrixRef<double>& joint) {
  ProblemList list;
  list.require(joint.size() > 0, "joint", "has no entries");
  if (joint.size() == 0) return list.take();
  list.require(joint.allFinite() && joint.minCoeff() >= 0, "joint",
               "has an entry that is negative or not finite");
  const double sum = joint.sum();
  list.require(std::abs(sum - 1) <= 1e-9, "joint", fmt::format("sums to {}, not to 1", sum));
  return list.take();
}

Problems check_gain(const MatrixRef<double>& gain, Index levels) {
  ProblemList list;
  list.require(gain.rows() > 0 && gain.cols() == levels, "gain",
               fmt::format("is {} x {} where {} secrets are known; it needs a row per guess and a column per "
                           "secret",
                           gain.rows(), gain.cols(), levels));
  if (gain.size() == 0) return list.take();
  list.require(gain.allFinite() && gain.minCoeff() >= 0, "gain",
               "has an entry that is negative or not finite");
  list.require(!gain.allFinite() || gain.maxCoeff() > 0, "gain", "has no positive entry");
  return list.take();
}

double prior_vulnerability(const MatrixRef<double>& joint) {
  return joint.rowwise().sum().maxCoeff();
}

double bayes_vulnerability(const MatrixRef<double>& joint) {
  return joint.colwise().maxCoeff().sum();
}

double min_entropy_leakage(const MatrixRef<double>& joint) {
  return std::max(0.0, std::log(bayes_vulnerability(joint) / prior_vulnerability(joint)));
}

double additive_leakage(const MatrixRef<double>& joint) {
  return std::max(0.0, bayes_vulnerability(joint) - prior_vulnerability(joint));
}

double bayes_security(const MatrixRef<double>& joint) {
  const double without = 1 - prior_vulnerability(joint);
  return without <= 0 ? 1 : std::clamp((1 - bayes_vulnerability(joint)) / without, 0.0, 1.0);
}

double renyi_entropy(const VectorRef<double>& pmf, double alpha) {
  require_order(alpha);
  if (shannon(alpha)) return entropy(pmf);
  if (std::isinf(alpha)) return -std::log(pmf.maxCoeff());
  // log (sum p^alpha) / (1 - alpha) = alpha / (1 - alpha) log |p|_alpha
  return std::max(0.0, -scaled_log(power_norm(pmf, alpha), alpha));
}

double prior_alpha_vulnerability(const VectorRef<double>& prior, double alpha) {
  require_order(alpha);
  return power_norm(prior, alpha);
}

double alpha_vulnerability(const MatrixRef<double>& joint, double alpha) {
  require_order(alpha);
  double sum = 0;
  for (Index z = 0; z < joint.cols(); ++z) sum += power_norm(joint.col(z), alpha);
  return sum;
}

double arimoto_information(const MatrixRef<double>& joint, double alpha) {
  require_order(alpha);
  if (shannon(alpha)) return mutual_information(joint);
  const Vector<double> prior = joint.rowwise().sum();
  const double ratio = alpha_vulnerability(joint, alpha) / prior_alpha_vulnerability(prior, alpha);
  return std::max(0.0, scaled_log(ratio, alpha));
}

double sibson_information(const MatrixRef<double>& joint, double alpha) {
  require_order(alpha);
  if (shannon(alpha)) return mutual_information(joint);
  if (std::isinf(alpha)) return maximal_leakage(joint);
  // sum_x P(x) P(z|x)^alpha = sum_x (P(x)^(1/alpha - 1) P(x,z))^alpha
  Matrix<double> tilted = joint;
  for (Index x = 0; x < joint.rows(); ++x) {
    const double p = joint.row(x).sum();
    tilted.row(x) *= p > 0 ? std::pow(p, 1 / alpha - 1) : 0;
  }
  return std::max(0.0, scaled_log(alpha_vulnerability(tilted, alpha), alpha));
}

double maximal_leakage(const MatrixRef<double>& joint) {
  Matrix<double> given = joint;
  for (Index x = 0; x < joint.rows(); ++x) {
    const double p = joint.row(x).sum();
    given.row(x) *= p > 0 ? 1 / p : 0;
  }
  return std::max(0.0, std::log(given.colwise().maxCoeff().sum()));
}

double prior_gain(const MatrixRef<double>& joint, const MatrixRef<double>& gain) {
  return (gain * joint.rowwise().sum()).maxCoeff();
}

double posterior_gain(const MatrixRef<double>& joint, const MatrixRef<double>& gain) {
  return (gain * joint).colwise().maxCoeff().sum();
}

double gain_leakage(const MatrixRef<double>& joint, const MatrixRef<double>& gain) {
  return std::max(0.0, std::log(posterior_gain(joint, gain) / prior_gain(joint, gain)));
}

}  // namespace ppan::theory
