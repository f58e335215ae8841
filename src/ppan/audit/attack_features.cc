#include "ppan/audit/attack_features.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <numeric>

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
  return list.take();
}

// What was learned about a column from the released rows.
struct FeatureMap::Column {
  std::string name;
  bool numeric = false;
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
};

// Features before constant ones are dropped.
struct FeatureMap::Raw {
  Matrix<float> data;
  std::vector<FeatureSource> source;
  std::vector<bool> value;
  Index used = 0;

  Eigen::Ref<Vector<float>> add(const std::string& column, const char* aspect, bool is_value) {
    if (used == data.cols()) data.conservativeResize(Eigen::NoChange, std::max<Index>(16, 2 * used));
    source.push_back({column, aspect});
    value.push_back(is_value);
    data.col(used).setZero();
    return data.col(used++);
  }
};

FeatureMap::FeatureMap(const AuditTable& released, const FeatureOptions& options) : options_(options) {
  require_none(options.check(), "these options of the attackers' features cannot be used:");
  traces_ = static_cast<std::int32_t>(released.columns.size()) <= options.trace_columns;
  for (const AuditColumn& from : released.columns) {
    auto column = std::make_shared<Column>();
    column->name = from.name;
    column->numeric = from.numeric();
    if (from.numeric()) {
      for (Index i = 0; i < from.rows(); ++i) {
        if (!std::isnan(from.number[i])) column->sorted.push_back(from.number[i]);
      }
      std::sort(column->sorted.begin(), column->sorted.end());
      const auto count = static_cast<double>(std::max<std::size_t>(1, column->sorted.size()));
      double square = 0;
      for (const double v : column->sorted) column->mean += v / count;
      for (const double v : column->sorted) square += (v - column->mean) * (v - column->mean) / count;
      if (square > 0) column->scale = 1 / std::sqrt(square);
      column->used_bit = 52;
      column->integers = true;
      for (const double v : column->sorted) {
        if (mantissa(v) != 0) {
          column->used_bit = std::min(column->used_bit, static_cast<unsigned>(std::countr_zero(mantissa(v))));
        }
        column->integers = column->integers && v == std::floor(v) && std::abs(v) < 0x1p52;
      }
    }
    if (from.has_text()) {
      // Levels of the folded text, most frequent first; for numbers only the texts that are none.
      std::unordered_map<std::string, Index> count;
      const std::vector<TextForm> forms = forms_of(from);
      float present = 0;
      for (Index i = 0; i < from.rows(); ++i) {
        const auto row = static_cast<std::size_t>(i);
        const std::string& text = from.level[static_cast<std::size_t>(from.code[row])];
        if (from.missing[row]) {
          column->missing.try_emplace(text, static_cast<std::int32_t>(column->missing.size()));
        } else if (!from.numeric() || std::isnan(from.number[i])) {
          ++count[folded(text)];
        }
        if (!from.missing[row]) {
          ++present;
          const TextForm& form = forms[static_cast<std::size_t>(from.code[row])];
          for (std::size_t k = 0; k < form.value.size(); ++k) column->usual.value[k] += form.value[k];
        }
      }
      for (float& v : column->usual.value) v /= std::max(1.0F, present);
      if (column->missing.size() == 1)
        column->missing.clear();  // one marker says no more than "missing" does
      std::vector<std::pair<Index, std::string>> order;
      for (const auto& [text, rows] : count) order.emplace_back(-rows, text);
      std::sort(order.begin(), order.end());
      for (const auto& [rows, text] : order) {
        column->level[text] = std::min(column->levels, options.most_levels - 1);
        if (column->levels < options.most_levels) ++column->levels;
      }
    }
    columns_.push_back(std::move(column));
  }

  Raw raw;
  write(released, raw);
  for (Index f = 0; f < raw.used; ++f) {
    const auto column = raw.data.col(f).array();
    const double mean = column.cast<double>().mean();
    const double variance = (column.cast<double>() - mean).square().mean();
    if (variance < 1e-12 * (1 + mean * mean)) continue;
    if (raw.value[static_cast<std::size_t>(f)]) values_.push_back(width());
    kept_.push_back(f);
    source_.push_back(raw.source[static_cast<std::size_t>(f)]);
    mean_.conservativeResize(width());
    scale_.conservativeResize(width());
    mean_[width() - 1] = static_cast<float>(mean);
    scale_[width() - 1] = static_cast<float>(std::min(kMostScale, 1 / std::sqrt(variance)));
  }
  for (const std::uint64_t h : row_hashes(released))
    cell_.try_emplace(h, static_cast<std::int32_t>(cell_.size()));
}

void FeatureMap::write(const AuditTable& released, Raw& raw) const {
  const Index rows = released.rows();
  raw.data.resize(rows, 0);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = *columns_[c];
    const AuditColumn& from = released.columns[c];
    if (column.numeric) {
      auto value = raw.add(column.name, "value", true);
      for (Index i = 0; i < rows; ++i) {
        if (!std::isnan(from.number[i])) {
          value[i] = std::clamp(static_cast<float>((from.number[i] - column.mean) * column.scale),
                                -kMostDeviations, kMostDeviations);
        }
      }
      if (traces_) {
        auto rank = raw.add(column.name, "value", true);
        const auto total = static_cast<float>(column.sorted.size());
        for (Index i = 0; i < rows; ++i) {
          if (std::isnan(from.number[i])) {
            rank[i] = 0.5F;
            continue;
          }
          const auto low = std::lower_bound(column.sorted.begin(), column.sorted.end(), from.number[i]);
          const auto high = std::upper_bound(low, column.sorted.end(), from.number[i]);
          rank[i] = (static_cast<float>(low - column.sorted.begin()) +
                     static_cast<float>(high - column.sorted.begin())) /
                    (2 * total);
        }
        auto bit = raw.add(column.name, "low bits", false);
        for (Index i = 0; i < rows; ++i) {
          if (std::isnan(from.number[i])) continue;
          const bool odd = column.integers ? std::fmod(std::abs(from.number[i]), 2) == 1
                                           : ((mantissa(from.number[i]) >> column.used_bit) & 1U) != 0;
          bit[i] = odd ? 1.0F : 0.0F;
        }
        auto zero_sign = raw.add(column.name, "low bits", false);  // -0.0 equals 0.0, and tells
        for (Index i = 0; i < rows; ++i)
          zero_sign[i] = from.number[i] == 0 && std::signbit(from.number[i]) ? 1 : 0;
      }
    }
    if (column.levels > 0) {
      const Index first = raw.used;
      for (std::int32_t l = 0; l < column.levels; ++l) raw.add(column.name, "value", true);
      for (Index i = 0; i < rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        if (from.missing[row] || !from.has_text() || (column.numeric && !std::isnan(from.number[i])))
          continue;
        const auto found = column.level.find(folded(from.level[static_cast<std::size_t>(from.code[row])]));
        const std::int32_t l = found == column.level.end() ? column.levels - 1 : found->second;
        raw.data(i, first + l) = 1;
      }
    }
    auto missing = raw.add(column.name, "missing", false);
    for (Index i = 0; i < rows; ++i) missing[i] = from.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
    if (!traces_ || !from.has_text()) continue;

    const std::vector<TextForm> forms = forms_of(from);
    for (std::size_t k = 0; k < TextForm{}.value.size(); ++k) {
      auto form = raw.add(column.name, "format", false);
      for (Index i = 0; i < rows; ++i) {
        const auto row = static_cast<std::size_t>(i);
        form[i] = from.missing[row] ? column.usual.value[k]
                                    : forms[static_cast<std::size_t>(from.code[row])].value[k];
      }
    }
    const Index first = raw.used;
    for (std::size_t m = 0; m < column.missing.size(); ++m) raw.add(column.name, "format", false);
    for (Index i = 0; i < rows; ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (!from.missing[row]) continue;
      const auto found = column.missing.find(from.level[static_cast<std::size_t>(from.code[row])]);
      if (found != column.missing.end()) raw.data(i, first + found->second) = 1;
    }
  }
  if (options_.row_position) {
    auto place = raw.add("row", "position", false);
    for (Index i = 0; i < rows; ++i) place[i] = static_cast<float>(i) / static_cast<float>(rows);
    auto parity = raw.add("row", "position", false);
    for (Index i = 0; i < rows; ++i) parity[i] = static_cast<float>(i % 2);
  }
}

AttackFeatures FeatureMap::apply(const AuditTable& released) const {
  Raw raw;
  write(released, raw);
  AttackFeatures features;
  features.data.resize(released.rows(), width());
  for (Index f = 0; f < width(); ++f) {
    features.data.col(f).array() =
        (raw.data.col(kept_[static_cast<std::size_t>(f)]).array() - mean_[f]) * scale_[f];
  }
  for (const std::uint64_t h : row_hashes(released)) {
    const auto found = cell_.find(h);
    features.cell.push_back(found == cell_.end() ? -1 : found->second);
  }
  features.cells = static_cast<std::int32_t>(cell_.size());
  return features;
}

}  // namespace ppan
