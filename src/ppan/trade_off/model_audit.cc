#include "ppan/trade_off/model_audit.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/core/random.h"
#include "ppan/core/suggest.h"
#include "ppan/encode/encoder.h"
#include "ppan/open/address.h"
#include "ppan/open/open_rows.h"
#include "ppan/release/release_table.h"
#include "ppan/report/curve_file.h"
#include "ppan/source/csv_source.h"
#include "ppan/table/table_bound.h"

namespace ppan {
namespace {

// What the job said of its columns: the numbers of a category are names.
std::map<std::string, CellKind> kinds_of(const Schema& schema) {
  std::map<std::string, CellKind> kinds;
  for (const ColumnSpec& column : schema.columns)
    kinds[column.name] = column.type == ColumnType::kDate        ? CellKind::kDate
                         : column.type == ColumnType::kTimestamp ? CellKind::kTimestamp
                         : is_numeric(column.type)               ? CellKind::kNumber
                                                                 : CellKind::kCategory;
  return kinds;
}

// Rows that are set aside in a release would leave the two tables unequal.
UnknownRow policy_of(const ReleaseModel& model) {
  return model.unknown == UnknownRow::kNearest ? UnknownRow::kNearest : UnknownRow::kFail;
}

}  // namespace

ModelAuditData::ModelAuditData(const ReleaseModel& model, const std::string& path, std::uint64_t seed,
                               std::uint64_t max_unpacked)
    : model_(&model), seed_(seed) {
  if (parse_address(path).kind != AddressKind::kText) {
    const auto rows = open_rows(path, {.csv = table_options(model, std::nullopt, max_unpacked)});
    take(*rows);
    sha256_ = rows_.fingerprint();
    return;
  }
  const auto source = open_source(path, max_unpacked);
  std::string bytes;
  std::string block(std::size_t{1} << 16U, '\0');
  while (const std::size_t got = source->read(block.data(), block.size())) bytes.append(block, 0, got);
  sha256_ = ppan::sha256(bytes);
  CsvSource rows(view_source(bytes, source->name()), table_options(model));
  take(rows);
}

ModelAuditData::ModelAuditData(const ReleaseModel& model, RowSource& rows, std::uint64_t seed)
    : model_(&model), seed_(seed) {
  take(rows);
  sha256_ = rows_.fingerprint();
}

void ModelAuditData::take(RowSource& rows) {
  rows_ = HeldRows(rows);
  original_ = table_of_rows(*rows_.open(), kinds_of(model_->table.schema()));
}

AuditTable ModelAuditData::release(std::int64_t number) const {
  const auto in = rows_.open();
  HeldSink out("the release", in->style());
  ReleaseOptions release_options;
  release_options.unknown = policy_of(*model_);
  release_options.insecure_seed =
      SeededRandom(seed_).fork("audit-release", static_cast<std::uint64_t>(number)).next();
  release_table(*model_, *in, out, nullptr, release_options);
  return table_of_rows(*out.rows().open(), kinds_of(model_->table.schema()));
}

std::vector<Estimate> ModelAuditData::upper_bounds(const AttackTarget& target) const {
  const TableModel& table = model_->table;
  const auto in = rows_.open();
  std::vector<std::string> names;
  for (const std::int32_t column : table.observed())
    names.push_back(table.encoding().columns[static_cast<std::size_t>(column)].name);
  // What is released as it is, which a certificate counts with the code.
  if (table.schema().task_kept) {
    for (const std::string& name : table.schema().task) names.push_back(name);
  }
  const auto bound = bind_columns(table.encoding(), names, *in);
  const Encoder encoder(table.encoding(), in->style().decimal);
  EncodedRows rows;
  EncodedRows part;
  for (RowChunk chunk; in->next(chunk);) {
    encoder.encode(chunk, bound, UnknownRow::kNearest, part);
    append_rows(rows, part);
  }
  return table_upper_bounds(table, rows, {target.code, target.levels, !target.continuous}, {.seed = seed_});
}

AuditInput model_audit_input(const ReleaseModel& model, const ModelAuditData& data) {
  const Schema& schema = model.table.schema();
  const auto column = [&](const std::string& name) {
    if (const AuditColumn* found = data.original().find(name)) return *found;
    throw Error(ErrorCode::kBadInput, unknown_name("column", name, data.original().names()));
  };
  AuditInput input;
  input.released = data.release(0);
  for (const std::string& name : schema.hidden_columns()) input.sensitive.push_back(column(name));
  for (const std::string& name : schema.side) input.side.push_back(column(name));
  if (schema.group) input.together = column(*schema.group);
  input.draw_again = [&data](std::int64_t number) { return data.release(number + 1); };
  input.upper_bounds = [&data](const AttackTarget& target) { return data.upper_bounds(target); };
  return input;
}

double surrogate_slack_of(const ModelOrigin& origin) {
  for (const auto& [key, value] : origin.settings) {
    if (key != "privacy.surrogate_slack") continue;
    const std::optional<double> slack = parse_shortest(value);
    if (!slack || !std::isfinite(*slack) || *slack < 0)
      throw Error(
          ErrorCode::kBadInput,
          "the model says privacy.surrogate_slack = " + printable(value) + ", which is not a valid slack",
          "make the model again");
    return *slack;
  }
  return 0;
}

ModelAudit findings_of(const AuditReport& report, const std::string& fingerprint) {
  ModelAudit out;
  out.rows = report.rows;
  out.quick = report.quick;
  out.data_fingerprint = fingerprint;
  for (const AttributeAudit& attribute : report.attributes) {
    out.attributes.push_back(
        {.name = attribute.name,
         .leakage = attribute.leakage,
         .accuracy = attribute.accuracy.value,
         .prior_accuracy = attribute.prior_accuracy,
         .upper = attribute.upper.empty() ? std::nullopt : std::optional(attribute.upper.front()),
         .upper_end = attribute.upper_end,
         .power = attribute.power ? std::optional(attribute.power->nats) : std::nullopt,
         .forecast = attribute.forecast ? std::optional(attribute.forecast->ten_times) : std::nullopt,
         .inconclusive = attribute.verdict == AuditVerdict::kInconclusive});
  }
  return out;
}

}  // namespace ppan
