#pragma once

// From released columns to what a learning attacker looks at. Beside the values themselves it is given every
// trace that a careless mechanism may leave: how a number is written, its last digit and last binary digit,
// letter case and spaces of a text, which cells are missing and how that is marked, and where in the file the
// row stands. Constant features are dropped, all others standardised.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ppan/audit/audit_table.h"
#include "ppan/core/problem.h"

namespace ppan {

struct FeatureOptions {
  bool row_position = true;  ///< Attackers know where in the file a row stands.
  std::int32_t most_levels =
      64;  ///< Texts of a column told apart one by one; rarer ones share a feature. 2 to 1000.
  std::int32_t trace_columns =
      64;  ///< Tables with more columns (images) are given as values only. At least 0.
  [[nodiscard]] Problems check() const;
};

/// Where a feature comes from: the column, and which side of it.
struct FeatureSource {
  std::string column;
  std::string aspect;  ///< "value", "missing", "format", "low bits" or "position".
  friend bool operator==(const FeatureSource&, const FeatureSource&) = default;
};

/// Rows as attackers see them.
struct AttackFeatures {
  Matrix<float> data;  ///< Rows x features.
  Symbols cell;        ///< The exact released row as one symbol; -1: not among those the map was built on.
  std::int32_t cells = 0;  ///< Different rows the map was built on.
};

/// Built once on the released rows (which every attacker has), applied to them and to further releases.
class FeatureMap {
 public:
  FeatureMap(const AuditTable& released, const FeatureOptions& options);

  [[nodiscard]] AttackFeatures apply(const AuditTable& released) const;
  [[nodiscard]] Index width() const { return static_cast<Index>(source_.size()); }
  /// Of each feature.
  [[nodiscard]] const std::vector<FeatureSource>& source() const { return source_; }
  /// Features that measure closeness between rows (values, not traces), for nearest neighbours.
  [[nodiscard]] const std::vector<Index>& values() const { return values_; }

 private:
  struct Column;
  struct Raw;
  void write(const AuditTable& released, Raw& raw) const;

  FeatureOptions options_;
  bool traces_;
  std::vector<std::shared_ptr<const Column>> columns_;
  std::vector<FeatureSource> source_;  // of the features that are kept
  std::vector<Index> kept_;            // positions among the raw features
  std::vector<Index> values_;
  Vector<float> mean_;
  Vector<float> scale_;
  std::unordered_map<std::uint64_t, std::int32_t> cell_;
};

}  // namespace ppan
