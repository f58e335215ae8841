#include "ppan/audit/learning_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

namespace ppan {
namespace {

constexpr std::array kExponents{0.35, 0.5, 0.7, 1.0};

// Least squares of y = a - b u over the points, read off at u = `at`: the weight of each y.
Vector<double> forecast_weights(const Vector<double>& u, double at) {
  const auto count = static_cast<double>(u.size());
  const Vector<double> centred = u.array() - u.mean();
  return Vector<double>::Constant(u.size(), 1 / count) + centred * ((at - u.mean()) / centred.squaredNorm());
}

Estimate forecast(std::span<const Index> rows, std::span<const Vector<double>> gain, double times,
                  double entropy, const Units& unit, const std::string& method) {
  const auto most = static_cast<double>(rows.back());
  const Rate now = mean_rate(gain.back(), unit);
  const auto clip = [&](double v) { return std::clamp(v, 0.0, std::max(0.0, entropy)); };
  Interval interval = now.interval95;
  double sum = 0;
  for (const double c : kExponents) {
    Vector<double> u(static_cast<Index>(rows.size()));
    for (std::size_t k = 0; k < rows.size(); ++k)
      u[static_cast<Index>(k)] = std::pow(static_cast<double>(rows[k]) / most, -c);
    const Vector<double> weight = forecast_weights(u, std::isinf(times) ? 0 : std::pow(times, -c));
    Vector<double> value = Vector<double>::Zero(gain.back().size());
    for (std::size_t k = 0; k < rows.size(); ++k) value += weight[static_cast<Index>(k)] * gain[k];
    const Rate later = mean_rate(value, unit);
    // More rows never find less: a curve that falls is noise around one that is flat.
    sum += std::max(later.value, now.value) / static_cast<double>(kExponents.size());
    interval.low = std::min(interval.low, later.interval95.low);
    interval.high = std::max(interval.high, later.interval95.high);
  }
  return {.nats = clip(sum),
          .interval95 = Interval{clip(std::max(interval.low, now.interval95.low)), clip(interval.high)},
          .bound = Bound::kEstimate,
          .method = method,
          .samples = static_cast<std::int64_t>(gain.back().size())};
}

}  // namespace

double forecast_end(const LearningForecast& forecast, bool still_rising) {
  return still_rising ? std::max(forecast.limit.interval95->high, forecast.ten_times.interval95->high)
                      : forecast.ten_times.interval95->high;
}

std::optional<LearningForecast> forecast_learning(std::span<const Index> rows,
                                                  std::span<const Vector<double>> gain, double entropy,
                                                  const Units& unit) {
  if (rows.size() < 3 || rows.front() < 1) return {};
  return LearningForecast{
      forecast(rows, gain, 10, entropy, unit, "learning curve, forecast for ten times the rows"),
      forecast(rows, gain, std::numeric_limits<double>::infinity(), entropy, unit,
               "learning curve, forecast for any number of rows")};
}

}  // namespace ppan
