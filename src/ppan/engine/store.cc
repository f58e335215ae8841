#include "ppan/engine/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "ppan/core/archive.h"
#include "ppan/core/crypto.h"
#include "ppan/core/error.h"
#include "ppan/core/file.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "ppan piece 1\n";
constexpr std::string_view kSuffix = ".piece";
constexpr std::string_view kLockSuffix = ".lock";
constexpr std::string_view kPart = ".part";
constexpr std::size_t kDigest = 64;

[[noreturn]] void damaged(const std::string& where) {
  throw Error(ErrorCode::kBadInput, fmt::format("{} is damaged or is not a piece of a run", where),
              "remove this file; --resume makes it again");
}

bool is_ours(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(kSuffix) || name.ends_with(kLockSuffix) || name.starts_with(".ppan-");
}

}  // namespace

// magic, SHA-256 of the rest, fingerprint, name, bytes
std::string seal_piece(std::string_view name, std::string_view fingerprint, std::string_view bytes) {
  ByteWriter writer;
  writer(std::string(fingerprint), std::string(name), std::string(bytes));
  const std::string rest = writer.take();
  std::string out(kMagic);
  out += sha256(rest);
  out += rest;
  return out;
}

std::string open_piece(std::string_view sealed, std::string_view name, std::string_view fingerprint,
                       const std::string& where) {
  if (!sealed.starts_with(kMagic) || sealed.size() < kMagic.size() + kDigest) damaged(where);
  sealed.remove_prefix(kMagic.size());
  const std::string_view rest = sealed.substr(kDigest);
  if (sha256(rest) != sealed.substr(0, kDigest)) damaged(where);
  std::string its_fingerprint;
  std::string its_name;
  std::string bytes;
  ByteReader reader(rest);
  reader(its_fingerprint, its_name, bytes);
  reader.finish();
  if (its_fingerprint != fingerprint) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("{} belongs to a run of another job, other data or another version of ppan", where),
        "give the job, options and data of the existing run, another --out, or --force to start again");
  }
  if (its_name != name) damaged(where);
  return bytes;
}

Store::Store(fs::path directory, std::string fingerprint)
    : directory_(std::move(directory)), fingerprint_(std::move(fingerprint)) {
  std::error_code error;
  fs::create_directories(directory_, error);
  if (!error) fs::permissions(directory_, fs::perms::owner_all, error);
  if (!error) descriptor_ = ::open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (error || descriptor_ < 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot make directory {}: {}", directory_.string(),
                                            error ? error.message() : std::strerror(errno)));
}

Store::~Store() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

fs::path Store::path_of(const std::string& name) const {
  return directory_ / (name + std::string(kSuffix));
}

std::optional<std::string> Store::get(const std::string& name) const {
  const fs::path path = path_of(name);
  const auto sealed = read_regular_file(path);
  if (!sealed) return std::nullopt;
  return open_piece(*sealed, name, fingerprint_, path.string());
}

void Store::require_there() const {
  if (removed())
    throw Error(ErrorCode::kUsage,
                fmt::format("another process has finished the run in {}", directory_.parent_path().string()));
}

void Store::put(const std::string& name, std::string_view bytes) {
  require_there();
  write_file(path_of(name), seal_piece(name, fingerprint_, bytes), Access::kPrivate, Links::kReplace);
}

Checkpoint Store::checkpoint(const std::string& name) {
  const std::string part = name + std::string(kPart);
  return {[this, part] { return get(part); }, [this, part](const std::string& bytes) { put(part, bytes); }};
}

void Store::remove_checkpoint(const std::string& name) {
  std::error_code ignored;
  fs::remove(path_of(name + std::string(kPart)), ignored);
}

Store::Claim::~Claim() {
  if (file_ >= 0) ::close(file_);
}

std::unique_ptr<Store::Claim> Store::claim(const std::string& name) {
  require_there();
  const fs::path path = directory_ / (name + std::string(kLockSuffix));
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return std::make_unique<Claim>(-1);
  if (::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(file);
    return nullptr;
  }
  return std::make_unique<Claim>(file);
}

bool Store::removed() const {
  struct stat opened {};
  struct stat named {};
  if (::fstat(descriptor_, &opened) != 0 || ::stat(directory_.c_str(), &named) != 0) return true;
  return opened.st_dev != named.st_dev || opened.st_ino != named.st_ino;
}

void Store::remove() {
  remove(directory_);
}

bool Store::holds_pieces(const fs::path& directory) {
  std::error_code error;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (entry->path().filename().string().ends_with(kSuffix)) return true;
  }
  return false;
}

void Store::remove(const fs::path& directory) {
  std::error_code error;
  std::vector<fs::path> found;
  fs::directory_iterator entry(directory, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (is_ours(entry->path())) found.push_back(entry->path());
  }
  std::error_code ignored;
  for (const fs::path& path : found) fs::remove(path, ignored);
  fs::remove(directory, ignored);  // unless somebody else has put something there
}

}  // namespace ppan
