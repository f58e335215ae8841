#include "ppan/model/release_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/model/component_effect.h"
#include "ppan/model/model_file.h"
#include "ppan/model/model_parts.h"

namespace ppan {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is not a usable model file: {}", name, what),
              "fetch the file again, or train the model anew");
}

UnknownRow policy_of(const json& text) {
  const auto name = text.get<std::string>();
  for (const UnknownRow policy : {UnknownRow::kFail, UnknownRow::kReject, UnknownRow::kNearest}) {
    if (to_string(policy) == name) return policy;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("unknown word '{}'", name));
}

json json_of(const TableFormat& format) {
  json out{{"header", format.header}, {"decimal", std::string(1, format.decimal)}, {"trim", format.trim}};
  if (format.delimiter) out["delimiter"] = std::string(1, *format.delimiter);
  return out;
}

char character(const json& text) {
  const auto value = text.get<std::string>();
  if (value.size() != 1) throw Error(ErrorCode::kBadInput, "a text is not one character");
  return value.front();
}

TableFormat format_of(const json& from) {
  TableFormat out{.delimiter = std::nullopt,
                  .header = from.at("header").get<bool>(),
                  .decimal = character(from.at("decimal")),
                  .trim = from.at("trim").get<bool>()};
  if (from.contains("delimiter")) out.delimiter = character(from.at("delimiter"));
  require_none(csv_options(out).check(), "table format", ErrorCode::kBadInput);
  return out;
}

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// No list of columns is longer than a table is wide: each is compared with others.
void check_sizes(const json& description) {
  const std::size_t most = CsvLimits{}.columns;
  const auto check = [&](const json& list) {
    if (list.is_array() && list.size() > most)
      throw Error(ErrorCode::kBadInput, fmt::format("it names more than {} columns", most));
  };
  const json& model = description.at("model");
  for (const json& list : model.at("schema")) check(list);
  for (const json& list : model.at("encoding")) check(list);
  check(model.at("encoding"));
  check(description.at("release").at("columns"));
  check(description.at("origin").at("columns"));
}

// Every released and kept column once, and nothing else.
void check_order(const TableModel& model, const std::vector<std::string>& order) {
  const std::vector<std::string> kept = model.schema().kept_columns();
  std::set<std::string> wanted(kept.begin(), kept.end());
  for (const std::int32_t column : model.released())
    wanted.insert(model.encoding().columns[static_cast<std::size_t>(column)].name);
  if (wanted != std::set<std::string>(order.begin(), order.end()) || wanted.size() != order.size())
    throw Error(ErrorCode::kBadInput, "the released columns are not those of the schema");
}

// Eigen keeps columns together, safetensors rows.
Tensor tensor_of(const Matrix<float>& matrix) {
  Tensor out{{matrix.rows(), matrix.cols()}, {}};
  std::vector<float> values(static_cast<std::size_t>(matrix.size()));
  for (Index r = 0; r < matrix.rows(); ++r) {
    for (Index c = 0; c < matrix.cols(); ++c)
      values[static_cast<std::size_t>(r * matrix.cols() + c)] = matrix(r, c);
  }
  out.values = std::move(values);
  return out;
}

Matrix<float> matrix_of(const std::string& name, const Tensor& tensor) {
  const auto* values = std::get_if<std::vector<float>>(&tensor.values);
  if (values == nullptr || tensor.shape.size() != 2)
    throw Error(ErrorCode::kBadInput, fmt::format("tensor '{}' is not an F32 matrix", name));
  Matrix<float> out(tensor.shape[0], tensor.shape[1]);
  for (Index r = 0; r < out.rows(); ++r) {
    for (Index c = 0; c < out.cols(); ++c)
      out(r, c) = (*values)[static_cast<std::size_t>(r * out.cols() + c)];
  }
  return out;
}

}  // namespace

TableFormat table_format(const CsvOptions& options) {
  return {.delimiter = options.delimiter,
          .header = options.header,
          .decimal = options.decimal,
          .trim = options.trim};
}

CsvOptions csv_options(const TableFormat& format) {
  CsvOptions options;
  options.delimiter = format.delimiter;
  options.header = format.header;
  options.decimal = format.decimal;
  options.trim = format.trim;
  return options;
}

std::vector<std::string> release_order(const Schema& schema, const std::vector<std::string>& names) {
  std::vector<std::string> order;
  const std::vector<std::string> kept = schema.kept_columns();
  for (const std::string& name : names) {
    if (listed(schema.useful, name) || listed(kept, name)) order.push_back(name);
  }
  return order;
}

ModelContainer to_container(const ReleaseModel& model) {
  const ModelParts parts = model.table.to_parts();
  ModelContainer out;
  out.metadata = {{"model", parts.description},
                  {"table", json_of(model.format)},
                  {"release", {{"unknown", to_string(model.unknown)}, {"columns", model.order}}},
                  {"origin", to_json(model.origin)}};
  if (model.audit) out.metadata["audit"] = to_json(*model.audit);
  for (const auto& [name, matrix] : parts.tensors) out.tensors.emplace(name, tensor_of(matrix));
  return out;
}

ReleaseModel from_container(const ModelContainer& container, std::string_view name) {
  const json::json_pointer kind("/model/kind");
  if (container.metadata.contains(kind) && container.metadata.at(kind) == "images") {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is a model of images, where one of a table is needed", name),
                "'ppan show' and 'ppan release' take it; it was attacked when its curve was made");
  }
  try {
    const json& from = container.metadata;
    check_sizes(from);
    ModelParts parts;
    parts.description = from.at("model");
    for (const auto& [key, tensor] : container.tensors) parts.tensors.emplace(key, matrix_of(key, tensor));
    const json& release = from.at("release");
    ReleaseModel out{.table = TableModel::from_parts(parts),
                     .format = format_of(from.at("table")),
                     .unknown = policy_of(release.at("unknown")),
                     .order = release.at("columns").get<std::vector<std::string>>(),
                     .origin = origin_from_json(from.at("origin")),
                     .audit = std::nullopt,
                     .checksum = container.checksum,
                     .signer = container.signer};
    if (from.contains("audit")) out.audit = audit_from_json(from.at("audit"));
    check_order(out.table, out.order);
    return out;
  } catch (const json::exception& error) {
    refuse(name, fmt::format("its description is not that of a table model ({})", error.what()));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    refuse(name, error.what());
  }
}

void save_model(const std::filesystem::path& path, const ReleaseModel& model, const SigningKey* key) {
  check_order(model.table, model.order);
  write_model(path, to_container(model), key);
}

ReleaseModel load_model(const std::filesystem::path& path) {
  return from_container(read_model(path), path.string());
}

ReleaseModel mix_models(const ReleaseModel& first, const ReleaseModel& second, double second_weight) {
  if (second_weight == 0) return first;
  if (second_weight == 1) return second;
  if (first.order != second.order || first.format != second.format)
    throw Error(ErrorCode::kUsage, "the two models release different tables", "mix points of one run");
  ReleaseModel out{.table = mix(first.table, second.table, second_weight),
                   .format = first.format,
                   .unknown = first.unknown,
                   .order = first.order,
                   .origin = {},
                   .audit = std::nullopt,
                   .checksum = {},
                   .signer = {}};
  out.origin = mix_origins(first.origin, second.origin, second_weight);
  return out;
}

std::string describe(const ReleaseModel& model, InformationUnit unit) {
  const Schema& schema = model.table.schema();
  const ModelOrigin& origin = model.origin;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<11}{}\n", name, printable(text));
  };
  const auto names = [](const std::vector<std::string>& columns) {
    return fmt::format("{}", fmt::join(columns, ", "));
  };
  line("model", origin.title.empty() ? origin.label : fmt::format("{}, {}", origin.title, origin.label));
  line("sensitive", schema.everything_observed ? std::string(kEverythingObserved) : names(schema.sensitive));
  line("surrogate", names(schema.surrogate));
  line("observed", names(schema.observed_columns()));
  line("useful", names(schema.useful));
  line("keep", names(schema.keep));
  if (!schema.task.empty())
    line("task", fmt::format("{} ({})", names(schema.task),
                             schema.task_kept ? "released unchanged" : "not released"));
  line("side", names(schema.side));
  line("releases", names(model.order));
  line("bad rows", std::string(to_string(model.unknown)));
  const std::vector<TableComponent>& components = model.table.components();
  for (std::size_t i = 0; i < components.size(); ++i)
    line("mechanism",
         fmt::format("{:.4g} % of the rows: {}", 100 * components[i].weight, component_text(model.table, i)));
  if (origin.budget) line("budget", fmt::format("{:.4g}", *origin.budget));
  if (origin.distortion) {
    line("distortion",
         fmt::format(
             "{:.4g} on held-out rows{}", *origin.distortion,
             origin.changed ? fmt::format("; {:.4g} % of the cells change", 100 * *origin.changed) : ""));
  }
  for (const ColumnChange& change : origin.columns) {
    line("", fmt::format("  {:<24} {:.4g} % of the cells change{}", change.name, 100 * change.changed,
                         change.numeric
                             ? fmt::format(", off by {:.3g} standard deviations (rms)", change.rms_error)
                             : ""));
  }
  for (const auto& [name, text] : origin_lines(origin, "rows", unit)) line(name, text);
  for (const auto& [name, text] : audit_lines(model.audit, "rows", unit)) line(name, text);
  line("checksum", model.checksum.empty() ? "" : "sha256 " + model.checksum);
  line("signed", model.signer.empty() ? "no" : "with the key " + model.signer);
  return out;
}

json to_json(const ReleaseModel& model) {
  json out = to_container(model).metadata;
  out["audited"] = model.audit.has_value();
  out["checksum"] = model.checksum;
  out["signer"] = model.signer;
  return out;
}

}  // namespace ppan
