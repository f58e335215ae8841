#pragma once

// Temporary files and directories that later replace another: created under a random name in the same
// directory, locked until the process ends, and removed if the work fails.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>

namespace ppan {

/// A new file or directory beside the one it will replace. Its name is unpredictable, and existing files and
/// links are neither opened nor followed (O_EXCL, O_NOFOLLOW). The destructor removes it unless replace() was
/// called. The constructor also removes temporaries that killed processes left in the directory.
class Temporary {
 public:
  enum class Kind { kFile, kDirectory };

  /// `mode` is subject to the umask. Throws std::system_error.
  Temporary(const std::filesystem::path& directory, Kind kind, mode_t mode);
  ~Temporary();
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  /// Of a file: open for writing.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::filesystem::path path() const { return directory_ / name_; }

  /// Flushes it to disk, gives it the name `name` in its directory, in place of a file (or a directory of
  /// files) that has it, and flushes the directory. 0, or the errno of what failed; then the destructor still
  /// removes it.
  [[nodiscard]] int replace(const std::string& name);

 private:
  [[nodiscard]] int create(mode_t mode);
  void remove() noexcept;

  std::filesystem::path directory_;
  Kind kind_;
  std::string name_;
  int directory_descriptor_ = -1;
  int descriptor_ = -1;
  int slot_ = -1;  // in the list of temporaries that a signal handler removes
  bool there_ = false;
};

/// Removes the temporary files and directories of this process; for a signal handler that is about to end
/// it. Async-signal-safe.
void remove_temporaries() noexcept;

/// Whether this is the name of a temporary file of this library.
bool is_temporary_name(const char* name);

}  // namespace ppan
