// Columns as codes of few values, which are counted by together (key_tuples.h).

#include <algorithm>
#include <cmath>

#include "ppan/audit/digit_form.h"
#include "ppan/audit/feature_column.h"

namespace ppan {
namespace {

constexpr std::size_t kCoarseBins = 4;
constexpr std::int32_t kCoarseLevels = 8;

}  // namespace

void FeatureMap::learn_coarse(const AuditColumn& from, Column& column) {
  column.first_coarse = static_cast<Index>(coarse_values_.size());
  if (!column.numeric) {
    // Missing, and all but the most frequent levels.
    add_coarse(static_cast<std::size_t>(std::min(column.levels, kCoarseLevels)) + 2, column.name);
    return;
  }
  std::vector<double> different = column.sorted;
  different.erase(std::unique(different.begin(), different.end()), different.end());
  const bool few = different.size() <= kCoarseBins + 2;
  const std::vector<double>& cut = few ? different : column.sorted;
  const std::size_t bins = few ? different.size() : kCoarseBins;
  for (std::size_t b = 1; b < bins; ++b) {
    const double edge = cut[cut.size() * b / bins];
    if (column.coarse_edge.empty() || edge > column.coarse_edge.back()) column.coarse_edge.push_back(edge);
  }
  add_coarse(column.coarse_edge.size() + 2, column.name);
  column.coarse_digit = column.traced && !few && from.rows() > 0;
  if (column.coarse_digit) add_coarse(3, column.name);
}

void FeatureMap::write_coarse(const Column& column, const AuditColumn& from, KeyMatrix& coarse) {
  const Index rows = from.rows();
  if (!column.numeric) {
    std::vector<std::int32_t> code;
    for (const std::string& text : from.level) {
      const auto at = column.level.find(folded(text));
      code.push_back(at == column.level.end() ? kCoarseLevels : std::min(at->second, kCoarseLevels));
    }
    const std::int32_t most = std::min(column.levels, kCoarseLevels);
    for (Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      coarse(i, column.first_coarse) =
          from.missing[row] ? 0 : 1 + std::min(most, code[static_cast<std::size_t>(from.code[row])]);
    }
    for_each_word(column, from, [&](std::size_t word, const auto& has) {
      if (word >= column.paired_words) return;
      for (Index i = 0; i < rows; ++i)
        coarse(i, column.first_word_code + static_cast<Index>(word)) = has(i) ? 1 : 0;
    });
    return;
  }
  const std::vector<std::int32_t> digit = column.coarse_digit ? coarse_digits(column, from) : Symbols{};
  const std::vector<double>& edge = column.coarse_edge;
  for (Index i = 0; i < rows; ++i) {
    const double value = from.number[i];
    coarse(i, column.first_coarse) =
        std::isnan(value)
            ? 0
            : 1 + static_cast<std::int32_t>(std::upper_bound(edge.begin(), edge.end(), value) - edge.begin());
    if (column.coarse_digit) coarse(i, column.first_coarse + 1) = digit[static_cast<std::size_t>(i)];
  }
}

// Of each row: whether its last digit is 0, odd or even.
Symbols FeatureMap::coarse_digits(const Column& column, const AuditColumn& from) {
  const Written written(from);
  Symbols of_text;
  for (const std::string& text : written.text) {
    const std::int32_t last = digit_form(text, column.decimals).last1;
    of_text.push_back(last == 0 ? 0 : 1 + last % 2);
  }
  Symbols digit;
  digit.reserve(written.code.size());
  for (const std::int32_t code : written.code) digit.push_back(of_text[static_cast<std::size_t>(code)]);
  return digit;
}

void FeatureMap::add_coarse(std::size_t values, const std::string& column, bool in_threes) {
  coarse_in_threes_.push_back(in_threes);
  coarse_values_.push_back(static_cast<std::int32_t>(values));
  coarse_column_.push_back(column);
}

}  // namespace ppan
