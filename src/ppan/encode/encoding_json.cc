#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ppan/core/error.h"
#include "ppan/encode/encoding.h"
#include "ppan/read/schema_json.h"

namespace ppan {

using nlohmann::json;

json to_json(const Encoding& encoding) {
  json columns = json::array();
  for (const ColumnEncoding& c : encoding.columns) {
    json column{{"name", c.name},
                {"type", to_string(c.type)},
                {"weight", c.weight},
                {"missing", c.missing},
                {"missing_text", c.missing_text}};
    if (c.numeric()) {
      column["may_be_missing"] = c.may_be_missing;
      column["knot"] = c.knot;
      column["score"] = c.score;
      column["mean"] = c.mean;
      column["scale"] = c.scale;
      column["least"] = c.least;
      column["most"] = c.most;
      if (c.grid > 0) column["grid"] = c.grid;
      column["format"] = to_json(c.format);
    } else {
      column["levels"] = c.levels;
      column["share"] = c.share;
      if (c.other_level) column["other_level"] = *c.other_level;
      if (c.missing_level) column["missing_level"] = *c.missing_level;
    }
    if (!c.derived_from.empty()) {
      column["derived"] = {{"from", c.derived_from}, {"value", c.derived_value}, {"code", c.derived_code}};
      if (!c.derived_at.empty()) column["derived"]["at"] = c.derived_at;
    }
    columns.push_back(std::move(column));
  }
  return {{"columns", std::move(columns)}};
}

Encoding encoding_from_json(const json& in) {
  Encoding encoding;
  try {
    for (const json& column : in.at("columns")) {
      ColumnEncoding c;
      c.name = column.at("name").get<std::string>();
      const auto type = column_type(column.at("type").get<std::string>());
      if (!type)
        throw Error(ErrorCode::kBadInput, fmt::format("encoding: column '{}' has an unknown type", c.name));
      c.type = *type;
      c.weight = column.at("weight").get<double>();
      c.missing = column.at("missing").get<std::vector<std::string>>();
      c.missing_text = column.at("missing_text").get<std::string>();
      if (c.numeric()) {
        c.may_be_missing = column.at("may_be_missing").get<bool>();
        c.knot = column.at("knot").get<std::vector<double>>();
        c.score = column.at("score").get<std::vector<double>>();
        c.mean = column.at("mean").get<double>();
        c.scale = column.at("scale").get<double>();
        c.least = column.at("least").get<double>();
        c.most = column.at("most").get<double>();
        if (column.contains("grid")) c.grid = column.at("grid").get<double>();
        c.format = number_format_from_json(column.at("format"));
      } else {
        c.levels = column.at("levels").get<std::vector<std::string>>();
        c.share = column.at("share").get<std::vector<double>>();
        if (column.contains("other_level")) c.other_level = column.at("other_level").get<std::int32_t>();
        if (column.contains("missing_level"))
          c.missing_level = column.at("missing_level").get<std::int32_t>();
      }
      if (column.contains("derived")) {
        const json& derived = column.at("derived");
        c.derived_from = derived.at("from").get<std::string>();
        c.derived_value = derived.at("value").get<std::vector<double>>();
        c.derived_code = derived.at("code").get<Symbols>();
        if (derived.contains("at")) c.derived_at = derived.at("at").get<std::vector<double>>();
      }
      encoding.columns.push_back(std::move(c));
    }
  } catch (const json::exception& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("encoding cannot be read: {}", error.what()));
  }
  require_none(encoding.check(), "encoding", ErrorCode::kBadInput);
  return encoding;
}

}  // namespace ppan
