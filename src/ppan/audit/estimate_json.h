#pragma once

// Numbers as findings.json and `ppan audit --json` write them (docs/attack_model.md).

#include <nlohmann/json_fwd.hpp>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/estimate.h"

namespace ppan {

/// JSON has no NaN and no infinity: null stands for them.
nlohmann::ordered_json finite_json(double value);
nlohmann::ordered_json json_of(const Interval& interval);
nlohmann::ordered_json json_of(const Rate& rate);
nlohmann::ordered_json json_of(const Estimate& estimate);

}  // namespace ppan
