#pragma once

// The run directory of a study. docs/run_directory.md says what each file holds.

#include <filesystem>
#include <string>

#include "ppan/paper/study.h"

namespace ppan {

/// Returns the curve without the optimum, for the terminal. `command` is the command line that reproduces the
/// numbers.
CurveTable write_study(const Study& study, const std::filesystem::path& directory, const std::string& command,
                       const std::string& version);

}  // namespace ppan
