#pragma once

// An audit request: which columns of a table are audited, by name.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/model/release_model.h"
#include "ppan/source/csv.h"
#include "ppan/trade_off/model_audit.h"

namespace ppan {

struct AuditRequest {
  std::string data{};      ///< Rows that a model is audited on.
  std::string original{};  ///< Or two tables, row by row of the same records.
  std::string released{};
  std::vector<std::string> sensitive{};  ///< For a model, if empty: as in its job; likewise the next two.
  std::vector<std::string> side{};       ///< What attackers already know.
  std::string together{};                ///< Rows of one value stay on one side of the split.
  std::vector<std::string> groups{};     ///< Columns whose values are groups to report on.
  std::vector<std::string> types{};      ///< COLUMN=category or COLUMN=number.
  bool aligned = false;                  ///< The rows correspond, however little they agree.
  bool scan = false;  ///< Also audit every other column of the original that is not released.
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
};

/// A table, read with the types of the request.
AuditTable read_table_of(const AuditRequest& request, const std::string& path);
/// Throws Error(kBadInput) for a table without it, with the nearest names; `path` is for messages.
const AuditColumn& column_of(const AuditTable& table, const std::string& name, const std::string& path);

/// Of two tables; `changed` becomes the share of the cells that differ. Throws Error(kBadInput) for rows that
/// do not correspond.
AuditInput audit_input(const AuditRequest& request, std::optional<double>& changed);
/// Of a model, which releases the rows itself; `data` must outlive it.
AuditInput audit_input(AuditRequest request, const ReleaseModel& model, const ModelAuditData& data,
                       std::optional<double>& changed);

/// Sentences about sensitive columns that the release itself contains.
std::vector<std::string> carried_columns(const AuditInput& input);

}  // namespace ppan
