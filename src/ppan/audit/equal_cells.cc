// Whether two columns have the same in a row.

#include <algorithm>
#include <string_view>
#include <unordered_map>

#include "ppan/audit/feature_column.h"

namespace ppan {
namespace {

// Columns of fewer values are alike by chance, and small enough for pairs of them to be counted.
constexpr std::size_t kAlikeTexts = 13;
constexpr Index kLeastAlike = 20;     // rows in which two columns are, and are not, the same
constexpr Index kAlikeRows = 20'000;  // that are looked at for it

// 1 in the rows that have the same in both columns.
Vector<float> alike(const AuditColumn& a, const AuditColumn& b, Index rows) {
  Vector<float> same = Vector<float>::Zero(rows);
  if (a.numeric() && b.numeric()) {
    for (Index i = 0; i < rows; ++i) same[i] = a.number[i] == b.number[i] ? 1.0F : 0.0F;
    return same;
  }
  if (!a.has_text() || !b.has_text()) return same;
  std::unordered_map<std::string_view, std::int32_t> known;
  for (std::size_t l = 0; l < a.level.size(); ++l)
    known.try_emplace(a.level[l], static_cast<std::int32_t>(l));
  std::vector<std::int32_t> translated;
  for (const std::string& level : b.level) {
    const auto at = known.find(level);
    translated.push_back(at == known.end() ? -1 : at->second);
  }
  for (Index i = 0; i < rows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    same[i] =
        !a.missing[row] && a.code[row] == translated[static_cast<std::size_t>(b.code[row])] ? 1.0F : 0.0F;
  }
  return same;
}

}  // namespace

void FeatureMap::learn_alike(const AuditTable& released) {
  const Index rows = std::min(released.rows(), kAlikeRows);
  for (std::size_t a = 0; a < columns_.size(); ++a) {
    if (columns_[a]->text.size() < kAlikeTexts) continue;
    for (std::size_t b = a + 1; b < columns_.size(); ++b) {
      if (columns_[b]->text.size() < kAlikeTexts || columns_[a]->numeric != columns_[b]->numeric) continue;
      const Vector<float> same = alike(released.columns[a], released.columns[b], rows);
      const auto count = static_cast<Index>(same.sum());
      if (count >= kLeastAlike && count <= rows - kLeastAlike) alike_.emplace_back(a, b);
    }
  }
}

void FeatureMap::write_alike(const AuditTable& released, const TakeFeature& take) const {
  for (const auto& [a, b] : alike_) {
    Raw raw{released.rows()};
    raw.add(columns_[a]->name + " and " + columns_[b]->name, "equality", false) =
        alike(released.columns[a], released.columns[b], released.rows());
    take(raw.features.front());
  }
}

}  // namespace ppan
