#pragma once

// Files and directories that exist only until they take the place of another: under a random name in the
// same directory, held by a lock that ends with the process, and removed by whatever ends the work.

#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <string>

namespace ppan {

/// A new file or directory beside what it will replace. Its name cannot be foreseen, and nothing that is
/// there already is opened or followed (O_EXCL, O_NOFOLLOW). The destructor removes it unless replace() was
/// called. What processes that were killed left in the directory is removed on the way.
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
  int slot_ = -1;  // in the list of what a signal has to remove
  bool there_ = false;
};

/// Removes the temporary files and directories of this process; for a signal handler that is about to end
/// it. Async-signal-safe.
void remove_temporaries() noexcept;

/// Whether a file of this name is one of ours.
bool is_temporary_name(const char* name);

}  // namespace ppan
