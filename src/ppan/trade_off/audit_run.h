#pragma once

// An audit as a run directory that the report can be made from, and as part of the report of the run that the
// audited model belongs to. docs/run_directory.md says what each file holds.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"

namespace ppan {

/// The context of an audit that its directory records.
struct AuditRun {
  std::string command{};   ///< As typed.
  std::string version{};   ///< Of this program.
  std::string released{};  ///< What was audited, for people: file name of the model or the released table.
  /// Share of the cells that differ, over columns that both tables have; absent where they have none.
  std::optional<double> changed{};
  std::vector<std::pair<std::string, std::string>> facts{};
  std::uint64_t seed = 0;
  double seconds = 0;
};

/// Share of the cells that differ between columns of the same name.
std::optional<double> changed_cells(const AuditTable& original, const AuditTable& released);

/// Column of curve.csv that says what an audit of the model of a row found: "lower bound 0.0467 nats (0.0389
/// to 0.0545), 16002 rows".
inline constexpr std::string_view kAuditColumn = "audit";
std::string audit_text(const AuditReport& report);

/// What the report shows of an audit: an entry for each attribute, and for all of them together. `made`: by
/// whom, on what rows. Other measures than mutual information as columns NAME, NAME_low and NAME_high, each
/// for the attribute with the worst result.
void set_measures(const AuditReport& report, CurveRow& row);

std::vector<AuditDetail> audit_details(const AuditReport& report, const std::string& made);

/// Writes curve.csv (a single row), summary.json, audit.json (details), findings.json (everything, see
/// docs/attack_model.md) and report.html; returns the path of the page. The directory must exist.
std::filesystem::path write_audit_run(const std::filesystem::path& directory, const AuditReport& report,
                                      const AuditRun& run);

/// If `model` lies in a run directory that lists it, puts the audit into the report of that run, instead of
/// the findings of an earlier audit of this model, and returns the path of the page.
std::optional<std::filesystem::path> add_to_run(const std::filesystem::path& model,
                                                const AuditReport& report);

}  // namespace ppan
