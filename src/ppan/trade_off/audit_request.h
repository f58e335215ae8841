#pragma once

// What of a table is audited, as a person asks for it: by the names of columns.

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
  std::vector<std::string> sensitive{};  ///< Of a model: as in its job, if empty; so are the following two.
  std::vector<std::string> side{};       ///< What attackers know anyway.
  std::string together{};                ///< Rows of one value stay on one side of the split.
  std::vector<std::string> groups{};     ///< Columns whose values are groups to report on.
  std::vector<std::string> types{};      ///< COLUMN=category or COLUMN=number.
  bool aligned = false;                  ///< The rows belong together, however little they agree.
  bool scan = false;                     ///< Every other column of the original that is not released too.
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
};

/// A table, read with the types of the request.
AuditTable read_table_of(const AuditRequest& request, const std::string& path);
/// Throws Error(kBadInput) for a table without it, with the nearest names; `path` is for messages.
const AuditColumn& column_of(const AuditTable& table, const std::string& name, const std::string& path);

/// Of two tables; `changed` becomes the share of the cells that differ. Throws Error(kBadInput) for rows that
/// do not belong together.
AuditInput audit_input(const AuditRequest& request, std::optional<double>& changed);
/// Of a model, which releases the rows itself; `data` must outlive it.
AuditInput audit_input(AuditRequest request, const ReleaseModel& model, const ModelAuditData& data,
                       std::optional<double>& changed);

/// Sentences about sensitive columns that the release itself contains.
std::vector<std::string> carried_columns(const AuditInput& input);

}  // namespace ppan
