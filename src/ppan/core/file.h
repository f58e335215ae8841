#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ppan {

class Temporary;

/// The whole contents of a file, which may be a pipe. Throws Error(kIo), also for a file of more than `most`
/// bytes.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// The same for an untrusted path: nothing unless it is a regular file, not a link to one, and has at most
/// `most` bytes. Throws Error(kIo) for a file that cannot be read.
std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                             std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Who may read a new file. A file that is replaced keeps its mode.
enum class Access {
  kShared,   ///< According to the umask.
  kPrivate,  ///< Only its owner: models and original rows.
};

/// What happens if the target is a symbolic link.
enum class Links {
  kFollow,   ///< The file it points to is replaced.
  kReplace,  ///< The link itself is replaced.
};

/// A file under construction. The target keeps its old contents until finish() and holds all of the new ones
/// after it, whatever happens between; without finish() nothing is left behind. Devices and pipes are written
/// to directly. Throws Error(kIo), naming the path.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, Access access = Access::kShared,
                      Links links = Links::kFollow);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  /// Makes the written contents permanent. Call once, last.
  void finish();

 private:
  std::filesystem::path path_;
  std::string target_name_;               // in the directory of temporary_
  std::unique_ptr<Temporary> temporary_;  // none when writing directly
  int direct_ = -1;
};

/// All or nothing, as OutputFile.
void write_file(const std::filesystem::path& path, std::string_view contents, Access access = Access::kShared,
                Links links = Links::kFollow);

/// Where a write to `path` ends up: symbolic links of its last component followed, whether or not the end
/// exists. Throws Error(kIo) for a path that cannot be resolved, such as a loop of links.
std::filesystem::path follow_links(const std::filesystem::path& path);

/// Creates the directory `path` for the output of a run. An existing directory that is not empty is rejected
/// (Error kUsage) unless `force`. Throws Error(kIo) if it cannot be created.
void make_output_directory(const std::filesystem::path& path, bool force);

}  // namespace ppan
