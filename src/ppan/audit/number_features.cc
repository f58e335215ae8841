// Features of numbers: value and rank, how they are written, and what time or day they stand for.

#include <algorithm>
#include <bit>
#include <cmath>

#include "ppan/audit/digit_form.h"
#include "ppan/audit/feature_column.h"

namespace ppan {
namespace {

constexpr float kMostDeviations = 8;  // beyond it a value says no more than its rank does
constexpr double kFarOut = 100;       // standard deviation in widths of the middle eight tenths

std::uint64_t mantissa(double value) {
  return std::bit_cast<std::uint64_t>(value) & ((1ULL << 52U) - 1U);
}

}  // namespace

void FeatureMap::learn_number(const AuditColumn& from, Column& column) const {
  for (Index i = 0; i < from.rows(); ++i) {
    if (!std::isnan(from.number[i])) column.sorted.push_back(from.number[i]);
  }
  std::sort(column.sorted.begin(), column.sorted.end());
  const auto count = static_cast<double>(std::max<std::size_t>(1, column.sorted.size()));
  double square = 0;
  for (const double v : column.sorted) column.mean += v / count;
  for (const double v : column.sorted) square += (v - column.mean) * (v - column.mean) / count;
  if (square > 0) column.scale = 1 / std::sqrt(square);
  // One cell of 1e300 would leave nothing of all others.
  const auto quantile = [&](std::size_t tenths) { return column.sorted[column.sorted.size() * tenths / 10]; };
  if (!column.sorted.empty() && std::sqrt(square) > kFarOut * (quantile(9) - quantile(1)) &&
      quantile(9) > quantile(1)) {
    column.mean = quantile(5);
    column.scale = 1 / (quantile(9) - quantile(1));
  }
  column.used_bit = 52;
  column.integers = true;
  for (const double v : column.sorted) {
    if (mantissa(v) != 0) {
      column.used_bit = std::min(column.used_bit, static_cast<unsigned>(std::countr_zero(mantissa(v))));
    }
    column.integers = column.integers && v == std::floor(v) && std::abs(v) < 0x1p52;
  }
}

void FeatureMap::write_number(const Column& column, const AuditColumn& from, Raw& raw) const {
  const Index rows = from.rows();
  auto& value = raw.add(column.name, "value", true);
  for (Index i = 0; i < rows; ++i) {
    if (!std::isnan(from.number[i])) {
      value[i] = std::clamp(static_cast<float>((from.number[i] - column.mean) * column.scale),
                            -kMostDeviations, kMostDeviations);
    }
  }
  if (!column.traced) return;
  auto& rank = raw.add(column.name, "value", true);
  const auto total = static_cast<float>(column.sorted.size());
  for (Index i = 0; i < rows; ++i) {
    if (std::isnan(from.number[i])) {
      rank[i] = 0.5F;
      continue;
    }
    const auto low = std::lower_bound(column.sorted.begin(), column.sorted.end(), from.number[i]);
    const auto high = std::upper_bound(low, column.sorted.end(), from.number[i]);
    rank[i] =
        (static_cast<float>(low - column.sorted.begin()) + static_cast<float>(high - column.sorted.begin())) /
        (2 * total);
  }
  auto& bit = raw.add(column.name, "low bits", false);
  for (Index i = 0; i < rows; ++i) {
    if (std::isnan(from.number[i])) continue;
    const bool odd = column.integers ? std::fmod(std::abs(from.number[i]), 2) == 1
                                     : ((mantissa(from.number[i]) >> column.used_bit) & 1U) != 0;
    bit[i] = odd ? 1.0F : 0.0F;
  }
  auto& zero_sign = raw.add(column.name, "low bits", false);  // -0.0 equals 0.0, and tells
  for (Index i = 0; i < rows; ++i) zero_sign[i] = from.number[i] == 0 && std::signbit(from.number[i]) ? 1 : 0;
}

void FeatureMap::write_digits(const Column& column, const Written& written, Raw& raw) const {
  const auto rows = written.code.size();
  if (column.numeric) {
    std::vector<DigitForm> forms;
    for (const std::string& text : written.text) forms.push_back(digit_form(text, column.decimals));
    for (std::size_t k = 0; k < DigitForm::kFeatures; ++k) {
      auto& digit = raw.add(column.name, "digits", false);
      for (std::size_t i = 0; i < rows; ++i)
        digit[static_cast<Index>(i)] = forms[static_cast<std::size_t>(written.code[i])].feature[k];
    }
  }
  // Rows beside this one with exactly the same text, among the released ones.
  std::vector<std::int32_t> known;
  for (const std::string& text : written.text) {
    const auto at = column.text.find(text);
    known.push_back(at == column.text.end() ? -1 : at->second);
  }
  auto& others = raw.add(column.name, "repeats", false);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int32_t text = known[static_cast<std::size_t>(written.code[i])];
    const Index count =
        text < 0 ? 0
                 : column.text_rows[static_cast<std::size_t>(text)] - (column.row_text[i] == text ? 1 : 0);
    others[static_cast<Index>(i)] = std::log1p(static_cast<float>(count));
  }
}

void FeatureMap::write_calendar(const Column& column, const AuditColumn& from, Raw& raw) {
  const std::size_t first = raw.used();
  for (std::size_t k = 0; k < CalendarForm::kCount; ++k) raw.add(column.name, "calendar", false);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto form = calendar_form(from.number[i], column.form);
    for (std::size_t k = 0; form && k < CalendarForm::kCount; ++k)
      raw.features[first + k].data[i] = static_cast<float>(form->value[k]);
  }
}

}  // namespace ppan
