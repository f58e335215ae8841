#include "ppan/theory/symmetric_pair.h"

#include <algorithm>
#include <cmath>

#include "ppan/theory/information.h"
#include "ppan/theory/leakage_measures.h"

namespace ppan::theory {
namespace {

/// Pr[X != Z] at which X and Z are independent.
double blind(const SymmetricPair& pair) {
  return 1 - 1.0 / pair.m;
}

void require_usable(const SymmetricPair& pair, double distortion) {
  ProblemList problems;
  problems.require_at_least("distortion", distortion, 0);
  for (const Problem& p : pair.check()) problems.require(false, p.field, p.what);
  require_none(problems.take(), "symmetric pair");
}

}  // namespace

Problems SymmetricPair::check() const {
  ProblemList problems;
  problems.require_at_least("m", m, 2);
  problems.require_between("p", p, 0, 1);
  return problems.take();
}

double symmetric_information(int m, double p) {
  return std::max(0.0, std::log(m) - p * std::log(m - 1) - binary_entropy(p));
}

double symmetric_information(int m, double p, double alpha) {
  if (alpha == 1) return symmetric_information(m, p);
  return arimoto_information(joint({.m = m, .p = std::clamp(p, 0.0, 1.0)}), alpha);
}

Matrix<double> joint(const SymmetricPair& pair) {
  const double m = pair.m;
  Matrix<double> joint = Matrix<double>::Constant(pair.m, pair.m, pair.p / (m * (m - 1)));
  joint.diagonal().setConstant((1 - pair.p) / m);
  return joint;
}

double mutual_information(const SymmetricPair& pair) {
  return symmetric_information(pair.m, pair.p);
}

double least_leakage_useful_only(const SymmetricPair& pair, double distortion, double alpha) {
  require_usable(pair, distortion);
  if (distortion >= blind(pair)) return 0;
  return symmetric_information(pair.m, pair.p + distortion * (1 - pair.p / blind(pair)), alpha);
}

double least_leakage_full_data(const SymmetricPair& pair, double distortion, double alpha) {
  require_usable(pair, distortion);
  if (distortion >= std::abs(blind(pair) - pair.p)) return 0;
  return symmetric_information(pair.m, pair.p < blind(pair) ? pair.p + distortion : pair.p - distortion,
                               alpha);
}

}  // namespace ppan::theory
