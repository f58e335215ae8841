#pragma once

// A model as it is kept: the mechanism, how its tables are written, and where it comes from. Everything that
// a release needs and everything that `ppan show` tells is in this one value, and in the one file it is saved
// as (docs/formats.md).

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/read/csv.h"
#include "ppan/read/job.h"
#include "ppan/release/model_file.h"
#include "ppan/table/table_measure.h"
#include "ppan/table/table_model.h"

namespace ppan {

/// How the tables are written that a model was trained on and releases.
struct TableFormat {
  std::optional<char> delimiter{};  ///< Absent: detected in each table.
  bool header = true;
  char decimal = '.';
  bool trim = false;
  friend bool operator==(const TableFormat&, const TableFormat&) = default;
};
TableFormat table_format(const CsvOptions& options);
/// The options with which a table of this format is read. Markers of missing values are not among them: the
/// encoding has those of each column.
CsvOptions csv_options(const TableFormat& format);

/// Where a model comes from. Told to people; a release does not depend on it.
struct ModelOrigin {
  std::string program{};               ///< "ppan 0.1.0".
  std::string title{};                 ///< Of the job.
  std::string label{};                 ///< "point 7", or "mixture of point 6 and point 7".
  std::optional<double> budget{};      ///< Distortion asked for.
  std::optional<double> distortion{};  ///< Measured on held-out rows (of a mixture: expected from its parts).
  std::optional<double> changed{};     ///< Share of the released cells that are not what they were.
  std::vector<ColumnChange> columns{};
  std::optional<Estimate> leakage{};  ///< By fresh attackers, on held-out rows, when the curve was made.
  std::string stop{};                 ///< Why training ended.
  int epochs = 0;
  std::int64_t iterations = 0;
  std::uint64_t seed = 0;
  std::int64_t training_rows = 0;
  std::int64_t test_rows = 0;
  std::string data_sha256{};                                    ///< Fingerprint of the training table's file.
  std::vector<std::pair<std::string, std::string>> settings{};  ///< Those of the job that were given.
};

/// What an audit found about one sensitive attribute.
struct AuditFinding {
  std::string name{};
  Estimate leakage{};
  std::optional<double> accuracy{};        ///< Share of the rows that the best attacker got right.
  std::optional<double> prior_accuracy{};  ///< The same without the release.
};

/// The last audit of a model.
struct ModelAudit {
  std::vector<AuditFinding> attributes{};
  std::int64_t rows = 0;
  bool quick = false;
  std::string data_sha256{};  ///< Fingerprint of the table it was audited on.
};

struct ReleaseModel {
  TableModel table;
  TableFormat format{};
  UnknownRow unknown = UnknownRow::kFail;
  /// Names of the released and kept columns, each once, in the order of the released table.
  std::vector<std::string> order{};
  ModelOrigin origin{};
  std::optional<ModelAudit> audit{};
  std::string checksum{};  ///< Of the file it was read from; empty otherwise.
};

/// The order of a released table: the useful and kept columns as they come in `names`.
std::vector<std::string> release_order(const Schema& schema, const std::vector<std::string>& names);

ModelContainer to_container(const ReleaseModel& model);
/// Throws Error(kBadInput) for a container that to_container() would not have written. `name` is for
/// messages.
ReleaseModel from_container(const ModelContainer& container, std::string_view name);

/// All or nothing.
void save_model(const std::filesystem::path& path, const ReleaseModel& model);
ReleaseModel load_model(const std::filesystem::path& path);

/// One model that releases a row by `second` with probability `second_weight`, otherwise by `first`; for
/// `weight` 0 or 1 one of them as it is. Its distortion is the mean of theirs, and its leakage at most that,
/// by convexity; what it says of its origin tells so. Throws Error(kUsage) if they were not trained in one
/// run.
ReleaseModel mix_models(const ReleaseModel& first, const ReleaseModel& second, double second_weight);

/// What the model is, for people at a terminal.
std::string describe(const ReleaseModel& model, InformationUnit unit = InformationUnit::kNats);
/// The same as JSON.
nlohmann::json to_json(const ReleaseModel& model);

}  // namespace ppan
