#pragma once

// Are two tables about the same records, row by row? An audit of tables that are not says "nothing found" and
// means nothing. Columns that both tables have are compared: rows that belong together agree more often than
// rows paired at random, unless the release has changed everything.

#include <string>
#include <vector>

#include "ppan/audit/audit_table.h"

namespace ppan {

struct Alignment {
  std::vector<std::string> compared;  ///< Columns of both tables, constant ones left out.
  /// Standard deviations by which agreement exceeds that of rows paired at random, over all columns.
  double deviations = 0;
  /// Rows by which the release would have to be moved up to agree best, if that is clearly better.
  Index shift = 0;

  /// Nothing speaks for these rows being about the same records.
  [[nodiscard]] bool by_chance() const;
};

Alignment compare_rows(const AuditTable& original, const AuditTable& released);

/// Share of the cells of `released` that say what `original` says; of rows where both have a value.
double agreement(const AuditColumn& original, const AuditColumn& released);

}  // namespace ppan
