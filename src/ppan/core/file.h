#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace ppan {

/// Whole contents of a file. Throws Error(kIo).
std::string read_file(const std::filesystem::path& path);

/// Writes to a temporary name in the same directory, flushes to disk and renames, so that `path` holds either
/// its old contents or all of the new; a device or pipe is written as it is. Throws Error(kIo), cleans up.
void write_file(const std::filesystem::path& path, std::string_view contents);

/// Makes `path` a directory to write a run into. An existing directory that is not empty is refused
/// (Error kUsage) unless `force`. Throws Error(kIo) if it cannot be made.
void make_output_directory(const std::filesystem::path& path, bool force);

}  // namespace ppan
