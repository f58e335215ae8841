#include "ppan/audit/estimate_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace ppan {

using Json = nlohmann::ordered_json;

Json finite_json(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json json_of(const Interval& interval) {
  return Json::array({finite_json(interval.low), finite_json(interval.high)});
}

Json json_of(const Rate& rate) {
  return {{"value", finite_json(rate.value)}, {"interval95", json_of(rate.interval95)}};
}

Json json_of(const Estimate& estimate) {
  return {{"nats", finite_json(estimate.nats)},
          {"interval95", estimate.interval95 ? json_of(*estimate.interval95) : Json(nullptr)},
          {"bound", to_string(estimate.bound)},
          {"method", estimate.method},
          {"samples", estimate.samples}};
}

}  // namespace ppan
