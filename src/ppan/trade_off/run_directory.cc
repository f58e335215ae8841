#include "ppan/trade_off/run_directory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/trade_off/run_files.h"

namespace ppan {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPieces = "pieces";
constexpr std::uint64_t kMostFingerprint = 1024;

// The fingerprint of the complete run in a directory.
std::optional<std::string> finished_run(const fs::path& directory) {
  try {
    return read_regular_file(directory / kFingerprintFile, kMostFingerprint);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

MetricsFile::~MetricsFile() {
  if (file_ >= 0) ::close(file_);
}

void MetricsFile::open(const fs::path& path, bool append) {
  const std::scoped_lock lock(mutex_);
  path_ = path;
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_APPEND | (append ? 0 : O_TRUNC), 0666);
  if (file_ < 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_.string(), std::strerror(errno)));
  const auto wrote = ::write(file_, waiting_.data(), waiting_.size());
  if (wrote != static_cast<ssize_t>(waiting_.size()) && error_ == 0) error_ = wrote < 0 ? errno : ENOSPC;
  waiting_.clear();
}

void MetricsFile::add(const MetricsLine& line) {
  const std::string text = to_json_line(line);
  const std::scoped_lock lock(mutex_);
  if (file_ < 0) {
    waiting_ += text;
    return;
  }
  // In one call, so that lines of several processes do not mix.
  const auto wrote = ::write(file_, text.data(), text.size());
  if (wrote != static_cast<ssize_t>(text.size()) && error_ == 0) error_ = wrote < 0 ? errno : ENOSPC;
}

void MetricsFile::close() {
  const std::scoped_lock lock(mutex_);
  if (file_ < 0) return;
  if (::close(std::exchange(file_, -1)) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", path_.string(), std::strerror(error_)));
}

RunDirectory::RunDirectory(fs::path path, RunMode mode, std::string fingerprint, std::string job_text)
    : path_(std::move(path)),
      mode_(mode),
      job_text_(std::move(job_text)),
      fingerprint_(std::move(fingerprint)) {
  std::error_code ignored;
  made_ = !fs::exists(path_, ignored);
  const fs::path pieces = path_ / kPieces;
  const bool begun = fs::is_directory(pieces, ignored);
  if (mode == RunMode::kNew && begun)
    throw Error(
        ErrorCode::kUsage,
        fmt::format("output directory {} is not empty: it holds a run that is not finished", path_.string()),
        "--resume continues it, --force starts again; or give another --out");
  if (mode == RunMode::kResume && !begun) {
    const auto there = finished_run(path_);
    finished_ = there && *there == fingerprint_;
    if (finished_) return;
    if (there)
      throw Error(ErrorCode::kUsage,
                  fmt::format("{} holds a finished run of another job, other data or another version of ppan",
                              path_.string()),
                  "give another --out, or --force instead of --resume to start again");
  }
  was_empty_ = !begun;
  make_output_directory(path_, mode == RunMode::kForce || (mode == RunMode::kResume && begun));
  if (mode == RunMode::kForce) Store::remove(pieces);
  store_ = std::make_unique<Store>(pieces, fingerprint_);
  if (!holds_run(path_) || (mode == RunMode::kResume && begun)) begin();
}

RunDirectory::~RunDirectory() {
  if (keep_ || finished_ || store_ == nullptr || !was_empty_) return;
  store_->remove();
  std::error_code ignored;
  if (mode_ == RunMode::kForce) return;  // what is there is of an earlier run
  for (const char* name : {"job.toml", "metrics.jsonl"}) fs::remove(path_ / name, ignored);
  if (made_) fs::remove(path_, ignored);  // unless it holds anything else
}

void RunDirectory::begin() {
  std::call_once(begun_, [this] {
    const bool resumed = mode_ == RunMode::kResume;
    std::error_code ignored;
    if (!resumed) remove_old_run(path_);
    if (job_text_.empty()) return;
    if (!resumed || !fs::exists(path_ / "job.toml", ignored)) write_file(path_ / "job.toml", job_text_);
    metrics_.open(path_ / "metrics.jsonl", resumed);
  });
}

void RunDirectory::complete() {
  keep();
  finished_ = true;
  // It is made from the data without a secret, so it is for the custodian's eyes.
  write_file(path_ / kFingerprintFile, fingerprint_, Access::kPrivate);
  store_->remove();
}

}  // namespace ppan
