#include "ppan/game/alpha_prior.h"

#include <algorithm>
#include <cmath>

namespace ppan {

double AlphaPrior::information(double utility) const {
  if (alpha == 1) return entropy + utility;
  const double power = std::isinf(alpha) ? 1 : (alpha - 1) / alpha;
  return std::log(std::max(1e-12, 1 + power * utility) / vulnerability) / power;
}

AlphaPrior alpha_prior(const std::vector<double>& shares, double alpha, double more_entropy) {
  AlphaPrior out{.alpha = alpha, .entropy = more_entropy};
  double most = 0;
  for (const double p : shares) {
    if (p > 0) out.entropy -= p * std::log(p);
    most = std::max(most, p);
  }
  if (alpha == 1 || most <= 0) return out;
  double sum = 0;  // of (p / most)^alpha, so that no power underflows
  for (const double p : shares) sum += std::isinf(alpha) ? 0 : std::pow(p / most, alpha);
  out.vulnerability = most * (std::isinf(alpha) ? 1 : std::pow(sum, 1 / alpha));
  return out;
}

}  // namespace ppan
