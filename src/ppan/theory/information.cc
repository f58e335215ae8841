#include "ppan/theory/information.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace ppan::theory {

double entropy(const MatrixRef<double>& pmf) {
  double h = 0;
  for (Index j = 0; j < pmf.cols(); ++j)
    for (Index i = 0; i < pmf.rows(); ++i)
      if (pmf(i, j) > 0) h -= pmf(i, j) * std::log(pmf(i, j));
  return std::max(0.0, h);
}

double binary_entropy(double p) {
  if (p <= 0 || p >= 1) return 0;
  return -p * std::log(p) - (1 - p) * std::log1p(-p);
}

double inverse_binary_entropy(double h) {
  if (h <= 0) return 0;
  if (h >= std::numbers::ln2) return 0.5;
  double low = 0;
  double high = 0.5;
  // Bisection down to neighbouring doubles; h2 increases on [0, 1/2].
  for (double middle = 0.25; middle > low && middle < high; middle = 0.5 * (low + high))
    (binary_entropy(middle) < h ? low : high) = middle;
  return high;
}

double mutual_information(const MatrixRef<double>& joint) {
  const Vector<double> a = joint.rowwise().sum();
  const Vector<double> b = joint.colwise().sum().transpose();
  double information = 0;
  for (Index j = 0; j < joint.cols(); ++j)
    for (Index i = 0; i < joint.rows(); ++i)
      if (joint(i, j) > 0) information += joint(i, j) * (std::log(joint(i, j) / a[i]) - std::log(b[j]));
  return std::max(0.0, information);
}

}  // namespace ppan::theory
