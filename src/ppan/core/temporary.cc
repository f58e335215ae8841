#include "ppan/core/temporary.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>
#include <utility>

namespace ppan {
namespace {

// Short, so that any target with a name of legal length can have one beside it.
constexpr std::string_view kPrefix = ".ppan-";
constexpr std::string_view kSuffix = ".tmp";
constexpr std::size_t kDigits = 32;
constexpr std::size_t kNameLength = kPrefix.size() + kDigits + kSuffix.size();

std::string random_name() {
  std::array<unsigned char, kDigits / 2> bytes{};
  for (std::size_t have = 0; have < bytes.size();) {
    const ssize_t got = ::getrandom(bytes.data() + have, bytes.size() - have, 0);
    if (got < 0 && errno != EINTR) throw std::system_error(errno, std::generic_category());
    if (got > 0) have += static_cast<std::size_t>(got);
  }
  std::string name(kPrefix);
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name.append(kSuffix);
}

/// What a signal handler can find without a lock.
struct Slot {
  enum : int { kFree, kTaken, kReady };
  std::atomic<int> state{kFree};
  int directory = -1;
  bool is_directory = false;
  std::array<char, kNameLength + 1> name{};
};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use only lock-free atomics");
std::array<Slot, 64> slots;

// -1 when all are taken; then only a signal leaves the file behind, for the next process to remove.
int take_slot(int directory, const std::string& name, bool is_directory) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    int expected = Slot::kFree;
    if (!slots[i].state.compare_exchange_strong(expected, Slot::kTaken)) continue;
    slots[i].directory = directory;
    slots[i].is_directory = is_directory;
    std::copy_n(name.c_str(), name.size() + 1, slots[i].name.begin());
    slots[i].state.store(Slot::kReady);
    return static_cast<int>(i);
  }
  return -1;
}

void free_slot(int slot) {
  if (slot >= 0) slots[static_cast<std::size_t>(slot)].state.store(Slot::kFree);
}

// Removes the files of a directory that holds no directories. Async-signal-safe, which readdir() is not.
void remove_contents(int parent, const char* name) {
  const int directory = ::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (directory < 0) return;
  alignas(dirent64) std::array<char, 8192> block;
  // Removing shifts what follows, so the directory is listed again until nothing in it can be removed.
  for (bool removed = true; removed && ::lseek(directory, 0, SEEK_SET) == 0;) {
    removed = false;
    for (long bytes = 0; (bytes = ::syscall(SYS_getdents64, directory, block.data(), block.size())) > 0;) {
      for (long at = 0; at < bytes;) {
        const auto* entry = reinterpret_cast<const dirent64*>(block.data() + at);
        removed = ::unlinkat(directory, entry->d_name, 0) == 0 || removed;  // fails for "." and ".."
        at += entry->d_reclen;
      }
    }
  }
  ::close(directory);
}

void remove_entry(int parent, const char* name, bool is_directory) {
  if (!is_directory) {
    ::unlinkat(parent, name, 0);
    return;
  }
  remove_contents(parent, name);
  ::unlinkat(parent, name, AT_REMOVEDIR);
}

// The lock of a process that was killed is gone with it, whatever its number was and wherever it ran.
void remove_if_abandoned(int directory, const char* name) {
  const int file = ::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  const bool ours = ::fstat(file, &status) == 0 && status.st_uid == ::geteuid() &&
                    (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
  if (ours && ::flock(file, LOCK_EX | LOCK_NB) == 0) remove_entry(directory, name, S_ISDIR(status.st_mode));
  ::close(file);
}

void remove_abandoned(int directory) {
  const int copy = ::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const list = copy < 0 ? nullptr : ::fdopendir(copy);
  if (list == nullptr) {
    if (copy >= 0) ::close(copy);
    return;
  }
  while (const dirent* entry = ::readdir(list)) {
    if (is_temporary_name(entry->d_name)) remove_if_abandoned(directory, entry->d_name);
  }
  ::closedir(list);
}

int flush(int descriptor) {
  // Some file systems cannot flush, and a directory that may be entered but not listed is open for no more.
  if (::fsync(descriptor) == 0 || errno == EINVAL || errno == EBADF || errno == ENOTSUP) return 0;
  return errno;
}

}  // namespace

bool is_temporary_name(const char* name) {
  const std::string_view text(name);
  if (text.size() != kNameLength || !text.starts_with(kPrefix) || !text.ends_with(kSuffix)) return false;
  const std::string_view digits = text.substr(kPrefix.size(), kDigits);
  return digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Temporary::Temporary(const std::filesystem::path& directory, Kind kind, mode_t mode)
    : directory_(directory.empty() ? std::filesystem::path(".") : directory), kind_(kind) {
  directory_descriptor_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_descriptor_ < 0 && errno == EACCES)
    directory_descriptor_ = ::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory_descriptor_ < 0) throw std::system_error(errno, std::generic_category());
  remove_abandoned(directory_descriptor_);
  int error_number = 0;
  try {
    constexpr int kAttempts = 100;  // each failing only where another process removed a file before its lock
    for (int attempt = 0; attempt < kAttempts && !there_ && error_number == 0; ++attempt)
      error_number = create(mode);
  } catch (...) {
    remove();
    throw;
  }
  if (there_) return;
  remove();
  throw std::system_error(error_number != 0 ? error_number : EEXIST, std::generic_category());
}

// The errno of what failed, or 0; there_ says whether there is a file now.
int Temporary::create(mode_t mode) {
  name_ = random_name();
  const bool is_directory = kind_ == Kind::kDirectory;
  slot_ = take_slot(directory_descriptor_, name_, is_directory);
  if (is_directory && ::mkdirat(directory_descriptor_, name_.c_str(), mode) != 0) return errno;
  const int flags =
      O_NOFOLLOW | O_CLOEXEC | (is_directory ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL);
  descriptor_ = ::openat(directory_descriptor_, name_.c_str(), flags, mode);
  if (descriptor_ < 0) return errno;
  there_ = true;
  // Between making a file and locking it, another process may look whether it is abandoned: it then has the
  // lock and is about to remove the file, if it has not done so yet. Without locks in the file system nobody
  // looks.
  const bool looked_at = ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat status {};
  if (!looked_at && ::fstat(descriptor_, &status) == 0 && status.st_nlink > 0) return 0;
  remove_entry(directory_descriptor_, name_.c_str(), is_directory);
  there_ = false;
  ::close(std::exchange(descriptor_, -1));
  free_slot(std::exchange(slot_, -1));
  return 0;
}

Temporary::~Temporary() {
  remove();
}

void Temporary::remove() noexcept {
  if (there_) remove_entry(directory_descriptor_, name_.c_str(), kind_ == Kind::kDirectory);
  there_ = false;
  free_slot(std::exchange(slot_, -1));
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
  if (directory_descriptor_ >= 0) ::close(std::exchange(directory_descriptor_, -1));
}

int Temporary::replace(const std::string& name) {
  if (const int error_number = flush(descriptor_)) return error_number;
  if (::renameat(directory_descriptor_, name_.c_str(), directory_descriptor_, name.c_str()) == 0) {
    there_ = false;
    free_slot(std::exchange(slot_, -1));
    return flush(directory_descriptor_);
  }
  if (kind_ != Kind::kDirectory || (errno != ENOTEMPTY && errno != EEXIST)) return errno;
  // A directory with files is not replaced, but two can change places: then the old one is removed instead.
  if (::renameat2(directory_descriptor_, name_.c_str(), directory_descriptor_, name.c_str(),
                  RENAME_EXCHANGE) != 0)
    return errno;
  return flush(directory_descriptor_);
}

void remove_temporaries() noexcept {
  const int saved_errno = errno;
  for (Slot& slot : slots) {
    if (slot.state.load() == Slot::kReady) remove_entry(slot.directory, slot.name.data(), slot.is_directory);
  }
  errno = saved_errno;
}

}  // namespace ppan
