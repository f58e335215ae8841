#pragma once

// What a release of a table costs and what it gives away, measured on rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/estimate.h"
#include "ppan/core/problem.h"
#include "ppan/encode/encoder.h"
#include "ppan/read/schema.h"

namespace ppan {

/// What happened to one released column.
struct ColumnChange {
  std::string name{};
  bool numeric = false;
  double weight = 1;      ///< Of the column in the total, before they are brought to sum 1.
  double changed = 0;     ///< Share of the cells that are not what they were.
  double distortion = 0;  ///< Categories: `changed`. Numbers: mean squared error in variances of the column.
  /// Numbers: root mean squared error in standard deviations (of the scale on which the column is encoded,
  /// see encoding.h), over cells that are present before and after; 0 for categories.
  double rms_error = 0;
};

/// Distortion of a release: the weighted mean over the released columns of their distortions, so 0 is
/// untouched and about 1 is a table of unrelated values.
struct TableChange {
  double distortion = 0;
  double changed = 0;  ///< Share of all released cells that are not what they were, unweighted.
  std::vector<ColumnChange> columns{};
};

/// Compares a release with the rows it was made from. Numbers are compared as they would be written: decoded,
/// on their grid. A number that appears or disappears costs 1, as much as a number replaced by the mean.
TableChange measure_change(const EncodedRows& original, const EncodedRows& released,
                           const Encoding& encoding);

/// How hard the attackers inside a curve try. The audit command tries harder.
struct LeakageOptions {
  int epochs = 30;                 ///< Most passes of a network over its training rows. At least 1.
  int trees = 300;                 ///< Most trees of the boosted attacker, all classes together. At least 1.
  int training_releases = 2;       ///< Releases of each row the attackers learn from. 1 to 100.
  std::int64_t most_rows = 20000;  ///< Rows used, at most. At least 1.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

struct LeakageReport {
  Estimate joint{};  ///< I(X;Z) of all hidden columns together; an estimate if they have many cells.
  std::vector<std::string> names{};  ///< The hidden columns.
  std::vector<Estimate> each{};      ///< I(X_i;Z).
  double entropy = 0;                ///< Of all hidden columns together, nats, as the attackers see them.
  std::string attacker{};            ///< The one that found it.
};

/// Leakage about the hidden columns of `schema`, found by new attackers (a network, boosted trees, a linear
/// one) which learn on 45 % of `rows`, are chosen on 15 % and scored on the rest. `rows` holds the hidden
/// columns; `release` releases them once, independently for each number. Numbers of hidden columns are cut
/// into bins. Rows of one unit (there is one for each row, or none) stay on one side of the split.
LeakageReport measure_leakage(const EncodedRows& rows, const Schema& schema, const Encoding& encoding,
                              const std::function<EncodedRows(std::int64_t)>& release,
                              const LeakageOptions& options, const Units& unit = {});

/// Rows `which` of `rows`.
EncodedRows take_rows(const EncodedRows& rows, std::span<const std::int32_t> which);

}  // namespace ppan
