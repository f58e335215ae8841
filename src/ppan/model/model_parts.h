#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ppan/core/matrix.h"

namespace ppan {

/// A model taken apart for storage: a description that is JSON, and arrays by name. Nothing else is needed to
/// put it together again.
struct ModelParts {
  nlohmann::json description = nlohmann::json::object();
  std::map<std::string, Matrix<float>> tensors{};
};

}  // namespace ppan
