#pragma once

// The audit of a model. The model releases the given rows itself, as often as the attackers need. Where its
// distribution is known, the audit also computes an upper bound on the leakage.

#include <cstdint>
#include <memory>
#include <string>

#include "ppan/audit/audit.h"
#include "ppan/model/release_model.h"
#include "ppan/source/held_rows.h"

namespace ppan {

/// Rows to audit a model on, read once.
class ModelAuditData {
 public:
  /// `path` is an address (open/address.h); it may be "-". Throws Error(kBadInput) for rows that the model
  /// cannot release.
  ModelAuditData(const ReleaseModel& model, const std::string& path, std::uint64_t seed,
                 std::uint64_t max_unpacked = kMostUnpackedInMemory);
  /// The remaining rows of `rows`.
  ModelAuditData(const ReleaseModel& model, RowSource& rows, std::uint64_t seed);

  /// The original table.
  [[nodiscard]] const AuditTable& original() const { return original_; }
  /// One release of it. Draws differ by `number` and are reproducible by seed: an audit can be repeated, and
  /// no draw is published.
  [[nodiscard]] AuditTable release(std::int64_t number) const;
  /// Upper bounds that the distribution of the mechanism allows (table_bound.h).
  [[nodiscard]] std::vector<Estimate> upper_bounds(const AttackTarget& target) const;
  /// Of the rows; for data_fingerprint().
  [[nodiscard]] const std::string& sha256() const { return sha256_; }

 private:
  void take(RowSource& rows);

  const ReleaseModel* model_;
  std::uint64_t seed_;
  HeldRows rows_;
  std::string sha256_;
  AuditTable original_;
};

/// The audit of the columns that the model's job called sensitive, with the side information and the groups
/// of rows that it named; `data` must outlive it. Throws Error(kBadInput) for a column that the rows lack.
AuditInput model_audit_input(const ReleaseModel& model, const ModelAuditData& data);

/// privacy.surrogate_slack of the job that made the model, which an audit of it must add to its upper bounds
/// (audit/surrogate_slack.h); 0 if none was given.
double surrogate_slack_of(const ModelOrigin& origin);

/// What a model file keeps of an audit; `fingerprint` is keyed (data_fingerprint.h) or empty.
ModelAudit findings_of(const AuditReport& report, const std::string& fingerprint);

}  // namespace ppan
