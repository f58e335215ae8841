#include "ppan/audit/row_profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace ppan {
namespace {

constexpr std::size_t kLeastColumns = 3;
constexpr std::size_t kMostKinds = 4;      // of texts, and of numbers
constexpr std::size_t kMostColumns = 400;  // that are looked at
constexpr std::size_t kFrequent = 6;       // texts of a kind that are counted
constexpr double kCommon = 0.5;            // share of the cells whose texts the other column has too
constexpr double kSameSize = 2;            // ratio of the quarter ranges
constexpr Index kMostRows = 5000;          // that kinds are found by

std::string name_of(const AuditTable& table, const std::vector<std::size_t>& column) {
  return fmt::format("{} to {}", table.columns[column.front()].name, table.columns[column.back()].name);
}

using Texts = std::unordered_map<std::string_view, Index>;

// How many rows have each text.
Texts texts_of(const AuditColumn& column) {
  Texts out;
  for (std::size_t i = 0; i < static_cast<std::size_t>(std::min(column.rows(), kMostRows)); ++i) {
    if (!column.missing[i]) ++out[column.level[static_cast<std::size_t>(column.code[i])]];
  }
  return out;
}

double common_share(const Texts& of, const Texts& in) {
  double all = 0;
  double common = 0;
  for (const auto& [text, rows] : of) {
    all += static_cast<double>(rows);
    if (in.contains(text)) common += static_cast<double>(rows);
  }
  return all > 0 ? common / all : 0;
}

struct Size {
  double low = 0;
  double middle = 0;
  double high = 0;
};

Size size_of(const AuditColumn& column) {
  std::vector<double> sorted;
  for (Index i = 0; i < std::min(column.rows(), kMostRows); ++i) {
    if (!std::isnan(column.number[i])) sorted.push_back(column.number[i]);
  }
  if (sorted.empty()) return {};
  std::sort(sorted.begin(), sorted.end());
  return {sorted[sorted.size() / 4], sorted[sorted.size() / 2], sorted[sorted.size() * 3 / 4]};
}

bool same_size(const Size& a, const Size& b) {
  const double wide = a.high - a.low;
  const double other = b.high - b.low;
  if (!(wide > 0) || !(other > 0)) return false;
  return wide < kSameSize * other && other < kSameSize * wide &&
         std::abs(a.middle - b.middle) < std::min(wide, other);
}

}  // namespace

RowProfile::RowProfile(const AuditTable& released) {
  find_texts(released);
  find_numbers(released);
}

void RowProfile::find_texts(const AuditTable& released) {
  std::vector<Texts> first;  // of each kind
  for (std::size_t c = 0; c < std::min(kMostColumns, released.columns.size()); ++c) {
    if (!released.columns[c].has_text()) continue;
    Texts own = texts_of(released.columns[c]);
    if (own.size() < 2) continue;
    std::size_t k = 0;
    while (k < first.size() &&
           (common_share(own, first[k]) < kCommon || common_share(first[k], own) < kCommon))
      ++k;
    if (k == first.size()) {
      first.push_back(std::move(own));
      texts_.emplace_back();
    }
    texts_[k].column.push_back(c);
  }
  std::erase_if(texts_, [](const Kind& kind) { return kind.column.size() < kLeastColumns; });
  texts_.resize(std::min(texts_.size(), kMostKinds));
  for (Kind& kind : texts_) {
    kind.name = name_of(released, kind.column);
    Texts all;
    for (const std::size_t c : kind.column) {
      for (const auto& [text, rows] : texts_of(released.columns[c])) all[text] += rows;
    }
    std::vector<std::pair<Index, std::string>> order;
    for (const auto& [text, rows] : all) order.emplace_back(-rows, text);
    std::sort(order.begin(), order.end());
    for (std::size_t t = 0; t < std::min(kFrequent, order.size()); ++t)
      kind.frequent.push_back(std::move(order[t].second));
  }
}

void RowProfile::find_numbers(const AuditTable& released) {
  std::vector<Size> first;
  for (std::size_t c = 0; c < std::min(kMostColumns, released.columns.size()); ++c) {
    const AuditColumn& column = released.columns[c];
    if (!column.numeric() || column.form != NumberForm::kNumber) continue;
    const Size own = size_of(column);
    std::size_t k = 0;
    while (k < first.size() && !same_size(own, first[k])) ++k;
    if (k == first.size()) {
      first.push_back(own);
      numbers_.emplace_back();
    }
    numbers_[k].column.push_back(c);
  }
  std::erase_if(numbers_, [](const Kind& kind) { return kind.column.size() < kLeastColumns; });
  numbers_.resize(std::min(numbers_.size(), kMostKinds));
  for (Kind& kind : numbers_) kind.name = name_of(released, kind.column);
}

std::vector<RowTrace> RowProfile::traces(const AuditTable& released) const {
  std::vector<RowTrace> out;
  for (const Kind& kind : texts_) count_texts(released, kind, out);
  for (const Kind& kind : numbers_) compare_numbers(released, kind, out);
  return out;
}

// The most cells that are alike, how many different ones there are, neighbours that are alike; how many cells
// have each of the frequent texts, and whether that is odd.
void RowProfile::count_texts(const AuditTable& released, const Kind& kind, std::vector<RowTrace>& out) {
  std::unordered_map<std::string_view, std::int32_t> known;
  for (const std::string& text : kind.frequent) known.emplace(text, static_cast<std::int32_t>(known.size()));
  std::vector<Symbols> code;  // of each column, by text
  for (const std::size_t c : kind.column) {
    Symbols& own = code.emplace_back();
    for (const std::string& text : released.columns[c].level)
      own.push_back(known.try_emplace(text, static_cast<std::int32_t>(known.size())).first->second);
  }
  const std::size_t frequent = kind.frequent.size();
  const auto cells = static_cast<std::int32_t>(kind.column.size());
  const std::size_t first = out.size();
  for (std::size_t t = 0; t < 3 + 2 * frequent; ++t) {
    const bool odd = t >= 3 + frequent;
    out.push_back({kind.name, Vector<float>::Zero(released.rows()), odd ? 2 : cells + 1});
  }
  Symbols row;
  for (Index i = 0; i < released.rows(); ++i) {
    row.clear();
    std::int32_t neighbours = 0;
    std::int32_t before = -1;
    for (std::size_t k = 0; k < kind.column.size(); ++k) {
      const AuditColumn& column = released.columns[kind.column[k]];
      const auto at = static_cast<std::size_t>(i);
      const std::int32_t own =
          column.missing[at] || !column.has_text() ? -1 : code[k][static_cast<std::size_t>(column.code[at])];
      if (own >= 0) {
        row.push_back(own);
        if (own == before) ++neighbours;
        if (static_cast<std::size_t>(own) < frequent)
          out[first + 3 + static_cast<std::size_t>(own)].data[i] += 1;
      }
      before = own;
    }
    std::sort(row.begin(), row.end());
    float most = 0;
    float run = 0;
    float different = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      run = k > 0 && row[k] == row[k - 1] ? run + 1 : 1;
      most = std::max(most, run);
      if (run == 1) ++different;
    }
    out[first].data[i] = most;
    out[first + 1].data[i] = different;
    out[first + 2].data[i] = static_cast<float>(neighbours);
    for (std::size_t t = 0; t < frequent; ++t)
      out[first + 3 + frequent + t].data[i] = std::fmod(out[first + 3 + t].data[i], 2.0F);
  }
}

// Which is the largest and which the least, how often a number is greater than the one before it; the
// largest, the least, how far apart they are, and the standard deviation.
void RowProfile::compare_numbers(const AuditTable& released, const Kind& kind, std::vector<RowTrace>& out) {
  constexpr std::size_t kCounted = 3;
  constexpr std::size_t kAll = 7;
  const std::size_t first = out.size();
  for (std::size_t t = 0; t < kAll; ++t)
    out.push_back({kind.name, Vector<float>::Zero(released.rows()),
                   t < kCounted ? static_cast<std::int32_t>(kind.column.size()) + 1 : 0});
  for (Index i = 0; i < released.rows(); ++i) {
    double most = -std::numeric_limits<double>::infinity();
    double least = -most;
    double before = std::numeric_limits<double>::quiet_NaN();
    double sum = 0;
    double square = 0;
    double count = 0;
    for (std::size_t k = 0; k < kind.column.size(); ++k) {
      const double value = released.columns[kind.column[k]].number[i];
      if (std::isnan(value)) continue;
      if (value > most) out[first].data[i] = static_cast<float>(k + 1);
      if (value < least) out[first + 1].data[i] = static_cast<float>(k + 1);
      if (value > before) out[first + 2].data[i] += 1;
      most = std::max(most, value);
      least = std::min(least, value);
      before = value;
      sum += value;
      square += value * value;
      ++count;
    }
    if (count == 0) continue;
    const std::array<double, kAll - kCounted> value{
        most, least, most - least, std::sqrt(std::max(0.0, square / count - (sum / count) * (sum / count)))};
    for (std::size_t t = 0; t < value.size(); ++t)
      out[first + kCounted + t].data[i] = static_cast<float>(value[t]);
  }
}

}  // namespace ppan
