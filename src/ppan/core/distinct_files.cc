#include "ppan/core/distinct_files.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

using Inode = std::pair<dev_t, ino_t>;

std::optional<struct stat> status_of(const char* path) {
  struct stat status {};
  if (::stat(path, &status) != 0) return std::nullopt;
  return status;
}

/// What tells one file from another.
struct Identity {
  std::optional<Inode> file{};       ///< Where there is one that keeps what is written.
  std::optional<Inode> directory{};  ///< That it is in or would be in; none for standard streams.
  std::filesystem::path name{};
  bool standard = false;

  [[nodiscard]] bool same_as(const Identity& other) const {
    if (file && file == other.file) return true;
    return directory && directory == other.directory && name == other.name;
  }
};

void set_file(const struct stat& status, Identity& out) {
  // What is written to a terminal or to /dev/null meets nothing there; in a pipe it does.
  if (!S_ISCHR(status.st_mode)) out.file = Inode(status.st_dev, status.st_ino);
}

Identity identity_of(const NamedPath& named, int standard_stream) {
  Identity out;
  if (named.path == "-") {
    struct stat status {};
    if (::fstat(standard_stream, &status) == 0) set_file(status, out);
    out.standard = true;
    return out;
  }
  std::filesystem::path target = follow_links(named.path);
  if (const auto status = status_of(target.c_str())) {
    set_file(*status, out);
    if (S_ISCHR(status->st_mode)) return out;
  }
  if (!target.has_filename()) target = target.parent_path();
  out.name = target.filename();
  const std::filesystem::path parent = target.parent_path();
  if (const auto status = status_of(parent.empty() ? "." : parent.c_str()))
    out.directory = Inode(status->st_dev, status->st_ino);
  return out;
}

std::string text_of(const NamedPath& named) {
  return named.path.empty() ? named.name : fmt::format("{} {}", named.name, named.path.string());
}

}  // namespace

void require_distinct(std::span<const NamedPath> inputs, std::span<const NamedPath> outputs) {
  std::vector<std::pair<const NamedPath*, Identity>> read;
  for (const NamedPath& input : inputs) {
    if (input.path.empty()) continue;
    try {
      read.emplace_back(&input, identity_of(input, STDIN_FILENO));
    } catch (const Error&) {
      // An input that cannot be looked up is reported by whoever reads it.
    }
  }
  std::vector<std::pair<const NamedPath*, Identity>> written;
  for (const NamedPath& output : outputs) {
    if (output.path.empty()) continue;
    const Identity identity = identity_of(output, STDOUT_FILENO);
    for (const auto& [input, other] : read) {
      if (identity.same_as(other))
        throw Error(
            ErrorCode::kUsage,
            fmt::format("{} is also an input: {} would be overwritten", text_of(output), text_of(*input)),
            "give another file");
    }
    for (const auto& [before, other] : written) {
      if (identity.same_as(other) || (identity.standard && other.standard))
        throw Error(ErrorCode::kUsage,
                    fmt::format("{} and {} are the same place", text_of(*before), text_of(output)),
                    "give two files");
    }
    written.emplace_back(&output, identity);
  }
}

std::vector<NamedPath> files_in(const std::string& name, const std::filesystem::path& directory,
                                std::span<const std::string> names) {
  std::vector<NamedPath> out;
  for (const std::string& file : names) out.push_back({name, directory / file});
  return out;
}

}  // namespace ppan
