#include "ppan/theory/bottleneck.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

void require_usable(const Problems& own, std::string_view field, double information) {
  ProblemList problems;
  problems.require(information >= 0, field, "must be at least 0 nats");
  for (const Problem& p : own) problems.require(false, p.field, p.what);
  require_none(problems.take(), "information bottleneck");
}

/// b * p, the crossover of two binary symmetric channels in a row.
double cascade(double b, double p) {
  return b * (1 - p) + (1 - b) * p;
}

}  // namespace

Problems BottleneckGaussian::check() const {
  ProblemList problems;
  problems.require_inside("rho", rho, -1, 1);
  return problems.take();
}

double mutual_information(const BottleneckGaussian& pair) {
  return -0.5 * std::log1p(-pair.rho * pair.rho);
}

double greatest_useful(const BottleneckGaussian& pair, double rate) {
  require_usable(pair.check(), "rate", rate);
  return -0.5 * std::log1p(pair.rho * pair.rho * std::expm1(-2 * rate));
}

double least_rate(const BottleneckGaussian& pair, double useful) {
  require_usable(pair.check(), "useful", useful);
  if (useful == 0) return 0;
  if (useful >= mutual_information(pair)) return kInfinity;
  return -0.5 * std::log1p(std::expm1(-2 * useful) / (pair.rho * pair.rho));
}

Problems BottleneckBinary::check() const {
  ProblemList problems;
  problems.require_between("p", p, 0, 1);
  return problems.take();
}

double mutual_information(const BottleneckBinary& pair) {
  return std::max(0.0, std::numbers::ln2 - binary_entropy(pair.p));
}

double greatest_useful(const BottleneckBinary& pair, double rate) {
  require_usable(pair.check(), "rate", rate);
  if (rate >= std::numbers::ln2) return mutual_information(pair);
  const double b = inverse_binary_entropy(std::numbers::ln2 - rate);
  return std::max(0.0, std::numbers::ln2 - binary_entropy(cascade(b, pair.p)));
}

double least_rate(const BottleneckBinary& pair, double useful) {
  require_usable(pair.check(), "useful", useful);
  if (useful == 0) return 0;
  if (useful > mutual_information(pair)) return kInfinity;
  // b * p = q with h2(q) = log 2 - useful; a source that disagrees more often than not is one that agrees,
  // relabelled.
  const double p = std::min(pair.p, 1 - pair.p);
  const double q = inverse_binary_entropy(std::numbers::ln2 - useful);
  const double b = std::clamp((q - p) / (1 - 2 * p), 0.0, 0.5);
  return std::numbers::ln2 - binary_entropy(b);
}

}  // namespace ppan::theory
