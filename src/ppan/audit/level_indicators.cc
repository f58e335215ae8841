#include "ppan/audit/level_indicators.h"

#include <algorithm>
#include <array>

namespace ppan {
namespace {

constexpr std::array<std::size_t, 2> kSteps{8, 4};
constexpr std::size_t kMostLevels = 12;  // told apart one by one

std::vector<float> cuts_of(const Vector<float>& value, std::size_t steps) {
  std::vector<float> sorted(value.begin(), value.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<float> level = sorted;
  level.erase(std::unique(level.begin(), level.end()), level.end());
  if (level.size() < 3) return {};  // a step is what such a feature is
  std::vector<float> cut;
  if (level.size() <= kMostLevels) {
    cut.assign(level.begin() + 1, level.end());
  } else {
    for (std::size_t k = 1; k < steps; ++k) cut.push_back(sorted[sorted.size() * k / steps]);
    cut.erase(std::unique(cut.begin(), cut.end()), cut.end());
    if (cut.front() == level.front()) cut.erase(cut.begin());
  }
  return cut;
}

}  // namespace

LevelIndicators::LevelIndicators(const Matrix<float>& rows, const std::vector<Index>& values, Index most) {
  for (const std::size_t steps : kSteps) {
    feature_.clear();
    width_ = 0;
    for (const Index f : values) {
      feature_.push_back({f, cuts_of(rows.col(f), steps)});
      const std::vector<float>& cut = feature_.back().cut;
      width_ += 1 + (cut.empty() ? 0 : static_cast<Index>(cut.size()) + 1);
    }
    if (width_ <= most) return;
  }
  for (Feature& feature : feature_) feature.cut.clear();
  width_ = static_cast<Index>(feature_.size());
}

Matrix<float> LevelIndicators::apply(const Matrix<float>& rows) const {
  Matrix<float> out = Matrix<float>::Zero(rows.rows(), width_);
  Index at = 0;
  for (const Feature& feature : feature_) {
    out.col(at++) = rows.col(feature.index);
    if (feature.cut.empty()) continue;
    for (Index i = 0; i < rows.rows(); ++i) {
      const auto step = std::upper_bound(feature.cut.begin(), feature.cut.end(), rows(i, feature.index));
      out(i, at + (step - feature.cut.begin())) = 1;
    }
    at += static_cast<Index>(feature.cut.size()) + 1;
  }
  return out;
}

}  // namespace ppan
