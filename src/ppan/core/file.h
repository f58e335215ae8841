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

/// Whole contents of a file, which may be a pipe. Throws Error(kIo), for a file of more than `most` bytes
/// too.
std::string read_file(const std::filesystem::path& path,
                      std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// The same for a path that others may have prepared: nothing unless it is itself a regular file, not a link
/// to one, and at most `most` bytes long. Throws Error(kIo) for a file that cannot be read.
std::optional<std::string> read_regular_file(const std::filesystem::path& path,
                                             std::uint64_t most = std::numeric_limits<std::uint64_t>::max());

/// Who may read a file that was not there before. One that is replaced keeps its mode.
enum class Access {
  kShared,   ///< As the umask says.
  kPrivate,  ///< Its owner alone: models, and rows as they came.
};

/// What becomes of a symbolic link that has the name of the target.
enum class Links {
  kFollow,   ///< What it leads to is replaced, the link stays.
  kReplace,  ///< The link itself is replaced.
};

/// A file under construction. The target keeps its old contents until finish() and holds all of the new ones
/// after it, whatever happens between; without finish() nothing is left behind. A device or pipe is written
/// to as it is. Throws Error(kIo), naming the path.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path, Access access = Access::kShared,
                      Links links = Links::kFollow);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(std::string_view bytes);
  /// Makes what was written permanent. Call once, last.
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
/// exists. Throws Error(kIo) for a path that cannot be looked up, a loop of links among them.
std::filesystem::path follow_links(const std::filesystem::path& path);

/// Makes `path` a directory to write a run into. An existing directory that is not empty is refused
/// (Error kUsage) unless `force`. Throws Error(kIo) if it cannot be made.
void make_output_directory(const std::filesystem::path& path, bool force);

}  // namespace ppan
