#include "ppan/audit/calibration.h"

#include <array>
#include <cmath>
#include <limits>

namespace ppan {

void Calibration::apply(const Vector<double>& prior, Matrix<float>& log_probability) const {
  Vector<double> row(log_probability.cols());
  for (Index i = 0; i < log_probability.rows(); ++i) {
    row = log_probability.row(i).transpose().cast<double>() / temperature;
    const double most = row.maxCoeff();
    row = (row.array() - most).exp();
    row *= (1 - prior_share) / row.sum();
    row += prior_share * prior;
    log_probability.row(i) = row.array().log().matrix().cast<float>().transpose();
  }
}

Calibration calibrate(const Matrix<float>& log_probability, const Symbols& x, const Vector<double>& prior) {
  constexpr std::array kTemperatures{0.5, 0.7, 0.85, 1.0, 1.15, 1.35, 1.6, 2.0, 3.0, 5.0};
  constexpr std::array kPriorShares{1e-4, 1e-3, 0.003, 0.01, 0.03, 0.1, 0.3, 0.6, 1.0};
  Calibration best;
  double most = -std::numeric_limits<double>::infinity();
  for (const double temperature : kTemperatures) {
    std::array<double, kPriorShares.size()> sum{};
    for (Index i = 0; i < log_probability.rows(); ++i) {
      const auto row = log_probability.row(i).array();
      const float top = row.maxCoeff();
      const double total = static_cast<double>(((row - top) / static_cast<float>(temperature)).exp().sum());
      const std::int32_t truth = x[static_cast<std::size_t>(i)];
      const double p = std::exp(static_cast<double>(log_probability(i, truth) - top) / temperature) / total;
      for (std::size_t e = 0; e < sum.size(); ++e) {
        sum[e] += std::log((1 - kPriorShares[e]) * p + kPriorShares[e] * prior[truth]);
      }
    }
    for (std::size_t e = 0; e < sum.size(); ++e) {
      if (sum[e] > most) {
        most = sum[e];
        best = {temperature, kPriorShares[e]};
      }
    }
  }
  return best;
}

}  // namespace ppan
