#pragma once

// The sensitive attribute as attackers guess it: always a finite alphabet. A continuous attribute is cut into
// bins of equal share, and since the bin is a function of the value, I(bin;Z) <= I(X;Z): what is found about
// the bin is found about the value.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ppan/audit/audit_table.h"
#include "ppan/core/problem.h"

namespace ppan {

struct TargetOptions {
  std::int32_t numeric_levels = 20;  ///< A numeric column of at most so many values is a category. 2 to 1000.
  std::int32_t bins = 20;            ///< Bins of a continuous attribute. 2 to 200.
  std::int32_t most_levels = 100;    ///< Categories told apart; rarer ones are put together. 2 to 1000.
  std::int32_t least_class_rows = 10;  ///< Categories with fewer rows are put together. At least 1.
  [[nodiscard]] Problems check() const;
};

struct AttackTarget {
  std::string name;
  Symbols code;                    ///< Category or bin of each row.
  std::int32_t levels = 0;         ///< At least 2.
  std::vector<std::string> level;  ///< Their names.
  bool continuous = false;
  Vector<double> value;             ///< Continuous only: the numbers, NaN where missing.
  std::vector<double> edge;         ///< Continuous only: bin b holds edge[b-1] <= value < edge[b].
  std::int32_t missing_level = -1;  ///< Bin of the missing values, if there are any.
  std::vector<std::string> notes;   ///< What a reader of the report must know about it.
};

/// Edges of bins are quantiles of the rows `training`, so that rows that are reported on have no say in them.
/// Throws Error(kBadInput) when the column cannot be audited: constant, all missing, different in every row.
AttackTarget target_of(const AuditColumn& column, std::span<const std::int32_t> training,
                       const TargetOptions& options = {});

/// The codes of these rows.
Symbols codes_at(const AttackTarget& target, std::span<const std::int32_t> rows);

/// The pair (a, b) as one attribute of a.levels * b.levels categories or fewer (only those that occur).
Symbols joint_code(const Symbols& a, const Symbols& b, std::int32_t b_levels, std::int32_t& levels);

}  // namespace ppan
