#pragma once

// Which files of a directory belong to a run, so that a new run removes no others and none of its own inputs.

#include <filesystem>
#include <span>
#include <string_view>

#include "ppan/core/distinct_files.h"

namespace ppan {

/// Whether `ppan curve` writes files of this name, or `ppan audit --save` next to them.
bool is_run_file(std::string_view name);

/// Whether an earlier run left files in the directory.
bool holds_run(const std::filesystem::path& directory);

/// Removes them and nothing else, so that the files of two runs are never mixed.
void remove_old_run(const std::filesystem::path& directory);

/// Throws Error(kUsage) if a run in `directory`, the --out of a command, would replace or remove one of
/// `inputs`.
void protect_inputs(const std::filesystem::path& directory, std::span<const NamedPath> inputs);

}  // namespace ppan
