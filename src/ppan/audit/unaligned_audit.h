#pragma once

// Releases that are not row by row: synthetic tables, shuffled or aggregated ones. Here the attack is
// attribute inference (as in anonymeter): the attacker knows some columns of a person and wants a sensitive
// one.
//
//   The release carries the sensitive column: attackers learn it from the released rows and guess it for the
//   original ones. What they find may be no more than what the population tells about anybody; the same guess
//   about control rows, which the release was not made from, tells that part.
//
//   Whether it does or not: attackers who know the sensitive column of half of the original rows guess it for
//   the others, with and without what the nearest released rows say. Rows of people that stand in the
//   release, copied or moved a little, are found by this alone: to those who learn from released rows a copy
//   is a row like any other.

#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"

namespace ppan {

struct UnalignedInput {
  AuditTable original;
  AuditTable released;
  std::optional<AuditTable>
      control;  ///< Rows that the release was not made from, with the original's columns.
  std::vector<std::string> sensitive;  ///< At least one column of the original.
};

struct UnalignedFinding {
  std::string name;
  bool carried = false;               ///< The release has a column of this name.
  std::vector<std::string> known;     ///< Columns that the attacker knows of a person.
  double entropy = 0;                 ///< Nats.
  Estimate leakage;                   ///< About original rows.
  std::optional<Estimate> control{};  ///< About control rows (carried), or without the release (not carried).
  std::optional<Rate> beyond_control{};  ///< leakage - control, nats, not clipped.
  /// What the nearest released rows add to what is known of a person, nats, not clipped.
  Rate nearest{};
  /// What the findings allow for, nats: the greatest upper end of their 99 % intervals, of the forecast for
  /// ten times the rows, and the least leak that the best of attackers could see in so many rows. Of what the
  /// release adds, where there is a control.
  double upper_end = 0;
  std::string winner;
  Rate accuracy;
  double prior_accuracy = 0;
};

struct UnalignedReport {
  Index original_rows = 0;
  Index released_rows = 0;
  Index control_rows = 0;
  std::vector<UnalignedFinding> attributes;
  std::optional<double> limit;  ///< Nats.
  /// Columns of which the findings allow for more than the limit.
  [[nodiscard]] std::vector<std::string> over_limit() const;
};

/// Throws Error(kBadInput) when no column is shared, a sensitive column is not in the original, or rows are
/// too few.
UnalignedReport audit_unaligned(const UnalignedInput& input, const AuditOptions& options = {});

std::string to_text(const UnalignedReport& report, InformationUnit unit);
std::string to_json(const UnalignedReport& report);

}  // namespace ppan
