#include "ppan/read/csv_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "ppan/core/error.h"

namespace ppan {
namespace {

class FileSink final : public ByteSink {
 public:
  explicit FileSink(std::filesystem::path path) : path_(std::move(path)) {
    if (path_ == "-") {
      descriptor_ = STDOUT_FILENO;
      name_ = "standard output";
      return;
    }
    name_ = path_.string();
    struct stat status {};
    const bool direct = ::stat(path_.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
    std::filesystem::path target = path_;
    if (!direct) {
      target += fmt::format(".tmp{}", ::getpid());
      temporary_ = target;
    }
    const int flags = O_WRONLY | O_CLOEXEC | (direct ? 0 : O_CREAT | O_TRUNC);
    descriptor_ = ::open(target.c_str(), flags, 0666);
    if (descriptor_ < 0) {
      const int error_number = errno;
      temporary_.clear();
      fail(error_number);
    }
  }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override {
    if (descriptor_ > STDOUT_FILENO) ::close(descriptor_);
    if (!temporary_.empty()) ::unlink(temporary_.c_str());
  }

  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail(errno);
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void finish() override {
    if (temporary_.empty()) return;
    if (::fsync(descriptor_) != 0 && errno != EINVAL) fail(errno);
    const int descriptor = std::exchange(descriptor_, -1);
    if (::close(descriptor) != 0) fail(errno);
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail(errno);
    temporary_.clear();
  }

 private:
  [[noreturn]] void fail(int error_number) const {
    throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, std::strerror(error_number)));
  }

  std::filesystem::path path_;
  std::filesystem::path temporary_;  // empty when writing directly
  std::string name_;
  int descriptor_ = -1;
};

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> packed) : packed_(std::move(packed)) {
    // 16: write a gzip header (with no name and no time, so that equal input gives equal files).
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw Error(ErrorCode::kInternal, "cannot start compression");
  }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override { deflateEnd(&stream_); }

  void write(std::string_view bytes) override {
    constexpr std::size_t kMost = 1U << 30U;
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, kMost);
      pump(part, Z_NO_FLUSH);
      bytes.remove_prefix(part.size());
    }
  }
  void finish() override {
    pump({}, Z_FINISH);
    packed_->finish();
  }

 private:
  void pump(std::string_view bytes, int flush) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(output_.data());
      stream_.avail_out = static_cast<uInt>(output_.size());
      deflate(&stream_, flush);
      packed_->write({output_.data(), output_.size() - stream_.avail_out});
    } while (stream_.avail_out == 0);
  }

  std::unique_ptr<ByteSink> packed_;
  std::array<char, 1U << 16U> output_{};
  z_stream stream_{};
};

}  // namespace

void append_field(std::string_view field, char delimiter, std::string& out) {
  // At the beginning of a file these bytes would be taken for its byte-order mark, or for a zip archive's.
  bool plain = !field.starts_with("\xEF\xBB\xBF") && !field.starts_with("PK\x03\x04");
  for (const char c : field) {
    if (c == delimiter || c == '"' || c == '\n' || c == '\r') {
      plain = false;
      break;
    }
  }
  if (plain) {
    out.append(field);
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

void append_row(std::span<const std::string> fields, char delimiter, std::string& out) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) out += delimiter;
    append_field(fields[i], delimiter, out);
  }
  out += '\n';
}

std::unique_ptr<ByteSink> open_sink(const std::filesystem::path& path) {
  auto file = std::make_unique<FileSink>(path);
  if (path.extension() == ".gz") return std::make_unique<GzipSink>(std::move(file));
  return file;
}

}  // namespace ppan
