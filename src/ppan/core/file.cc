#include "ppan/core/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "ppan/core/error.h"

namespace ppan {
namespace {

[[noreturn]] void fail(std::string_view action, const std::filesystem::path& path, int error_number) {
  throw Error(ErrorCode::kIo, fmt::format("{} {}: {}", action, path.string(), std::strerror(error_number)));
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) fail("cannot read", path, EISDIR);
  std::ifstream in(path, std::ios::binary);
  if (!in) fail("cannot open", path, errno);
  std::ostringstream text;
  text << in.rdbuf();
  if (in.bad()) fail("cannot read", path, errno);
  return std::move(text).str();
}

void write_file(const std::filesystem::path& path, std::string_view contents) {
  // What is no file (/dev/null, a named pipe) must not be replaced by one.
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  const bool direct = std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
  std::filesystem::path target = path;
  if (!direct) target += fmt::format(".tmp{}", ::getpid());
  const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC);
  const int file = ::open(target.c_str(), flags, 0666);
  if (file < 0) fail("cannot write", path, errno);
  const auto remove_and_fail = [&](int error_number) {
    if (!direct) ::unlink(target.c_str());
    fail("cannot write", path, error_number);
  };
  const auto give_up = [&](int error_number) {
    ::close(file);
    remove_and_fail(error_number);
  };
  while (!contents.empty()) {
    const ssize_t written = ::write(file, contents.data(), contents.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up(errno);
    contents.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!direct && ::fsync(file) != 0 && errno != EINVAL) give_up(errno);
  if (::close(file) != 0) remove_and_fail(errno);
  if (!direct && ::rename(target.c_str(), path.c_str()) != 0) remove_and_fail(errno);
}

void make_output_directory(const std::filesystem::path& path, bool force) {
  std::error_code error;
  if (std::filesystem::exists(path, error) && !std::filesystem::is_directory(path, error)) {
    throw Error(ErrorCode::kUsage, fmt::format("{} exists and is not a directory", path.string()),
                "give another --out");
  }
  if (!force && std::filesystem::is_directory(path, error) && !std::filesystem::is_empty(path, error)) {
    throw Error(ErrorCode::kUsage, fmt::format("output directory {} is not empty", path.string()),
                "give another --out, or --force to write into it");
  }
  std::filesystem::create_directories(path, error);
  if (error) fail("cannot make directory", path, error.value());
}

}  // namespace ppan
