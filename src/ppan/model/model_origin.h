#pragma once

// The origin and the audit of a model, for table and image models alike.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan {

/// An estimate as model files and audits of images write it.
nlohmann::json estimate_to_json(const Estimate& estimate);

/// What happened to one released column.
struct ColumnChange {
  std::string name{};
  bool numeric = false;
  double weight = 1;      ///< Of the column in the total, before normalisation.
  double changed = 0;     ///< Share of the cells that are not what they were.
  double distortion = 0;  ///< Categories: `changed`. Numbers: mean squared error in variances of the column.
  /// Numbers: root mean squared error in standard deviations (of the scale on which the column is encoded,
  /// see encoding.h), over cells that are present before and after; 0 for categories.
  double rms_error = 0;
};

/// Where a model comes from. For people only; a release does not depend on it.
struct ModelOrigin {
  std::string program{};               ///< "ppan 0.1.0".
  std::string title{};                 ///< Of the job.
  std::string label{};                 ///< "point 7", or "mixture of point 6 and point 7".
  std::optional<double> budget{};      ///< Distortion asked for.
  std::optional<double> distortion{};  ///< Measured on held-out rows (of a mixture: expected from its parts).
  std::optional<double> changed{};     ///< Share of the released cells that changed.
  std::vector<ColumnChange> columns{};
  std::optional<Estimate> leakage{};  ///< By fresh attackers, on held-out rows, when the curve was made.
  std::optional<double> upper_end{};  ///< Upper end of that finding, nats (AttributeAudit::upper_end).
  std::optional<double> power{};  ///< Smallest leakage that would have been found with probability 0.9, nats.
  bool inconclusive = false;
  std::string task{};  ///< What a recipient can still predict, in words; empty without tasks.
  std::string stop{};  ///< Why training ended.
  int epochs = 0;
  std::int64_t iterations = 0;
  std::uint64_t seed = 0;
  std::int64_t training_rows = 0;
  std::int64_t test_rows = 0;
  std::string
      data_fingerprint{};  ///< Keyed, of the training data (trade_off/data_fingerprint.h); may be empty.
  std::vector<std::pair<std::string, std::string>> settings{};  ///< Those of the job that were given.
};

/// What an audit found about one sensitive attribute.
struct AuditFinding {
  std::string name{};
  Estimate leakage{};
  std::optional<double> accuracy{};        ///< Share of the rows that the best attacker got right.
  std::optional<double> prior_accuracy{};  ///< The same without the release.
  std::optional<Estimate> upper{};         ///< The tightest upper bound.
  std::optional<double> upper_end{};       ///< Upper end of the finding, nats.
  std::optional<double> power{};           ///< Smallest leakage found with probability 0.9, nats.
  std::optional<Estimate> forecast{};      ///< What ten times the rows would find.
  bool inconclusive = false;
};

/// The last audit of a model.
struct ModelAudit {
  std::vector<AuditFinding> attributes{};
  std::int64_t rows = 0;
  bool quick = false;
  std::string data_fingerprint{};  ///< Keyed, of the data it was audited on; may be empty.
};

/// As the description of a model file holds them (docs/formats.md). The readers throw
/// nlohmann::json::exception or Error(kBadInput) for anything else.
nlohmann::json to_json(const ModelOrigin& origin);
nlohmann::json to_json(const ModelAudit& audit);
ModelOrigin origin_from_json(const nlohmann::json& json);
ModelAudit audit_from_json(const nlohmann::json& json);

/// Of a model that releases by `second` with probability `second_weight`, otherwise by `first`: distortion is
/// the mean of theirs, leakage at most that.
ModelOrigin mix_origins(const ModelOrigin& first, const ModelOrigin& second, double second_weight);

/// Lines (name and text) about the leakage and the training of a model; `of` is "rows" or "images".
std::vector<std::pair<std::string, std::string>> origin_lines(const ModelOrigin& origin, std::string_view of,
                                                              InformationUnit unit);
/// The same about its audit, or that there was none.
std::vector<std::pair<std::string, std::string>> audit_lines(const std::optional<ModelAudit>& audit,
                                                             std::string_view of, InformationUnit unit);

/// "0.1234 nats (95 % interval 0.1200 to 0.1300), lower bound".
std::string estimate_text(const Estimate& estimate, InformationUnit unit);

}  // namespace ppan
