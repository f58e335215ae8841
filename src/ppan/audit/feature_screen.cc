#include "ppan/audit/feature_screen.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "ppan/audit/trace_screen.h"

namespace ppan {
namespace {

constexpr double kSameFeature = 0.98;  // correlation from which on a trace says what the value says

// Whether a trace has by itself anything to do with the attribute.
bool tells_something(const Eigen::Ref<const Vector<float>>& feature, const Symbols& x,
                     std::span<const std::int32_t> rows, std::int32_t levels) {
  constexpr double kDeviations = 3;
  return class_deviations(feature, x, rows, levels) > kDeviations;
}

// Whether a trace only repeats a value of the same column, as the last digit of 0 and 1 does.
bool repeats_value(const SuiteInput& input, Index trace) {
  const auto column = input.released.data.col(trace).array() - input.released.data.col(trace).mean();
  const std::string& name = input.source[static_cast<std::size_t>(trace)].column;
  return std::any_of(input.values.begin(), input.values.end(), [&](Index value) {
    if (input.source[static_cast<std::size_t>(value)].column != name) return false;
    const auto other = input.released.data.col(value).array() - input.released.data.col(value).mean();
    const float norm = std::sqrt(column.square().sum() * other.square().sum());
    return norm > 0 && std::abs((column * other).sum()) > static_cast<float>(kSameFeature) * norm;
  });
}

}  // namespace

ScreenedFeatures screen_features(const SuiteInput& input, const AttackTarget& target,
                                 const AttackSplit& split, bool every_trace) {
  constexpr std::size_t kMostScreened = 20'000;
  std::vector<std::int32_t> rows = split.train;
  rows.insert(rows.end(), split.trained.begin(), split.trained.end());
  rows.resize(std::min(rows.size(), kMostScreened));
  ScreenedFeatures out;
  for (Index f = 0; f < input.released.data.cols(); ++f) {
    const FeatureSource& source = input.source[static_cast<std::size_t>(f)];
    const bool trace = source.aspect != "value" && source.aspect != "known";
    const bool many = source.aspect == "digits" || source.aspect == "repeats" ||
                      source.aspect == "equality" || source.aspect == "text" || source.aspect == "pattern" ||
                      source.aspect == "neighbours";
    if (trace && (many || every_trace) &&
        !tells_something(input.released.data.col(f), target.code, rows, target.levels))
      continue;
    if (trace && repeats_value(input, f)) continue;
    if (std::find(input.values.begin(), input.values.end(), f) != input.values.end())
      out.values.push_back(static_cast<Index>(out.kept.size()));
    out.kept.push_back(f);
    out.source.push_back(source);
  }
  return out;
}

}  // namespace ppan
