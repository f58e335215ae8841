#pragma once

// What the model files of a run directory are called.

#include <string>

namespace ppan {

/// "point-07.ppan".
std::string model_name(int point);
/// "redrawn-02.ppan", from 1.
std::string redrawn_name(int number);
inline constexpr const char* kUnchangedModel = "unchanged.ppan";
inline constexpr const char* kConstantModel = "constant.ppan";
inline constexpr const char* kIndependentModel = "independent.ppan";

}  // namespace ppan
