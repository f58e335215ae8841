#pragma once

// The schema as it is stored in a model file.

#include <nlohmann/json_fwd.hpp>

#include "ppan/read/schema.h"
#include "ppan/source/number.h"

namespace ppan {

nlohmann::json to_json(const Schema& schema);
/// Throws Error(kBadInput) unless `json` is what to_json writes.
Schema schema_from_json(const nlohmann::json& json);

nlohmann::json to_json(const NumberFormat& format);
NumberFormat number_format_from_json(const nlohmann::json& json);

}  // namespace ppan
