#include "ppan/trade_off/audit_request.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <utility>

#include "ppan/audit/alignment.h"
#include "ppan/core/error.h"
#include "ppan/core/suggest.h"
#include "ppan/open/open_rows.h"
#include "ppan/trade_off/audit_run.h"

namespace ppan {
namespace {

// What --type says of the columns.
std::map<std::string, CellKind> kinds_of(const AuditRequest& request) {
  std::map<std::string, CellKind> kinds;
  ProblemList problems;
  for (const std::string& given : request.types) {
    const std::size_t sign = given.rfind('=');
    const std::string type = sign == std::string::npos ? "" : given.substr(sign + 1);
    problems.require(type == "category" || type == "number", "--type",
                     fmt::format("\"{}\" is not COLUMN=category or COLUMN=number", given));
    kinds[given.substr(0, sign)] = type == "category" ? CellKind::kCategory : CellKind::kNumber;
  }
  require_none(problems.take(), "this audit cannot be made:");
  return kinds;
}

}  // namespace

AuditTable read_table_of(const AuditRequest& request, const std::string& path) {
  const auto source = open_rows(path, {.csv = {.limits = {.unpacked_bytes = request.max_unpacked}}});
  return table_of_rows(*source, kinds_of(request));
}

namespace {

// An audit of rows that do not belong together finds nothing and means nothing.
void require_alignment(const AuditTable& original, const AuditTable& released) {
  const Alignment found = compare_rows(original, released);
  if (!found.by_chance()) return;
  const char* fix =
      "Give tables of the same records in the same order. For releases that are not row by row (synthetic "
      "data) use "
      "--unaligned; if the rows do belong together and the release has changed everything, --aligned.";
  if (found.shift != 0) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format(
            "row 1 of the release does not look like row 1 of the original: it agrees best when moved by {} "
            "row{} (compared: {})",
            std::abs(found.shift), std::abs(found.shift) == 1 ? "" : "s", fmt::join(found.compared, ", ")),
        fix);
  }
  throw Error(
      ErrorCode::kBadInput,
      fmt::format(
          "row 1 of the release does not look like row 1 of the original: the rows agree no more often "
          "than rows paired at random (compared: {})",
          fmt::join(found.compared, ", ")),
      fix);
}

}  // namespace

// A release that has the sensitive column gives it away by name, whatever attackers make of the rest.
std::vector<std::string> carried_columns(const AuditInput& input) {
  std::vector<std::string> out;
  for (const AuditColumn& column : input.sensitive) {
    const AuditColumn* released = input.released.find(column.name);
    if (released == nullptr) continue;
    out.push_back(fmt::format(
        "the release contains the sensitive column \"{}\" itself; {:.1f} % of its cells are the true ones",
        column.name, 100 * agreement(column, *released)));
  }
  return out;
}

const AuditColumn& column_of(const AuditTable& table, const std::string& name, const std::string& path) {
  if (const AuditColumn* column = table.find(name)) return *column;
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", path, unknown_name("column", name, table.names())));
}

namespace {

// Each column has one role.
void refuse_repeated(const AuditRequest& request) {
  std::set<std::string> roles;
  for (const auto* names : {&request.sensitive, &request.side}) {
    for (const std::string& name : *names) {
      if (!roles.insert(name).second) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("column \"{}\" is named twice under --sensitive and --side", name));
      }
    }
  }
}

// The columns of the original that the request names, or that it scans.
void take_columns(const AuditRequest& request, const AuditTable& original, const std::string& path,
                  AuditInput& input) {
  const auto take = [&](const std::vector<std::string>& names, std::vector<AuditColumn>& to) {
    for (const std::string& name : names) to.push_back(column_of(original, name, path));
  };
  take(request.sensitive, input.sensitive);
  take(request.side, input.side);
  take(request.groups, input.groups);
  if (!request.together.empty()) input.together = column_of(original, request.together, path);
  if (!request.scan) return;
  const auto named = [](const std::vector<AuditColumn>& columns, const std::string& name) {
    return AuditTable{columns}.find(name) != nullptr;
  };
  for (const AuditColumn& column : original.columns) {
    if (!input.released.find(column.name) && !named(input.sensitive, column.name) &&
        !named(input.side, column.name) && column.name != request.together) {
      input.undeclared.push_back(column);
    }
  }
}

}  // namespace

AuditInput audit_input(const AuditRequest& request, std::optional<double>& changed) {
  if (request.original == "-" && request.released == "-") {
    throw Error(ErrorCode::kUsage, "--original and --released cannot both be standard input");
  }
  refuse_repeated(request);
  const AuditTable original = read_table_of(request, request.original);
  AuditInput input;
  input.released = read_table_of(request, request.released);
  if (original.rows() != input.released.rows()) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} has {} rows, {} has {}", request.original, original.rows(), request.released,
                            input.released.rows()),
                "The audit compares row by row: give tables of the same records in the same order. For "
                "releases that are "
                "not row by row (synthetic data) use --unaligned.");
  }
  if (!request.aligned) require_alignment(original, input.released);
  take_columns(request, original, request.original, input);
  changed = changed_cells(original, input.released);
  return input;
}

// A model releases the rows itself. What the job called sensitive and side is taken unless said otherwise.
AuditInput audit_input(AuditRequest request, const ReleaseModel& model, const ModelAuditData& data,
                       std::optional<double>& changed) {
  const Schema& schema = model.table.schema();
  if (request.sensitive.empty()) request.sensitive = schema.hidden_columns();
  if (request.side.empty()) request.side = schema.side;
  if (request.together.empty()) request.together = schema.group.value_or("");
  refuse_repeated(request);
  AuditInput input;
  input.released = data.release(0);
  take_columns(request, data.original(), request.data, input);
  changed = changed_cells(data.original(), input.released);
  input.draw_again = [&data](std::int64_t number) { return data.release(number + 1); };
  input.upper_bounds = [&data](const AttackTarget& target) { return data.upper_bounds(target); };
  return input;
}

}  // namespace ppan
