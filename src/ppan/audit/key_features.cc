// What attackers count by: digits, days and hours, exact values, parts of texts.

#include <algorithm>
#include <array>
#include <cmath>

#include "ppan/audit/digit_form.h"
#include "ppan/audit/feature_column.h"
#include "ppan/audit/text_parts.h"

namespace ppan {

void FeatureMap::learn_writing(const AuditColumn& from, Column& column) {
  const Written written(from);
  column.text_rows.assign(written.text.size(), 0);
  for (std::size_t t = 0; t < written.text.size(); ++t) {
    column.text.emplace(written.text[t], static_cast<std::int32_t>(t));
    if (column.numeric) column.decimals = std::max(column.decimals, written_decimals(written.text[t]));
  }
  for (const std::int32_t code : written.code) {
    // A text may stand twice among the levels that a column was given.
    column.row_text.push_back(column.text.at(written.text[static_cast<std::size_t>(code)]));
    ++column.text_rows[static_cast<std::size_t>(column.row_text.back())];
  }
  column.first_key = static_cast<Index>(key_values_.size());
  for (const std::size_t values : {10, 100, 1000, 100, 1000}) {
    if (column.numeric) add_key(values, column.name, "digits");
  }
  for (const std::int32_t values : CalendarForm::kValues) {
    if (column.form != NumberForm::kNumber)
      add_key(static_cast<std::size_t>(values), column.name, "calendar");
  }
  // A value that nearly every row has for itself is nothing to count by.
  column.exact_key = static_cast<Index>(written.text.size()) <= from.rows() / 2;
  if (column.exact_key) add_key(written.text.size(), column.name, "value");
  if (!column.numeric) learn_parts(written, from.rows(), column);
  // Of more decimals than these a number was not written by anybody.
  constexpr int kWrittenDecimals = 6;
  if (column.numeric)
    numbers_.push_back(
        {column.name, column.decimals <= kWrittenDecimals ? std::pow(10.0, column.decimals) : 0.0});
  learn_coarse(from, column);
  if (!column.numeric) learn_words(written, column);
  if (!column.exact_key && (!column.numeric || column.decimals == 0) && column.form == NumberForm::kNumber)
    learn_characters(written, from.rows(), column);
}

void FeatureMap::add_key(std::size_t values, const std::string& column, const char* aspect) {
  key_values_.push_back(static_cast<std::int32_t>(values));
  key_source_.push_back({column, aspect});
}

void FeatureMap::write_keys(const Column& column, const AuditColumn& from, KeyMatrix& keys) const {
  const Written written(from);
  const auto rows = static_cast<Index>(written.code.size());
  Index key = column.first_key;
  const auto add = [&](const std::vector<std::int32_t>& value) {
    for (Index i = 0; i < rows; ++i)
      keys(i, key) = value[static_cast<std::size_t>(written.code[static_cast<std::size_t>(i)])];
    ++key;
  };
  if (column.numeric) {
    std::array<std::vector<std::int32_t>, 5> value;
    for (const std::string& text : written.text) {
      const DigitForm form = digit_form(text, column.decimals);
      value[0].push_back(form.last1);
      value[1].push_back(form.last2);
      value[2].push_back(form.last3);
      value[3].push_back(form.first2);
      value[4].push_back(form.first3);
    }
    for (const auto& values : value) add(values);
  }
  if (column.form != NumberForm::kNumber) {
    for (Index i = 0; i < rows; ++i) {
      const auto form = calendar_form(from.number[i], column.form);
      for (std::size_t k = 0; k < CalendarForm::kCount; ++k)
        keys(i, key + static_cast<Index>(k)) = form ? form->value[k] : -1;
    }
    key += static_cast<Index>(CalendarForm::kCount);
  }
  if (column.exact_key) {
    std::vector<std::int32_t> value;
    for (const std::string& text : written.text) {
      const auto at = column.text.find(text);
      value.push_back(at == column.text.end() ? -1 : at->second);
    }
    add(value);
  }
  if (column.parts.empty()) return;
  std::vector<std::vector<std::int32_t>> value(column.parts.size());
  for (const std::string& text : written.text) {
    const TextParts own = text_parts(text);
    for (std::size_t p = 0; p < value.size(); ++p) {
      const auto at = column.parts[p].value.find(own.part[column.parts[p].which]);
      value[p].push_back(at == column.parts[p].value.end() ? -1 : at->second);
    }
  }
  for (const auto& values : value) add(values);
}

}  // namespace ppan
