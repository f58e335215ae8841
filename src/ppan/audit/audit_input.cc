#include "ppan/audit/audit_input.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "ppan/audit/group_leakage.h"
#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr Index kRowsPerBin = 50;
constexpr Index kUnitShare = 3;  // of the least rows, one part must be different units

void require_rows(Index rows, const AuditColumn& column) {
  if (column.rows() == rows) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("column \"{}\" has {} rows, the release has {}", column.name, column.rows(), rows),
              "The audit compares row by row: give tables of the same records in the same order.");
}

std::size_t different_values(const AuditColumn& column) {
  std::set<std::pair<std::int32_t, double>> values;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (column.missing[row]) continue;
    values.emplace(column.has_text() ? column.code[row] : 0, column.has_text() ? 0 : column.number[i]);
  }
  return values.size();
}

}  // namespace

void check_input(const AuditInput& input, const AuditOptions& options) {
  if (input.released.columns.empty())
    throw Error(ErrorCode::kBadInput, "nothing is released: there is no column to audit");
  if (input.sensitive.empty()) {
    throw Error(ErrorCode::kUsage, "no sensitive column is named", "Name at least one: --sensitive COLUMN.");
  }
  const Index rows = input.released.rows();
  for (const AuditColumn& column : input.released.columns) require_rows(rows, column);
  for (const auto* columns : {&input.sensitive, &input.side, &input.undeclared, &input.groups}) {
    for (const AuditColumn& column : *columns) require_rows(rows, column);
  }
  if (input.together) require_rows(rows, *input.together);
  for (const AuditColumn& column : input.groups) {
    const std::size_t values = different_values(column);
    if (values <= static_cast<std::size_t>(kMostGroupLevels)) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" has {} different values, too many groups to report on (at most {})",
                            column.name, values, kMostGroupLevels),
                "If they name persons with several rows each, use --together instead of --group.");
  }
  if (input.trained_rows < 0 || input.trained_rows >= std::max<Index>(rows, 1))
    throw Error(ErrorCode::kUsage,
                fmt::format("of {} rows {} cannot have trained the mechanism", rows, input.trained_rows));
  if (input.held_out_rows() < options.least_rows) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} rows are too few to audit; at least {} are needed", input.held_out_rows(),
                            options.least_rows),
                "Hold more records out of training.");
  }
  if (rows > std::numeric_limits<std::int32_t>::max())
    throw Error(ErrorCode::kBadInput, "more than 2^31 rows");
}

AttackTarget target_for(const AuditColumn& column, const AttackSplit& split, const AuditOptions& options) {
  const auto rows = column.rows() - static_cast<Index>(split.trained.size());
  TargetOptions wanted = options.target;
  wanted.bins =
      static_cast<std::int32_t>(std::clamp<Index>(rows / kRowsPerBin, 2, static_cast<Index>(wanted.bins)));
  AttackTarget target = target_of(column, split.train, wanted);
  const Index needed = rows_needed(target.levels, options);
  if (!target.continuous && rows < needed) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} rows are too few to audit \"{}\" with its {} categories; at least {} are needed",
                    rows, column.name, target.levels, needed),
        "Hold more records out of training, or put categories together.");
  }
  return target;
}

Units units_of(const AuditColumn& column, const AuditOptions& options) {
  Units unit;
  std::map<std::pair<std::int32_t, double>, std::int32_t> known;
  std::int32_t count = 0;
  for (Index i = 0; i < column.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    if (column.missing[row]) {
      unit.push_back(count++);
      continue;
    }
    const auto [at, added] = known.try_emplace(
        {column.has_text() ? column.code[row] : 0, column.has_text() ? 0 : column.number[i]}, count);
    if (added) ++count;
    unit.push_back(at->second);
  }
  const Index least = options.least_rows / kUnitShare;
  if (count < least) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("\"{}\" has {} different values; at least {} persons (or other units) are "
                            "needed to hold some of them back",
                            column.name, count, least),
                "Groups to report on are named with --group.");
  }
  return unit;
}

}  // namespace ppan
