#pragma once

// The inputs and outputs of a command must be different files, whatever their names.

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace ppan {

/// A path and what messages call it: {"--rejects", "rejected.csv"}. An empty path is none; "-" is standard
/// input among inputs and standard output among outputs.
struct NamedPath {
  std::string name;
  std::filesystem::path path;
};

/// Throws Error(kUsage) when an output is an input or another output. Files are compared, not names: existing
/// files by device and inode, so that other spellings, symbolic links and hard links are detected; files that
/// do not exist yet by their directory and name. Devices that store nothing (/dev/null, terminals) may be
/// used more than once. Throws Error(kIo) for an output whose path cannot be looked up.
void require_distinct(std::span<const NamedPath> inputs, std::span<const NamedPath> outputs);

/// `directory`/name for each of the names, as outputs called `name`.
std::vector<NamedPath> files_in(const std::string& name, const std::filesystem::path& directory,
                                std::span<const std::string> names);

}  // namespace ppan
