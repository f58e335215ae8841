#include "ppan/audit/period_scan.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace ppan {
namespace {

constexpr double kMostCycles = 400;  // over the range of nearly all values
constexpr double kLeastCycles = 3;   // fewer are seen column by column
constexpr double kStep = 0.5;        // cycles: waves this far apart still share most of their rows
constexpr double kFineStep = 0.02;
constexpr std::size_t kMostRows = 2000;
constexpr std::size_t kLeastRows = 200;
constexpr double kClear = 2;

// The part of the residual that goes along with a wave of so many cycles, as a normal number (see
// AdditiveFit::beyond).
class Waves {
 public:
  Waves(const std::vector<double>& value, const std::vector<Index>& rows, double low, double range,
        const AdditiveFit& fit)
      : residual_(fit.residual().rows(), static_cast<Index>(rows.size())) {
    phase_.resize(static_cast<Index>(rows.size()));
    Vector<float> variance = Vector<float>::Zero(residual_.rows());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto at = static_cast<Index>(i);
      phase_[at] = 2 * std::numbers::pi * (value[static_cast<std::size_t>(rows[i])] - low) / range;
      residual_.col(at) = fit.residual().col(rows[i]);
      variance.array() += fit.expected().col(rows[i]).array();
    }
    weight_ = 2 / variance.array().max(1.0F);
    degrees_ = 2.0 * (static_cast<double>(residual_.rows()) - 1);
  }

  // Calls take(cycles, clear) for waves of `first` cycles and further ones in equal steps, up to `last`. Each
  // wave is the one before, turned a little: sines and cosines would cost several times as much.
  template <typename Take>
  void scan(double first, double last, double step, const Take& take) const {
    Eigen::ArrayXd up = (first * phase_).array().sin();
    Eigen::ArrayXd across = (first * phase_).array().cos();
    const Eigen::ArrayXd turn_up = (step * phase_).array().sin();
    const Eigen::ArrayXd turn_across = (step * phase_).array().cos();
    Eigen::ArrayXd next;
    for (double cycles = first; cycles <= last; cycles += step) {
      take(cycles, clear(up.matrix().cast<float>(), across.matrix().cast<float>()));
      next = up * turn_across + across * turn_up;
      across = across * turn_across - up * turn_up;
      up.swap(next);
    }
  }

 private:
  [[nodiscard]] double clear(const Vector<float>& up, const Vector<float>& across) const {
    const Vector<float> a = residual_ * up;
    const Vector<float> b = residual_ * across;
    const auto chi_squared =
        static_cast<double>(((a.array().square() + b.array().square()) * weight_.array()).sum());
    const double spread = 2 / (9 * degrees_);
    return (std::cbrt(chi_squared / degrees_) - (1 - spread)) / std::sqrt(spread);
  }

  Matrix<float> residual_;
  Vector<double> phase_;
  Vector<float> weight_;
  double degrees_ = 1;
};

}  // namespace

std::optional<double> informative_period(const std::vector<double>& value, const AdditiveFit& fit,
                                         double unit, double most_work) {
  std::vector<Index> rows;
  std::vector<double> sorted;
  for (std::size_t i = 0; i < value.size() && rows.size() < kMostRows; ++i) {
    if (std::isnan(value[i])) continue;
    rows.push_back(static_cast<Index>(i));
    sorted.push_back(value[i]);
  }
  if (rows.size() < kLeastRows) return {};
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[sorted.size() / 100];
  const double range = sorted[sorted.size() - 1 - sorted.size() / 100] - low;
  if (!(range > 0)) return {};
  // A wave costs about ten times what a level costs.
  const double work =
      static_cast<double>(rows.size()) * (20 + 2 * static_cast<double>(fit.residual().rows()));
  double most = std::min(kMostCycles, kStep * most_work / work);
  if (unit > 0) most = std::min(most, range * unit / 2);
  const Waves waves(value, rows, low, range, fit);
  double best = 0;
  double cycles = 0;
  double tried = 1;
  const auto take = [&](double c, double clear) {
    ++tried;
    if (clear <= best) return;
    best = clear;
    cycles = c;
  };
  waves.scan(kLeastCycles, most, kStep, take);
  if (best < std::sqrt(2 * std::log(tried + 1)) + kClear) return {};
  const double middle = cycles;
  waves.scan(middle - kStep, middle + kStep, kFineStep, take);
  return range / cycles;
}

}  // namespace ppan
