// Features of the row as a whole: what is missing, where it stands in the file and beside which rows.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ppan/audit/feature_column.h"
#include "ppan/audit/file_neighbours.h"
#include "ppan/audit/row_hash.h"

namespace ppan {
namespace {

constexpr std::size_t kMostNeighbourCodes = 24;  // coarse codes of the row before and after, as keys
// Rows of a file that stand together, as keys: sorted files often hold one class after the other.
constexpr std::array<Index, 4> kBlockRows{4, 16, 64, 256};
// Places in turns of so many rows, as keys: files that were put together by turns.
constexpr std::array<Index, 9> kTurns{3, 4, 5, 6, 7, 8, 9, 10, 12};

}  // namespace

// Keys of the row as a whole: where it stands, and what stands beside it.
void FeatureMap::learn_row_keys(Index rows) {
  const auto patterns =
      std::count_if(trace_values_.begin(), trace_values_.end(), [](auto v) { return v > 0; });
  first_row_key_ = static_cast<Index>(key_values_.size()) - static_cast<Index>(patterns);
  if (!options_.row_position) return;
  numbers_.push_back({"row", 1.0, true});
  for (const Index block : kBlockRows) add_key(static_cast<std::size_t>(rows / block + 1), "row", "position");
  for (const Index turn : kTurns) add_key(static_cast<std::size_t>(turn), "row", "position");
  for (std::size_t c = 0; c < coarse_values_.size() && neighbour_code_.size() < kMostNeighbourCodes; ++c) {
    if (!coarse_in_threes_[c]) continue;
    neighbour_code_.push_back(static_cast<Index>(c));
    for (int side = 0; side < 2; ++side)
      add_key(static_cast<std::size_t>(coarse_values_[c]), coarse_column_[c], "neighbours");
  }
}

// What is true of a row as a whole: how many of its cells are missing, and how many rows are exactly the
// same.
void FeatureMap::write_row(const AuditTable& released, const TakeFeature& take) const {
  Raw raw{released.rows()};
  auto& missing = raw.add("row", "missing", false);
  auto& odd = raw.add("row", "missing", false);
  auto& others = raw.add("row", "repeats", false);
  for (const AuditColumn& column : released.columns) {
    for (Index i = 0; i < released.rows(); ++i)
      missing[i] += column.missing[static_cast<std::size_t>(i)] ? 1.0F : 0.0F;
  }
  for (Index i = 0; i < released.rows(); ++i) odd[i] = std::fmod(missing[i], 2.0F);
  const std::vector<std::uint64_t> hash = row_hashes(released);
  for (std::size_t i = 0; i < hash.size(); ++i) {
    const auto at = cell_.find(hash[i]);
    if (at == cell_.end()) continue;
    const Index count =
        cell_rows_[static_cast<std::size_t>(at->second)] - (row_cell_[i] == at->second ? 1 : 0);
    others[static_cast<Index>(i)] = std::log1p(static_cast<float>(count));
  }
  for (const RawFeature& feature : raw.features) take(feature);
}

void FeatureMap::write_neighbours(const AuditTable& released, const TakeFeature& take) const {
  std::vector<std::size_t> looked;
  for (std::size_t c = 0; c < columns_.size() && looked.size() < kMostBefore; ++c) {
    if (columns_[c]->traced) looked.push_back(c);
  }
  file_neighbours(released, looked, released.rows() - trained_rows_,
                  [&](const std::string& column, Vector<float> data) {
                    take({std::move(data), {column, "neighbours"}, false});
                  });
}

// Where in the file a row stands, and which of its cells are those of the row before it.
void FeatureMap::write_place(const AuditTable& released, const TakeFeature& take) const {
  const Index rows = released.rows();
  // Rows that trained the mechanism are not part of the file: the middle, which says nothing.
  const Index placed = rows - trained_rows_;
  Raw raw{rows};
  const auto add = [&](const std::string& column, const auto& value) {
    auto& feature = raw.add(column, "position", false);
    for (Index i = 0; i < rows; ++i) feature[i] = i < placed ? value(i) : 0.5F;
  };
  add("row", [&](Index i) { return static_cast<float>(i) / static_cast<float>(placed); });
  add("row", [&](Index i) { return static_cast<float>(i % 2); });
  std::size_t compared = 0;
  for (std::size_t c = 0; c < columns_.size() && compared < kMostBefore; ++c) {
    if (!columns_[c]->traced) continue;
    ++compared;
    const AuditColumn& from = released.columns[c];
    add(from.name, [&](Index i) {
      const auto row = static_cast<std::size_t>(i);
      if (i == 0 || from.missing[row] != from.missing[row - 1]) return 0.0F;
      const bool same = from.missing[row] || (from.has_text() ? from.code[row] == from.code[row - 1]
                                                              : from.number[i] == from.number[i - 1]);
      return same ? 1.0F : 0.0F;
    });
  }
  for (const RawFeature& feature : raw.features) take(feature);
}

void FeatureMap::write_row_keys(const std::vector<RowTrace>& traces, AttackFeatures& features) const {
  const Index rows = features.keys.rows();
  const Index placed = rows - trained_rows_;
  Index key = first_row_key_;
  const auto add = [&](const auto& value) {
    for (Index i = 0; i < rows; ++i) features.keys(i, key) = value(i);
    ++key;
  };
  for (std::size_t t = 0; t < traces.size(); ++t) {
    if (trace_values_[t] > 0) add([&](Index i) { return static_cast<std::int32_t>(traces[t].data[i]); });
  }
  if (!options_.row_position) return;
  // Rows that trained the mechanism are not part of the file.
  const auto add_placed = [&](const auto& value) {
    add([&](Index i) { return i < placed ? value(i) : -1; });
  };
  for (const Index block : kBlockRows)
    add_placed([&](Index i) { return static_cast<std::int32_t>(i / block); });
  for (const Index turn : kTurns) add_placed([&](Index i) { return static_cast<std::int32_t>(i % turn); });
  for (const Index code : neighbour_code_) {
    for (const Index step : {Index{-1}, Index{1}}) {
      add_placed([&](Index i) {
        const Index other = i + step;
        return other < 0 || other >= placed ? -1 : features.coarse(other, code);
      });
    }
  }
  for (Index i = 0; i < rows; ++i)
    features.number(i, features.number.cols() - 1) =
        i < placed ? static_cast<double>(i) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace ppan
