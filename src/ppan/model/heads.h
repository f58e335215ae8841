#pragma once

// The heads family. Every released column is divided into cells (levels of codebook_levels.h: categories,
// spikes, quantile bins, missing). A network draws a cell for each column from a separate head, one after the
// other: either the row's own cell is kept, or a cell is drawn that fits the cells drawn before
// (heads_network.h). A number whose cell is kept is released unchanged; otherwise a value within the cell is
// drawn. Columns that depend closely on each other share one head over the combinations that occur. Derived
// columns have no head and are looked up again (row_rules.h). Cells that fewer than `least_rows` training
// people have together, where chance would produce many more, are never drawn together.

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/model/codebook_levels.h"
#include "ppan/model/heads_network.h"

namespace ppan {

/// One head.
struct Head {
  std::vector<std::int32_t> member{};  ///< Released columns (their positions) that it draws.
  std::vector<Symbols> cell{};         ///< Levels of the members, one list for each cell.
};

/// A trained mechanism of this family as a value.
struct Heads {
  std::vector<Index> hidden{};           ///< Layers of the network.
  Index noise_inputs = 8;                ///< Normal ones.
  std::vector<ColumnLevels> observed{};  ///< Of the observed columns: where their spikes are.
  std::vector<ColumnLevels> released{};  ///< Of each released column.
  std::vector<Head> heads{};             ///< Every released column that is not derived is in one of them.
  std::vector<HeadPair> pairs{};
  std::vector<HeadLink> links{};
  std::vector<Vector<float>> base{};  ///< Of each head: with the links, the distribution of redrawn cells.
  Vector<float> parameters{};         ///< See HeadsNetwork.

  [[nodiscard]] HeadsShape shape(Index features) const;
  /// Problems for these columns: sizes, columns in no head or in two, numbers that are not finite.
  [[nodiscard]] Problems check(const Encoding& encoding, const Layout& observed_layout,
                               const std::vector<std::int32_t>& released_columns) const;
};

/// Finds the cell of a head for a combination of levels. A combination that is not a cell counts as the first
/// cell that shares most levels with it.
class CellFinder {
 public:
  CellFinder(const Head& head, const std::vector<ColumnLevels>& released);
  /// The cell of each row, whose levels of each released column are `level`. Caches its searches, so it is
  /// not thread-safe.
  void find(const std::vector<Symbols>& level, std::int32_t* cell, std::size_t stride);

 private:
  [[nodiscard]] std::int32_t nearest(const Symbols& own) const;
  const Head* head_;
  std::vector<std::int64_t> step_;  // of the members in the number of a combination
  std::vector<std::int32_t>
      table_;  // cells by that number, -1 where it is not known yet; empty where too many
  std::map<Symbols, std::int32_t> map_;  // instead of the table
  bool plain_;                           // of one column: its levels are the cells, in their order
};

/// The cell of each head that rows have: `level` are the levels of each released column. Heads x rows.
CellRows cells_of(const std::vector<Head>& heads, const std::vector<ColumnLevels>& released,
                  const std::vector<Symbols>& level);

/// The same heads, of which the last `count` draw independently of the row (HeadsNetwork::forget_row), so
/// that they reveal nothing beyond the other released columns. With all of them, rows are independent of the
/// people.
Heads with_forgotten(const Heads& heads, std::size_t count, Index features);
/// Whether all of them do so.
bool forgets_rows(const Heads& heads, Index features);
/// Heads without a network, of which the last `count` are redrawn from the others, which stay unchanged. A
/// redrawn cell never depends on the row's own cell, so the redrawn columns reveal no more than the other
/// columns alone.
Heads with_redrawn(const Heads& heads, std::size_t count, Index features);
/// Positions of the released columns that are redrawn; nothing if some head is neither redrawn nor kept.
std::optional<std::vector<std::int32_t>> redrawn_columns(const Heads& heads, Index features);

/// JSON and named tensors, and back. Names of tensors begin with `prefix`.
nlohmann::json heads_to_json(const Heads& heads, const std::string& prefix,
                             std::map<std::string, Matrix<float>>& tensors);
/// Throws Error(kBadInput); `used` counts the tensors taken.
Heads heads_from_json(const nlohmann::json& json, const std::map<std::string, Matrix<float>>& tensors,
                      std::size_t& used);

}  // namespace ppan
