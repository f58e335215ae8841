#include "ppan/read/schema_json.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ppan {
namespace {

using nlohmann::json;

constexpr const char* kDateForm = "date";
constexpr const char* kTimestampForm = "timestamp";

// Any failure to read the JSON is a damaged or foreign file; says what was being read.
template <typename Read>
auto reading(std::string_view what, Read read) {
  try {
    return read();
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} cannot be read: {}", what, error.what()));
  }
}

}  // namespace

json to_json(const NumberFormat& format) {
  json out{{"fixed", format.fixed}, {"mark", std::string(1, format.mark)}};
  if (format.decimals) out["decimals"] = *format.decimals;
  if (format.form != NumberForm::kNumber)
    out["form"] = format.form == NumberForm::kDate ? kDateForm : kTimestampForm;
  return out;
}

NumberFormat number_format_from_json(const json& in) {
  return reading("number format", [&] {
    NumberFormat format;
    format.fixed = in.at("fixed").get<bool>();
    const auto mark = in.at("mark").get<std::string>();
    if (in.contains("decimals")) format.decimals = in.at("decimals").get<int>();
    if ((mark != "." && mark != ",") ||
        (format.decimals && (*format.decimals < 0 || *format.decimals > kMostDecimals)))
      throw Error(ErrorCode::kBadInput, "number format is out of range");
    format.mark = mark[0];
    if (in.contains("form")) {
      const auto form = in.at("form").get<std::string>();
      if (form != kDateForm && form != kTimestampForm)
        throw Error(ErrorCode::kBadInput, "number format has an unknown form");
      format.form = form == kDateForm ? NumberForm::kDate : NumberForm::kTimestamp;
    }
    return format;
  });
}

json to_json(const Schema& schema) {
  json columns = json::array();
  for (const ColumnSpec& c : schema.columns) {
    json column{{"name", c.name},
                {"type", to_string(c.type)},
                {"encoding", to_string(c.encoding)},
                {"weight", c.weight},
                {"missing", c.missing}};
    if (c.max_levels) column["max_levels"] = *c.max_levels;
    if (c.grid) column["grid"] = *c.grid;
    if (!c.range.empty()) column["range"] = c.range;
    if (!c.derived_from.empty()) column["derived_from"] = c.derived_from;
    columns.push_back(std::move(column));
  }
  json out{{"columns", std::move(columns)},
           {"sensitive", schema.sensitive},
           {"everything_observed", schema.everything_observed},
           {"useful", schema.useful},
           {"observed", schema.observed},
           {"keep", schema.keep},
           {"side", schema.side},
           {"surrogate", schema.surrogate}};
  if (schema.group) out["group"] = *schema.group;
  if (!schema.constraints.empty()) out["constraints"] = schema.constraints;
  if (!schema.task.empty()) {
    out["task"] = schema.task;
    out["task_kept"] = schema.task_kept;
  }
  return out;
}

Schema schema_from_json(const json& in) {
  Schema schema = reading("schema", [&] {
    Schema s;
    for (const json& column : in.at("columns")) {
      ColumnSpec c;
      c.name = column.at("name").get<std::string>();
      const auto type = column_type(column.at("type").get<std::string>());
      const auto encoding = numeric_encoding(column.at("encoding").get<std::string>());
      if (!type || !encoding)
        throw Error(ErrorCode::kBadInput,
                    fmt::format("schema: column '{}' has an unknown type or encoding", c.name));
      c.type = *type;
      c.encoding = *encoding;
      c.weight = column.at("weight").get<double>();
      c.missing = column.at("missing").get<std::vector<std::string>>();
      if (column.contains("max_levels")) c.max_levels = column.at("max_levels").get<std::int64_t>();
      if (column.contains("grid")) c.grid = column.at("grid").get<double>();
      if (column.contains("range")) c.range = column.at("range").get<std::vector<double>>();
      if (column.contains("derived_from")) c.derived_from = column.at("derived_from").get<std::string>();
      s.columns.push_back(std::move(c));
    }
    const auto names = [&](const char* role) { return in.at(role).get<std::vector<std::string>>(); };
    s.sensitive = names("sensitive");
    s.everything_observed = in.at("everything_observed").get<bool>();
    s.useful = names("useful");
    s.observed = names("observed");
    s.keep = names("keep");
    s.side = names("side");
    s.surrogate = names("surrogate");
    if (in.contains("constraints")) s.constraints = names("constraints");
    if (in.contains("task")) {
      s.task = names("task");
      s.task_kept = in.at("task_kept").get<bool>();
    }
    if (in.contains("group")) s.group = in.at("group").get<std::string>();
    return s;
  });
  require_none(schema.check(), "schema", ErrorCode::kBadInput);
  return schema;
}

}  // namespace ppan
