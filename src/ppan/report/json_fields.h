#pragma once

// Between value structs and JSON: absent values are left out, numbers that JSON cannot hold are written as
// strings, and every fault of the text becomes one Error that names the file. Private to this stage.

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/estimate.h"

namespace ppan::json_fields {

using Json = nlohmann::ordered_json;

inline Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? Json() : Json(value > 0 ? "inf" : "-inf");
}

inline double to_number(const Json& j) {
  if (j == "inf") return HUGE_VAL;
  if (j == "-inf") return -HUGE_VAL;
  return j.get<double>();
}

inline Json to_json(const Estimate& estimate) {
  Json j;
  j["nats"] = number(estimate.nats);
  if (estimate.interval95) {
    j["low"] = number(estimate.interval95->low);
    j["high"] = number(estimate.interval95->high);
  }
  j["kind"] = to_string(estimate.bound);
  j["method"] = estimate.method;
  if (estimate.samples > 0) j["samples"] = estimate.samples;
  return j;
}

inline Estimate estimate_from_json(const Json& j) {
  Estimate estimate;
  estimate.nats = to_number(j.at("nats"));
  if (j.contains("low") && j.contains("high")) {
    estimate.interval95 = Interval{to_number(j.at("low")), to_number(j.at("high"))};
  }
  const std::string kind = j.value("kind", "");
  for (const Bound bound : {Bound::kLower, Bound::kUpper, Bound::kExact}) {
    if (kind == to_string(bound)) estimate.bound = bound;
  }
  estimate.method = j.value("method", "method not stated");
  estimate.samples = j.value("samples", std::int64_t{0});
  return estimate;
}

inline void put(Json& j, const char* key, const std::optional<double>& value) {
  if (value && !std::isnan(*value)) j[key] = number(*value);
}
inline void put(Json& j, const char* key, const std::optional<std::string>& value) {
  if (value) j[key] = *value;
}
inline void put(Json& j, const char* key, const std::optional<Estimate>& value) {
  if (value) j[key] = to_json(*value);
}

inline void take(const Json& j, const char* key, std::optional<double>& value) {
  if (j.contains(key) && !j.at(key).is_null()) value = to_number(j.at(key));
}
inline void take(const Json& j, const char* key, std::optional<std::string>& value) {
  if (j.contains(key)) value = j.at(key).get<std::string>();
}
inline void take(const Json& j, const char* key, std::optional<Estimate>& value) {
  if (j.contains(key)) value = estimate_from_json(j.at(key));
}
template <typename T>
void take(const Json& j, const char* key, T& value) {
  if (j.contains(key)) value = j.at(key).get<T>();
}

/// The elements under `key`; nothing when there is no such key.
inline Json list(const Json& j, const char* key) {
  return j.contains(key) ? j.at(key) : Json::array();
}

/// Bytes that are not UTF-8 (a path typed on a command line) are replaced, not refused.
inline std::string dump(const Json& j, int indent) {
  return j.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Runs `read`, turning the parser's exceptions into Error(kBadInput) that name the file.
template <typename Read>
auto reading(const std::string& name, const Read& read) {
  try {
    return read();
  } catch (const Json::exception& fault) {
    throw Error(ErrorCode::kBadInput, name + " cannot be read: " + fault.what(),
                "the file was cut short or altered; make the run again");
  }
}

}  // namespace ppan::json_fields
