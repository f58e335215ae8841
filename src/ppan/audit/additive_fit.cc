#include "ppan/audit/additive_fit.h"

#include <cmath>

namespace ppan {
namespace {

constexpr float kPriorRows = 2;     // that keep the contribution of a rare value small
constexpr float kLeastCell = 0.5F;  // added to what is expected: of rare cells chi-squared is too large

}  // namespace

AdditiveFit::AdditiveFit(const Symbols& x, std::int32_t levels) : x_(x), levels_(levels) {
  prior_.setConstant(levels, 0.5F);
  for (const std::int32_t level : x) prior_[level] += 1;
  prior_ /= prior_.sum();
  logit_ = prior_.array().log().matrix().replicate(1, static_cast<Index>(x.size()));
  normalise();
}

void AdditiveFit::normalise() {
  probability_.resizeLike(logit_);
  for (Index i = 0; i < logit_.cols(); ++i) {
    const float most = logit_.col(i).maxCoeff();
    probability_.col(i) = (logit_.col(i).array() - most).exp();
    probability_.col(i) /= probability_.col(i).sum();
  }
  residual_ = -probability_;
  for (std::size_t i = 0; i < x_.size(); ++i) residual_(x_[i], static_cast<Index>(i)) += 1;
}

void AdditiveFit::add(Symbols code, std::int32_t values) {
  columns_.push_back({std::move(code), values});
  scale(columns_.back());
}

void AdditiveFit::sweep() {
  for (const Column& column : columns_) scale(column);
}

void AdditiveFit::scale(const Column& column) {
  Matrix<float> seen = Matrix<float>::Zero(levels_, column.values);
  Matrix<float> expected = Matrix<float>::Zero(levels_, column.values);
  for (std::size_t i = 0; i < column.code.size(); ++i) {
    seen(x_[i], column.code[i]) += 1;
    expected.col(column.code[i]) += probability_.col(static_cast<Index>(i));
  }
  seen.colwise() += kPriorRows * prior_;
  expected.colwise() += kPriorRows * prior_;
  const Matrix<float> change = (seen.array() / expected.array()).log();
  for (std::size_t i = 0; i < column.code.size(); ++i)
    logit_.col(static_cast<Index>(i)) += change.col(column.code[i]);
  normalise();
}

double AdditiveFit::beyond(const Symbols& code, std::int32_t values) const {
  Matrix<float> off = Matrix<float>::Zero(levels_, values);
  Matrix<float> expected = Matrix<float>::Zero(levels_, values);
  std::vector<bool> seen(static_cast<std::size_t>(values), false);
  for (std::size_t i = 0; i < code.size(); ++i) {
    const auto row = static_cast<Index>(i);
    off.col(code[i]) += residual_.col(row);
    expected.col(code[i]) += probability_.col(row);
    seen[static_cast<std::size_t>(code[i])] = true;
  }
  double different = 0;
  for (const bool one : seen) different += one ? 1 : 0;
  const double degrees = (different - 1) * (levels_ - 1);
  if (degrees < 1) return 0;
  const auto chi_squared =
      static_cast<double>((off.array().square() / (expected.array() + kLeastCell)).sum());
  const double spread = 2 / (9 * degrees);
  return (std::cbrt(chi_squared / degrees) - (1 - spread)) / std::sqrt(spread);
}

}  // namespace ppan
