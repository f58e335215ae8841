#pragma once

// Runs an audit from its files to its findings: of a model on rows (or images) that it was not trained on, of
// two tables row by row, or of a release that is not row by row. Used by `ppan audit` and other front ends.

#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/audit.h"
#include "ppan/core/estimate.h"
#include "ppan/trade_off/audit_request.h"

namespace ppan {

struct AuditFiles : AuditRequest {
  std::string model{};   ///< Audited on `data`; or `original` and `released` are given.
  std::string labels{};  ///< Of images; empty: those found next to the images.
  bool save = false;     ///< Save the findings in the model, and in the report of the run that it is part of.
  std::string sign{};    ///< Private key to sign what is saved with.
  std::string out{};     ///< Directory for findings and report; empty: none.
  bool force = false;    ///< It need not be empty.
  bool unaligned = false;
  std::string control{};  ///< With `unaligned`: records that the release was not made from.
  std::string json{};     ///< Where the findings will be written as JSON; it must not be one of the inputs.
  std::string gain{};     ///< File of gains for g-leakage; empty: none.
  std::string
      fingerprint_key{};  ///< Secret for the fingerprint of the data (data_fingerprint.h); empty: none.
  std::string version{};  ///< Of this program.
  InformationUnit unit = InformationUnit::kNats;  ///< Of the text.
  AuditOptions options{};

  /// The command line that gives the same findings.
  [[nodiscard]] std::string command() const;
};

struct AuditFindings {
  std::string text{};  ///< For people at a terminal, with the paths of the pages that were written.
  std::string json{};
  /// Attributes that are not shown to be within the limit; empty without a limit.
  std::vector<std::string> over_limit{};
};

/// Throws Error(kUsage) for files and options that contradict each other, before anything is read or written,
/// and Error(kBadInput) for data that cannot be audited.
AuditFindings audit_files(const AuditFiles& files);

}  // namespace ppan
