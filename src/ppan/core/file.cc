#include "ppan/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/temporary.h"

namespace ppan {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error_number) {
  throw Error(ErrorCode::kIo, fmt::format("{} {}: {}", action, path.string(), std::strerror(error_number)));
}

/// Closes a descriptor.
struct Closer {
  int descriptor;
  ~Closer() { ::close(descriptor); }
};

// A new file that replaces another takes over who may read and write it; never bits that lend rights.
void take_over_mode(int descriptor, const struct stat& old) {
  struct stat now {};
  if (::fstat(descriptor, &now) != 0) return;
  mode_t mode = old.st_mode & 0777U;
  if ((now.st_uid != old.st_uid || now.st_gid != old.st_gid) &&
      ::fchown(descriptor, old.st_uid, old.st_gid) != 0)
    mode &= 0707U;  // the rights of a group that it no longer belongs to would go to another
  ::fchmod(descriptor, mode);
}

std::string read_all(int descriptor, const std::filesystem::path& path, std::uint64_t most) {
  struct stat status {};
  std::string bytes;
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode)) {
    if (static_cast<std::uint64_t>(status.st_size) > most) fail("cannot read", path, EFBIG);
    bytes.reserve(static_cast<std::size_t>(status.st_size));
  }
  std::array<char, 1U << 16U> block;  // not cleared: read() says how much of it counts
  for (;;) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail("cannot read", path, errno);
    if (bytes.size() + static_cast<std::uint64_t>(got) > most) fail("cannot read", path, EFBIG);
    bytes.append(block.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail("cannot open", path, errno);
  const Closer closer{descriptor};
  return read_all(descriptor, path, most);
}

std::optional<std::string> read_regular_file(const std::filesystem::path& path, std::uint64_t most) {
  // Without O_NONBLOCK a named pipe would hold the program until somebody writes to it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) {
    const int why = errno;
    struct stat link {};
    // A link at the end of the path is no regular file; links that lead round in a circle on the way are an
    // error.
    const bool is_link = why == ELOOP && ::lstat(path.c_str(), &link) == 0;
    if (is_link || why == ENOENT || why == ENXIO || why == ENOTDIR) return std::nullopt;
    fail("cannot open", path, why);
  }
  const Closer closer{descriptor};
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::uint64_t>(status.st_size) > most)
    return std::nullopt;
  return read_all(descriptor, path, most);
}
std::filesystem::path follow_links(const std::filesystem::path& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::filesystem::path at = path;
  for (int links = 0; links <= kMostLinks; ++links) {
    struct stat status {};
    if (::lstat(at.c_str(), &status) != 0) {
      if (errno == ENOENT) return at;
      fail("cannot use", path, errno);
    }
    if (!S_ISLNK(status.st_mode)) return at;
    std::error_code error;
    const std::filesystem::path to = std::filesystem::read_symlink(at, error);
    if (error) fail("cannot use", path, error.value());
    // A link of /proc leads to something open that may have no name (a pipe, a deleted file).
    if (::stat(at.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return at;
    at = to.is_absolute() ? to : at.parent_path() / to;
  }
  fail("cannot use", path, ELOOP);
}

OutputFile::OutputFile(std::filesystem::path path, Access access, Links links) : path_(std::move(path)) {
  const std::filesystem::path target = links == Links::kFollow ? follow_links(path_) : path_;
  struct stat old {};
  const bool link = links == Links::kReplace && ::lstat(target.c_str(), &old) == 0 && S_ISLNK(old.st_mode);
  const bool there = !link && ::stat(target.c_str(), &old) == 0;
  // What is no file (/dev/null, a named pipe) must not be replaced by one.
  if (there && !S_ISREG(old.st_mode)) {
    direct_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (direct_ < 0) fail("cannot write", path_, errno);
    return;
  }
  target_name_ = target.filename().string();
  if (target_name_.empty()) fail("cannot write", path_, path_.empty() ? ENOENT : EISDIR);
  const mode_t mode = there || access == Access::kPrivate ? 0600 : 0666;
  try {
    temporary_ = std::make_unique<Temporary>(target.parent_path(), Temporary::Kind::kFile, mode);
  } catch (const std::system_error& error) {
    fail("cannot write", path_, error.code().value());
  }
  if (there) take_over_mode(temporary_->descriptor(), old);
}

OutputFile::~OutputFile() {
  if (direct_ >= 0) ::close(direct_);
}

void OutputFile::write(std::string_view bytes) {
  const int descriptor = temporary_ ? temporary_->descriptor() : direct_;
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("cannot write", path_, errno);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutputFile::finish() {
  if (!temporary_) {
    if (::close(std::exchange(direct_, -1)) != 0) fail("cannot write", path_, errno);
    return;
  }
  if (const int error_number = temporary_->replace(target_name_)) fail("cannot write", path_, error_number);
  temporary_.reset();
}

void write_file(const std::filesystem::path& path, std::string_view contents, Access access, Links links) {
  OutputFile file(path, access, links);
  file.write(contents);
  file.finish();
}

void make_output_directory(const std::filesystem::path& path, bool force) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::none) fail("cannot use", path, error.value());
  if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
    throw Error(ErrorCode::kUsage, fmt::format("{} exists and is not a directory", path.string()),
                "give another --out");
  }
  if (!force && std::filesystem::is_directory(status)) {
    const std::filesystem::directory_iterator entries(path, error);
    if (error) fail("cannot read", path, error.value());
    const bool empty =
        std::all_of(begin(entries), end(entries), [](const std::filesystem::directory_entry& entry) {
          return is_temporary_name(entry.path().filename().c_str());  // left by a process that was killed
        });
    if (!empty)
      throw Error(ErrorCode::kUsage, fmt::format("output directory {} is not empty", path.string()),
                  "give another --out, or --force to write into it");
  }
  std::filesystem::create_directories(path, error);
  if (error) fail("cannot make directory", path, error.value());
}

}  // namespace ppan
