#include "ppan/report/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ppan {
namespace {

constexpr double kPadding = 0.04;   // of the range, so that no marker sits on the frame
constexpr double kNearZero = 0.35;  // a range starting below this part of its end is shown from 0

}  // namespace

std::vector<double> round_ticks(double low, double high, int wanted) {
  const double raw = (high - low) / std::max(1, wanted);
  if (!(raw > 0) || !std::isfinite(raw)) return {};
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  // The geometric means of neighbouring factors divide them, so that the number of ticks is nearest to what
  // was wanted.
  const double factor = raw / power;
  const double step = power * (factor < 1.414 ? 1 : factor < 3.162 ? 2 : factor < 7.071 ? 5 : 10);
  std::vector<double> ticks;
  const double slack = step * 1e-9;
  for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
    // Steps of 0.1 and 0.2 are quotients, not multiples, of whole numbers: 3 * 0.1 would print as
    // 0.30000000000000004.
    const double tick = step < 1 ? k / std::round(1 / step) : k * step;
    ticks.push_back(tick == 0 ? 0.0 : tick);
    if (ticks.size() > 1000) break;  // beyond the resolution of a double, k no longer moves
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const auto inside = [&](double tick) { return tick >= low * (1 - 1e-12) && tick <= high * (1 + 1e-12); };
  std::vector<double> decades;
  std::vector<double> finer;
  for (int k = first; k <= last; ++k) {
    const double decade = std::pow(10.0, k);
    if (inside(decade)) decades.push_back(decade);
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (inside(factor * decade)) finer.push_back(factor * decade);
    }
  }
  if (decades.size() < 3) return finer;
  const std::size_t every = (decades.size() + 7) / 8;
  std::vector<double> some;
  for (std::size_t i = 0; i < decades.size(); i += every) some.push_back(decades[i]);
  return some;
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks) {
  double largest = 0;
  for (const double tick : ticks) largest = std::max(largest, std::abs(tick));
  std::vector<std::string> labels;
  const bool logarithmic = ticks.size() > 1 && ticks.front() > 0 && ticks.back() / ticks.front() > 99;
  if (logarithmic || largest >= 1e6 || (largest > 0 && largest < 1e-3)) {
    for (const double tick : ticks) labels.push_back(fmt::format("{:g}", tick));
  } else {
    int decimals = 0;
    const auto exact = [&](double tick) {
      const double scaled = tick * std::pow(10.0, decimals);
      return std::abs(scaled - std::round(scaled)) < 1e-6 * std::max(1.0, std::abs(scaled));
    };
    while (decimals < 9 && !std::all_of(ticks.begin(), ticks.end(), exact)) ++decimals;
    for (const double tick : ticks) labels.push_back(fmt::format("{:.{}f}", tick, decimals));
  }
  for (std::string& label : labels) {
    if (label.front() == '-') label.replace(0, 1, "\xE2\x88\x92");
  }
  return labels;
}

void DataRange::cover(double value) {
  if (!std::isfinite(value)) return;
  if (empty()) {
    low_ = high_ = value;
  } else {
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
}

Scale::Scale(const FigureAxis& axis, const DataRange& data, double from, double to)
    : from_(from), to_(to), logarithmic_(axis.logarithmic) {
  if (!axis.categories.empty()) {
    low_ = -0.5;
    high_ = static_cast<double>(axis.categories.size()) - 0.5;
    return;
  }
  low_ = data.empty() ? (logarithmic_ ? 0.1 : 0.0) : data.low();
  high_ = data.empty() ? 1.0 : data.high();
  if (logarithmic_) {
    if (low_ == high_) {
      low_ /= 2;
      high_ *= 2;
    }
    const double margin = axis.tight ? 1 : std::pow(high_ / low_, kPadding);
    low_ = axis.low.value_or(low_ / margin);
    high_ = axis.high.value_or(high_ * margin);
  } else {
    const bool from_zero = !axis.tight && low_ >= 0 && low_ <= kNearZero * high_;
    if (from_zero) low_ = 0;
    if (low_ == high_) {
      const double half = low_ == 0 ? 1.0 : std::abs(low_) / 2;
      if (!from_zero) low_ -= half;
      high_ += half;
    }
    const double margin = axis.tight ? 0 : kPadding * (high_ - low_);
    low_ = axis.low.value_or(from_zero ? 0 : low_ - margin);
    high_ = axis.high.value_or(high_ + margin);
  }
  if (!(low_ < high_) || (logarithmic_ && low_ <= 0)) {  // limits that contradict each other or the data
    low_ = logarithmic_ ? 0.1 : 0;
    high_ = 1;
  }
}

double Scale::at(double value) const {
  const double part =
      logarithmic_ ? std::log(value / low_) / std::log(high_ / low_) : (value - low_) / (high_ - low_);
  return from_ + part * (to_ - from_);
}

bool Scale::inside(double value) const {
  if (!std::isfinite(value) || (logarithmic_ && value <= 0)) return false;
  const double slack = 1e-9 * (high_ - low_);
  return value >= low_ - slack && value <= high_ + slack;
}

std::vector<double> Scale::ticks(double spacing) const {
  if (logarithmic_) return log_ticks(low_, high_);
  return round_ticks(low_, high_, std::max(2, static_cast<int>(std::abs(to_ - from_) / spacing)));
}

}  // namespace ppan
