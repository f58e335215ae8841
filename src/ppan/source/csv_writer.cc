#include "ppan/source/csv_writer.h"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "ppan/core/error.h"

namespace ppan {
namespace {

class StandardOutput final : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t written = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0)
        throw Error(ErrorCode::kIo, fmt::format("cannot write standard output: {}", std::strerror(errno)));
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void finish() override {}
};

class FileSink final : public ByteSink {
 public:
  FileSink(const std::filesystem::path& path, Access access) : file_(path, access) {}
  void write(std::string_view bytes) override { file_.write(bytes); }
  void finish() override { file_.finish(); }

 private:
  OutputFile file_;
};

class GzipSink final : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> packed) : packed_(std::move(packed)) {
    // 16: write a gzip header (with no name and no time, so that equal input gives equal files).
    if (deflateInit2(&stream_, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + 15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();  // nothing else can go wrong here
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

std::unique_ptr<ByteSink> open_sink(const std::filesystem::path& path, Access access) {
  if (path == "-") return std::make_unique<StandardOutput>();
  auto file = std::make_unique<FileSink>(path, access);
  if (path.extension() == ".gz") return std::make_unique<GzipSink>(std::move(file));
  return file;
}

}  // namespace ppan
