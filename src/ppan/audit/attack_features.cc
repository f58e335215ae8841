#include "ppan/audit/attack_features.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <deque>
#include <numeric>

#include "ppan/audit/digit_form.h"

namespace ppan {
namespace {

constexpr float kMostDeviations = 8;  // beyond it a value says no more than its rank does
// A feature that is set in few rows would otherwise stand far from all others and swamp every distance.
constexpr double kMostScale = 4;

std::string folded(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front()))) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back()))) text.remove_suffix(1);
  std::string low(text);
  for (char& c : low) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return low;
}

// How a text is written, as numbers. The same for every text column; constant ones are dropped later.
struct TextForm {
  // Capitals, capital first, length, space at the ends, digits, decimals, sign or exponent, parity of last
  // digit.
  std::array<float, 8> value{};
};

TextForm form_of(const std::string& text) {
  float upper = 0;
  float digits = 0;
  float last = 0;
  for (const char c : text) {
    const auto u = static_cast<unsigned char>(c);
    if (std::isupper(u)) upper += 1;
    if (std::isdigit(u)) {
      digits += 1;
      last = static_cast<float>((c - '0') % 2);
    }
  }
  const auto edge_space = [&](char c) { return std::isspace(static_cast<unsigned char>(c)) ? 1.0F : 0.0F; };
  const std::size_t mark = text.find_first_of(".,");
  TextForm form;
  form.value = {upper,
                !text.empty() && std::isupper(static_cast<unsigned char>(text.front())) ? 1.0F : 0.0F,
                static_cast<float>(text.size()),
                text.empty() ? 0.0F : edge_space(text.front()) + 2 * edge_space(text.back()),
                digits,
                mark == std::string::npos ? 0.0F : static_cast<float>(text.size() - mark),
                text.find_first_of("+eE") == std::string::npos ? 0.0F : 1.0F,
                last};
  return form;
}

std::vector<TextForm> forms_of(const AuditColumn& column) {
  std::vector<TextForm> forms;
  for (const std::string& text : column.level) forms.push_back(form_of(text));
  return forms;
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  hash *= 0xFF51AFD7ED558CCDULL;
  return hash ^ (hash >> 33U);
}

// One hash per row of everything released in it. 64 bits: two of a million rows collide once in 40 million
// tables.
std::vector<std::uint64_t> row_hashes(const AuditTable& table) {
  std::vector<std::uint64_t> hash(static_cast<std::size_t>(table.rows()), 0);
  for (const AuditColumn& column : table.columns) {
    std::vector<std::uint64_t> text;
    for (const std::string& level : column.level) text.push_back(std::hash<std::string>{}(level));
    for (std::size_t i = 0; i < hash.size(); ++i) {
      hash[i] = mix(hash[i], column.has_text()
                                 ? text[static_cast<std::size_t>(column.code[i])]
                                 : std::bit_cast<std::uint64_t>(column.number[static_cast<Index>(i)]));
    }
  }
  return hash;
}

std::uint64_t mantissa(double value) {
  return std::bit_cast<std::uint64_t>(value) & ((1ULL << 52U) - 1U);
}

}  // namespace

Problems FeatureOptions::check() const {
  ProblemList list;
  list.require_between("most_levels", most_levels, 2, 1000);
  list.require_at_least("trace_columns", trace_columns, 0);
  list.require_at_least("screened_columns", screened_columns, 0);
  return list.take();
}

// What was learned about a column from the released rows.
struct FeatureMap::Column {
  std::string name;
  bool numeric = false;
  bool traced = false;  // digits and the like are given, not the value alone
  double mean = 0;
  double scale = 1;
  std::vector<double> sorted;  // for ranks
  unsigned used_bit = 0;       // lowest bit of the mantissa that any value uses
  bool integers = false;
  std::unordered_map<std::string, std::int32_t> level;    // folded text to its feature
  std::int32_t levels = 0;                                // features of the level; the last: all others
  std::unordered_map<std::string, std::int32_t> missing;  // exact marker to its feature
  TextForm
      usual;  // mean form of the cells that are there: a missing cell shows as missing, not as oddly written
  // Exact texts, how many rows have each, and which one each row has.
  std::unordered_map<std::string, std::int32_t> text;
  std::vector<Index> text_rows;
  Symbols row_text;
  int decimals = 0;        // most that a number is written with
  Index first_key = 0;     // of its keys among all
  bool exact_key = false;  // its exact texts are a key
};

// The exact texts of a column; numbers that never were text are written out in full.
struct FeatureMap::Written {
  std::vector<std::string> text;
  Symbols code;

  explicit Written(const AuditColumn& column) {
    if (column.has_text()) {
      text = column.level;
      code = column.code;
      return;
    }
    std::unordered_map<std::uint64_t, std::int32_t> known;
    for (Index i = 0; i < column.rows(); ++i) {
      const auto [at, added] = known.try_emplace(std::bit_cast<std::uint64_t>(column.number[i]),
                                                 static_cast<std::int32_t>(text.size()));
      if (added) text.push_back(fmt::format("{}", column.number[i]));
      code.push_back(at->second);
    }
  }
};

// One feature before constant ones are dropped.
struct FeatureMap::RawFeature {
  Vector<float> data;
  FeatureSource source;
  bool value = false;
};

// Those of one column: all columns at once would take several times what is kept of them.
struct FeatureMap::Raw {
  Index rows = 0;
  std::deque<RawFeature> features{};  // of which references stay valid while others are added

  Vector<float>& add(const std::string& column, const char* aspect, bool is_value) {
    features.push_back({Vector<float>::Zero(rows), {column, aspect}, is_value});
    return features.back().data;
  }
  [[nodiscard]] std::size_t used() const { return features.size(); }
};

FeatureMap::FeatureMap(const AuditTable& released, const FeatureOptions& options, Index trained_rows,
                       const std::vector<bool>& traced)
    : options_(options), trained_rows_(trained_rows) {
  require_none(options.check(), "these options of the attackers' features cannot be used:");
  const bool all = static_cast<std::int32_t>(released.columns.size()) <= options.trace_columns;
  for (std::size_t c = 0; c < released.columns.size(); ++c) {
    const AuditColumn& from = released.columns[c];
    auto column = std::make_shared<Column>();
    column->name = from.name;
    column->numeric = from.numeric();
    column->traced = traced.empty() ? all : traced[c];
    if (from.numeric()) learn_number(from, *column);
    if (from.has_text()) learn_text(from, *column);
    if (column->traced) learn_writing(from, *column);
    columns_.push_back(std::move(column));
  }

  Index at = 0;
  write(released, [&](const RawFeature& raw) {
    const Index position = at++;
    const auto column = raw.data.array();
    const double mean = column.cast<double>().mean();
    const double variance = (column.cast<double>() - mean).square().mean();
    if (variance < 1e-12 * (1 + mean * mean)) return;
    if (raw.value) values_.push_back(width());
    kept_.push_back(position);
    source_.push_back(raw.source);
    mean_.push_back(static_cast<float>(mean));
    scale_.push_back(static_cast<float>(std::min(kMostScale, 1 / std::sqrt(variance))));
  });
  for (const std::uint64_t h : row_hashes(released))
    cell_.try_emplace(h, static_cast<std::int32_t>(cell_.size()));
}

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
  column.used_bit = 52;
  column.integers = true;
  for (const double v : column.sorted) {
    if (mantissa(v) != 0) {
      column.used_bit = std::min(column.used_bit, static_cast<unsigned>(std::countr_zero(mantissa(v))));
    }
    column.integers = column.integers && v == std::floor(v) && std::abs(v) < 0x1p52;
  }
  if (!column.traced) std::vector<double>().swap(column.sorted);
}

void FeatureMap::learn_text(const AuditColumn& from, Column& column) const {
  // Levels of the folded text, most frequent first; for numbers only the texts that are none.
  std::unordered_map<std::string, Index> count;
  const std::vector<TextForm> forms = forms_of(from);
  float present = 0;
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const std::string& text = from.level[static_cast<std::size_t>(from.code[row])];
    if (from.missing[row]) {
      column.missing.try_emplace(text, static_cast<std::int32_t>(column.missing.size()));
    } else if (!from.numeric() || std::isnan(from.number[i])) {
      ++count[folded(text)];
    }
    if (!from.missing[row]) {
      ++present;
      const TextForm& form = forms[static_cast<std::size_t>(from.code[row])];
      for (std::size_t k = 0; k < form.value.size(); ++k) column.usual.value[k] += form.value[k];
    }
  }
  for (float& v : column.usual.value) v /= std::max(1.0F, present);
  if (column.missing.size() == 1) column.missing.clear();  // one marker says no more than "missing" does
  std::vector<std::pair<Index, std::string>> order;
  for (const auto& [text, rows] : count) order.emplace_back(-rows, text);
  std::sort(order.begin(), order.end());
  for (const auto& [rows, text] : order) {
    column.level[text] = std::min(column.levels, options_.most_levels - 1);
    if (column.levels < options_.most_levels) ++column.levels;
  }
}

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
  if (column.numeric) key_values_.insert(key_values_.end(), {10, 100, 1000, 100});
  // A value that nearly every row has for itself is nothing to count by.
  column.exact_key = static_cast<Index>(written.text.size()) <= from.rows() / 2;
  if (column.exact_key) key_values_.push_back(static_cast<std::int32_t>(written.text.size()));
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

void FeatureMap::write_levels(const Column& column, const AuditColumn& from, Raw& raw) const {
  const std::size_t first = raw.used();
  for (std::int32_t l = 0; l < column.levels; ++l) raw.add(column.name, "value", true);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (from.missing[row] || !from.has_text() || (column.numeric && !std::isnan(from.number[i]))) continue;
    const auto found = column.level.find(folded(from.level[static_cast<std::size_t>(from.code[row])]));
    const std::int32_t l = found == column.level.end() ? column.levels - 1 : found->second;
    raw.features[first + static_cast<std::size_t>(l)].data[i] = 1;
  }
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

void FeatureMap::write_format(const Column& column, const AuditColumn& from, Raw& raw) const {
  const std::vector<TextForm> forms = forms_of(from);
  for (std::size_t k = 0; k < TextForm{}.value.size(); ++k) {
    auto& form = raw.add(column.name, "format", false);
    for (Index i = 0; i < from.rows(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      form[i] = from.missing[row] ? column.usual.value[k]
                                  : forms[static_cast<std::size_t>(from.code[row])].value[k];
    }
  }
  const std::size_t first = raw.used();
  for (std::size_t m = 0; m < column.missing.size(); ++m) raw.add(column.name, "format", false);
  for (Index i = 0; i < from.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (!from.missing[row]) continue;
    const auto found = column.missing.find(from.level[static_cast<std::size_t>(from.code[row])]);
    if (found != column.missing.end())
      raw.features[first + static_cast<std::size_t>(found->second)].data[i] = 1;
  }
}

void FeatureMap::write(const AuditTable& released, const TakeFeature& take) const {
  const Index rows = released.rows();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    const AuditColumn& from = released.columns[c];
    Raw raw{rows};
    if (column.numeric) write_number(column, from, raw);
    if (column.levels > 0) write_levels(column, from, raw);
    auto& missing = raw.add(column.name, "missing", false);
    for (Index i = 0; i < rows; ++i) missing[i] = from.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
    if (column.traced) {
      write_digits(column, Written(from), raw);
      if (from.has_text()) write_format(column, from, raw);
    }
    for (const RawFeature& feature : raw.features) take(feature);
  }
  if (options_.row_position) {
    // Rows that trained the mechanism are not part of the file: the middle, which says nothing.
    const Index placed = rows - trained_rows_;
    Raw raw{rows};
    auto& place = raw.add("row", "position", false);
    for (Index i = 0; i < rows; ++i)
      place[i] = i < placed ? static_cast<float>(i) / static_cast<float>(placed) : 0.5F;
    auto& parity = raw.add("row", "position", false);
    for (Index i = 0; i < rows; ++i) parity[i] = i < placed ? static_cast<float>(i % 2) : 0.5F;
    for (const RawFeature& feature : raw.features) take(feature);
  }
}

void FeatureMap::write_keys(const Column& column, const Written& written, KeyMatrix& keys) const {
  const auto rows = static_cast<Index>(written.code.size());
  Index key = column.first_key;
  const auto add = [&](const std::vector<std::int32_t>& value) {
    for (Index i = 0; i < rows; ++i)
      keys(i, key) = value[static_cast<std::size_t>(written.code[static_cast<std::size_t>(i)])];
    ++key;
  };
  if (column.numeric) {
    std::array<std::vector<std::int32_t>, 4> value;
    for (const std::string& text : written.text) {
      const DigitForm form = digit_form(text, column.decimals);
      value[0].push_back(form.last1);
      value[1].push_back(form.last2);
      value[2].push_back(form.last3);
      value[3].push_back(form.first2);
    }
    for (const auto& values : value) add(values);
  }
  if (!column.exact_key) return;
  std::vector<std::int32_t> value;
  for (const std::string& text : written.text) {
    const auto at = column.text.find(text);
    value.push_back(at == column.text.end() ? -1 : at->second);
  }
  add(value);
}

AttackFeatures FeatureMap::apply(const AuditTable& released) const {
  AttackFeatures features;
  features.data.resize(released.rows(), width());
  Index at = 0;
  std::size_t next = 0;
  write(released, [&](const RawFeature& raw) {
    const Index position = at++;
    if (next == kept_.size() || kept_[next] != position) return;
    features.data.col(static_cast<Index>(next)).array() = (raw.data.array() - mean_[next]) * scale_[next];
    ++next;
  });
  features.keys.resize(released.rows(), static_cast<Index>(key_values_.size()));
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (columns_[c]->traced) write_keys(*columns_[c], Written(released.columns[c]), features.keys);
  }
  for (const std::uint64_t h : row_hashes(released)) {
    const auto found = cell_.find(h);
    features.cell.push_back(found == cell_.end() ? -1 : found->second);
  }
  features.cells = static_cast<std::int32_t>(cell_.size());
  return features;
}

}  // namespace ppan
