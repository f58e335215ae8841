#pragma once

// A table model as it is stored: the mechanism, the format of its tables, and its origin. Everything that a
// release needs and everything that `ppan show` prints is in this one value, and in the one file it is saved
// as (docs/formats.md).

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/model/model_origin.h"
#include "ppan/model/table_model.h"
#include "ppan/source/csv.h"

namespace ppan {

class SigningKey;

struct ModelContainer;

/// The format of the tables that a model was trained on and releases.
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

struct ReleaseModel {
  TableModel table;
  TableFormat format{};
  UnknownRow unknown = UnknownRow::kFail;
  /// Names of the released and kept columns, each once, in the order of the released table.
  std::vector<std::string> order{};
  ModelOrigin origin{};
  std::optional<ModelAudit> audit{};
  std::string checksum{};  ///< Of the file it was read from; empty otherwise.
  std::string signer{};    ///< Public key of who signed that file (ModelContainer); empty otherwise.
};

/// The order of a released table: the useful and kept columns as they come in `names`.
std::vector<std::string> release_order(const Schema& schema, const std::vector<std::string>& names);

ModelContainer to_container(const ReleaseModel& model);
/// Throws Error(kBadInput) for a container that to_container() would not have written. `name` is for
/// messages.
ReleaseModel from_container(const ModelContainer& container, std::string_view name);

/// All or nothing. With a key, the file is signed; without, it is not, whatever it was read from.
void save_model(const std::filesystem::path& path, const ReleaseModel& model,
                const SigningKey* key = nullptr);
ReleaseModel load_model(const std::filesystem::path& path);

/// One model that releases a row by `second` with probability `second_weight`, otherwise by `first`; for
/// `weight` 0 or 1 one of them unchanged. Its distortion is the mean of theirs, and its leakage at most the
/// mean of theirs, by convexity; its origin says so. Throws Error(kUsage) if they were not trained in one
/// run.
ReleaseModel mix_models(const ReleaseModel& first, const ReleaseModel& second, double second_weight);

/// What the model is, for people at a terminal.
std::string describe(const ReleaseModel& model, InformationUnit unit = InformationUnit::kNats);
/// The same as JSON.
nlohmann::json to_json(const ReleaseModel& model);

}  // namespace ppan
