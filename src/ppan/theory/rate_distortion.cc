#include "ppan/theory/rate_distortion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ppan::theory {

Problems GaussianSource::check() const {
  ProblemList problems;
  problems.require(variances.size() > 0, "variances", "has no component");
  for (Index i = 0; i < variances.size(); ++i)
    problems.require_positive(fmt::format("variances[{}]", i), variances[i]);
  return problems.take();
}

RateDistortionOptimum least_rate(const GaussianSource& source, double distortion) {
  ProblemList problems;
  problems.require_at_least("distortion", distortion, 0);
  for (const Problem& p : source.check()) problems.require(false, p.field, p.what);
  require_none(problems.take(), "Gaussian source");

  // With the variances in rising order, the first `full` are below the level and the rest share what is left.
  Vector<double> sorted = source.variances;
  std::sort(sorted.begin(), sorted.end());
  double level = sorted[sorted.size() - 1];
  double left = distortion;
  for (Index full = 0; full < sorted.size(); ++full) {
    const double share = left / static_cast<double>(sorted.size() - full);
    if (share <= sorted[full]) {
      level = share;
      break;
    }
    left -= sorted[full];
  }

  RateDistortionOptimum optimum{.component_distortion = source.variances.cwiseMin(level), .level = level};
  optimum.rate = 0.5 * (source.variances.array() / optimum.component_distortion.array()).log().sum();
  return optimum;
}

}  // namespace ppan::theory
