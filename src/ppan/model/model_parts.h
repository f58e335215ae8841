#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "ppan/core/matrix.h"

namespace ppan {

/// The parts of a model for storage: a JSON description and named arrays. They are sufficient to rebuild it.
struct ModelParts {
  nlohmann::json description = nlohmann::json::object();
  std::map<std::string, Matrix<float>> tensors{};
};

}  // namespace ppan
