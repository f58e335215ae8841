#include "ppan/release/release_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using nlohmann::json;

[[noreturn]] void refuse(std::string_view name, std::string_view what) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is not a usable model file: {}", name, what),
              "fetch the file again, or train the model anew");
}

template <typename Value>
void put(json& to, const char* key, const std::optional<Value>& value) {
  if (value) to[key] = *value;
}

template <typename Value>
void take(const json& from, const char* key, std::optional<Value>& value) {
  if (from.contains(key)) value = from.at(key).get<Value>();
}

constexpr std::array kBounds{Bound::kLower, Bound::kUpper, Bound::kExact, Bound::kEstimate};
constexpr std::array kPolicies{UnknownRow::kFail, UnknownRow::kReject, UnknownRow::kNearest};

// The member of `all` whose name the text is.
template <typename Enum, std::size_t Count>
Enum by_name(const std::array<Enum, Count>& all, const json& text) {
  const auto name = text.get<std::string>();
  for (const Enum each : all) {
    if (to_string(each) == name) return each;
  }
  throw Error(ErrorCode::kBadInput, fmt::format("unknown word '{}'", name));
}

json json_of(const Estimate& estimate) {
  json out{{"nats", estimate.nats},
           {"kind", to_string(estimate.bound)},
           {"method", estimate.method},
           {"samples", estimate.samples}};
  if (estimate.interval95) {
    out["low"] = estimate.interval95->low;
    out["high"] = estimate.interval95->high;
  }
  return out;
}

Estimate estimate_of(const json& from) {
  Estimate out{.nats = from.at("nats").get<double>(),
               .interval95 = std::nullopt,
               .bound = by_name(kBounds, from.at("kind")),
               .method = from.at("method").get<std::string>(),
               .samples = from.at("samples").get<std::int64_t>()};
  if (from.contains("low"))
    out.interval95 = Interval{from.at("low").get<double>(), from.at("high").get<double>()};
  return out;
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

json json_of(const ColumnChange& change) {
  json out{{"name", change.name},
           {"numeric", change.numeric},
           {"weight", change.weight},
           {"changed", change.changed},
           {"distortion", change.distortion}};
  if (change.numeric) out["rms_error"] = change.rms_error;
  return out;
}

ColumnChange change_of(const json& from) {
  return {.name = from.at("name").get<std::string>(),
          .numeric = from.at("numeric").get<bool>(),
          .weight = from.at("weight").get<double>(),
          .changed = from.at("changed").get<double>(),
          .distortion = from.at("distortion").get<double>(),
          .rms_error = from.value("rms_error", 0.0)};
}

json json_of(const ModelOrigin& origin) {
  json out{{"program", origin.program},     {"title", origin.title},
           {"label", origin.label},         {"stop", origin.stop},
           {"epochs", origin.epochs},       {"iterations", origin.iterations},
           {"seed", origin.seed},           {"training_rows", origin.training_rows},
           {"test_rows", origin.test_rows}, {"data_sha256", origin.data_sha256},
           {"settings", json::object()}};
  put(out, "budget", origin.budget);
  put(out, "distortion", origin.distortion);
  put(out, "changed", origin.changed);
  if (origin.leakage) out["leakage"] = json_of(*origin.leakage);
  out["columns"] = json::array();
  for (const ColumnChange& change : origin.columns) out["columns"].push_back(json_of(change));
  for (const auto& [key, value] : origin.settings) out["settings"][key] = value;
  return out;
}

ModelOrigin origin_of(const json& from) {
  ModelOrigin out;
  out.program = from.at("program").get<std::string>();
  out.title = from.at("title").get<std::string>();
  out.label = from.at("label").get<std::string>();
  out.stop = from.at("stop").get<std::string>();
  out.epochs = from.at("epochs").get<int>();
  out.iterations = from.at("iterations").get<std::int64_t>();
  out.seed = from.at("seed").get<std::uint64_t>();
  out.training_rows = from.at("training_rows").get<std::int64_t>();
  out.test_rows = from.at("test_rows").get<std::int64_t>();
  out.data_sha256 = from.at("data_sha256").get<std::string>();
  take(from, "budget", out.budget);
  take(from, "distortion", out.distortion);
  take(from, "changed", out.changed);
  if (from.contains("leakage")) out.leakage = estimate_of(from.at("leakage"));
  for (const json& change : from.at("columns")) out.columns.push_back(change_of(change));
  for (const auto& [key, value] : from.at("settings").items())
    out.settings.emplace_back(key, value.get<std::string>());
  return out;
}

json json_of(const ModelAudit& audit) {
  json out{{"rows", audit.rows}, {"quick", audit.quick}, {"data_sha256", audit.data_sha256}};
  out["attributes"] = json::array();
  for (const AuditFinding& finding : audit.attributes) {
    json one{{"name", finding.name}, {"leakage", json_of(finding.leakage)}};
    put(one, "accuracy", finding.accuracy);
    put(one, "prior_accuracy", finding.prior_accuracy);
    out["attributes"].push_back(std::move(one));
  }
  return out;
}

ModelAudit audit_of(const json& from) {
  ModelAudit out;
  out.rows = from.at("rows").get<std::int64_t>();
  out.quick = from.at("quick").get<bool>();
  out.data_sha256 = from.at("data_sha256").get<std::string>();
  for (const json& one : from.at("attributes")) {
    AuditFinding finding;
    finding.name = one.at("name").get<std::string>();
    finding.leakage = estimate_of(one.at("leakage"));
    take(one, "accuracy", finding.accuracy);
    take(one, "prior_accuracy", finding.prior_accuracy);
    out.attributes.push_back(std::move(finding));
  }
  return out;
}

bool listed(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Every released and kept column once, and nothing else.
void check_order(const TableModel& model, const std::vector<std::string>& order) {
  std::set<std::string> wanted(model.schema().keep.begin(), model.schema().keep.end());
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

std::optional<double> between(const std::optional<double>& a, const std::optional<double>& b, double weight) {
  if (!a || !b) return std::nullopt;
  return *a + (*b - *a) * weight;
}

// What was measured of the two parts says of their mixture.
std::optional<Estimate> between(const std::optional<Estimate>& a, const std::optional<Estimate>& b,
                                double weight) {
  if (!a || !b) return std::nullopt;
  Estimate out = *a;
  out.nats = *between(std::optional(a->nats), std::optional(b->nats), weight);
  out.bound = Bound::kEstimate;
  out.method =
      "on the line between the two parts, which the mixture does not exceed; each part: " + a->method;
  out.samples = std::min(a->samples, b->samples);
  out.interval95.reset();
  if (a->interval95 && b->interval95) {
    out.interval95 = Interval{a->interval95->low + (b->interval95->low - a->interval95->low) * weight,
                              a->interval95->high + (b->interval95->high - a->interval95->high) * weight};
  }
  return out;
}

std::vector<ColumnChange> between(const std::vector<ColumnChange>& a, const std::vector<ColumnChange>& b,
                                  double weight) {
  if (a.size() != b.size()) return {};
  std::vector<ColumnChange> out = a;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (a[i].name != b[i].name) return {};
    out[i].changed += (b[i].changed - a[i].changed) * weight;
    out[i].distortion += (b[i].distortion - a[i].distortion) * weight;
    // Squared errors are what mixes.
    out[i].rms_error =
        std::sqrt(a[i].rms_error * a[i].rms_error * (1 - weight) + b[i].rms_error * b[i].rms_error * weight);
  }
  return out;
}

std::string shown(const Estimate& estimate, InformationUnit unit) {
  std::string out = fmt::format("{:.4f} {}", from_nats(estimate.nats, unit), to_string(unit));
  if (estimate.interval95) {
    out += fmt::format(" (95 % interval {:.4f} to {:.4f})", from_nats(estimate.interval95->low, unit),
                       from_nats(estimate.interval95->high, unit));
  }
  return out + fmt::format(", {}", to_string(estimate.bound));
}

std::string component_text(const TableComponent& component) {
  std::string text = component.label.empty() ? std::string(to_string(component.kind)) : component.label;
  if (component.kind != ComponentKind::kTrained) return text;
  text +=
      fmt::format(": {}, {} parameters", to_string(component.mechanism.kind), component.parameters.size());
  if (component.mechanism.kind == MechanismKind::kNoisyCode)
    text += fmt::format(", code of {} numbers within ±{:g}", component.mechanism.code,
                        component.mechanism.code_radius);
  return text;
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
  for (const std::string& name : names) {
    if (listed(schema.useful, name) || listed(schema.keep, name)) order.push_back(name);
  }
  return order;
}

ModelContainer to_container(const ReleaseModel& model) {
  const ModelParts parts = model.table.to_parts();
  ModelContainer out;
  out.metadata = {{"model", parts.description},
                  {"table", json_of(model.format)},
                  {"release", {{"unknown", to_string(model.unknown)}, {"columns", model.order}}},
                  {"origin", json_of(model.origin)}};
  if (model.audit) out.metadata["audit"] = json_of(*model.audit);
  for (const auto& [name, matrix] : parts.tensors) out.tensors.emplace(name, tensor_of(matrix));
  return out;
}

ReleaseModel from_container(const ModelContainer& container, std::string_view name) {
  try {
    const json& from = container.metadata;
    ModelParts parts;
    parts.description = from.at("model");
    for (const auto& [key, tensor] : container.tensors) parts.tensors.emplace(key, matrix_of(key, tensor));
    const json& release = from.at("release");
    ReleaseModel out{.table = TableModel::from_parts(parts),
                     .format = format_of(from.at("table")),
                     .unknown = by_name(kPolicies, release.at("unknown")),
                     .order = release.at("columns").get<std::vector<std::string>>(),
                     .origin = origin_of(from.at("origin")),
                     .audit = std::nullopt,
                     .checksum = container.checksum};
    if (from.contains("audit")) out.audit = audit_of(from.at("audit"));
    check_order(out.table, out.order);
    return out;
  } catch (const json::exception& error) {
    refuse(name, fmt::format("its description is not that of a table model ({})", error.what()));
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) throw;
    refuse(name, error.what());
  }
}

void save_model(const std::filesystem::path& path, const ReleaseModel& model) {
  check_order(model.table, model.order);
  write_model(path, to_container(model));
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
                   .origin = first.origin,
                   .audit = std::nullopt,
                   .checksum = {}};
  const ModelOrigin& a = first.origin;
  const ModelOrigin& b = second.origin;
  out.origin.label = fmt::format("mixture of {} ({:.4g} %) and {} ({:.4g} %)", a.label,
                                 100 * (1 - second_weight), b.label, 100 * second_weight);
  out.origin.budget = std::nullopt;
  out.origin.distortion = between(a.distortion, b.distortion, second_weight);
  out.origin.changed = between(a.changed, b.changed, second_weight);
  out.origin.columns = between(a.columns, b.columns, second_weight);
  out.origin.leakage = between(a.leakage, b.leakage, second_weight);
  out.origin.epochs = std::max(a.epochs, b.epochs);
  out.origin.iterations = std::max(a.iterations, b.iterations);
  if (a.stop != b.stop) out.origin.stop = fmt::format("{}; {}", a.stop, b.stop);
  return out;
}

std::string describe(const ReleaseModel& model, InformationUnit unit) {
  const Schema& schema = model.table.schema();
  const ModelOrigin& origin = model.origin;
  std::string out;
  const auto line = [&](std::string_view name, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<11}{}\n", name, text);
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
  line("side", names(schema.side));
  line("releases", names(model.order));
  line("bad rows", std::string(to_string(model.unknown)));
  for (const TableComponent& component : model.table.components())
    line("mechanism",
         fmt::format("{:.4g} % of the rows: {}", 100 * component.weight, component_text(component)));
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
  if (origin.leakage) {
    line("leakage", shown(*origin.leakage, unit));
    line("", "  " + origin.leakage->method);
  }
  if (origin.epochs > 0) {
    line("training", fmt::format("{} epochs, {} steps, {} rows, seed {}; {}", origin.epochs,
                                 origin.iterations, origin.training_rows, origin.seed, origin.stop));
  }
  line("program", origin.program);
  line("data", origin.data_sha256.empty() ? "" : "sha256 " + origin.data_sha256);
  if (model.audit) {
    line("audit", fmt::format("{} rows{}", model.audit->rows, model.audit->quick ? ", quick" : ""));
    for (const AuditFinding& finding : model.audit->attributes)
      line("", fmt::format("  {:<24} {}", finding.name, shown(finding.leakage, unit)));
  } else {
    line("audit", "UNAUDITED: 'ppan audit' attacks it with the whole suite");
  }
  line("checksum", model.checksum.empty() ? "" : "sha256 " + model.checksum);
  return out;
}

json to_json(const ReleaseModel& model) {
  json out = to_container(model).metadata;
  out["audited"] = model.audit.has_value();
  out["checksum"] = model.checksum;
  return out;
}

}  // namespace ppan
