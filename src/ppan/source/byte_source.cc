#include "ppan/source/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>
#include <vector>

#include "ppan/core/error.h"

namespace ppan {
namespace {

class FileSource final : public ByteSource {
 public:
  FileSource(std::string name, int descriptor, bool owned)
      : ByteSource(std::move(name)), descriptor_(descriptor), owned_(owned) {
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode))
      size_ = static_cast<double>(status.st_size);
  }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;
  ~FileSource() override {
    if (owned_) ::close(descriptor_);
  }

  std::size_t read(char* to, std::size_t count) override {
    for (;;) {
      const ssize_t got = ::read(descriptor_, to, count);
      if (got >= 0) {
        read_ = read_ + static_cast<double>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR)
        throw Error(ErrorCode::kIo, fmt::format("cannot read {}: {}", name(), std::strerror(errno)));
    }
  }

  [[nodiscard]] std::optional<double> share_read() const override {
    if (size_ <= 0) return std::nullopt;
    return std::min(1.0, read_.load() / size_);
  }

 private:
  int descriptor_;
  bool owned_;
  double size_ = 0;               // 0: unknown
  std::atomic<double> read_ = 0;  // another thread asks how far it is
};

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::unique_ptr<ByteSource> packed, std::uint64_t most)
      : ByteSource(packed->name()), packed_(std::move(packed)), input_(kInputBytes), most_(most) {
    // 16: gzip header expected; 15: largest window.
    if (inflateInit2(&stream_, 16 + 15) != Z_OK) throw std::bad_alloc();  // nothing else can go wrong here
  }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&stream_); }

  std::size_t read(char* to, std::size_t count) override {
    constexpr std::size_t kMost = 1U << 30U;  // zlib counts in 32 bits
    const auto wanted = static_cast<uInt>(std::min(count, kMost));
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = wanted;
    while (stream_.avail_out == wanted) {
      if (stream_.avail_in == 0) {
        stream_.avail_in = static_cast<uInt>(packed_->read(input_.data(), input_.size()));
        stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
        if (stream_.avail_in == 0) {
          if (between_members_) return 0;
          damaged("ends in the middle of its compressed data");
        }
      }
      between_members_ = false;
      const int state = inflate(&stream_, Z_NO_FLUSH);
      if (state == Z_STREAM_END) {
        between_members_ = true;
        inflateReset(&stream_);
      } else if (state == Z_MEM_ERROR) {
        throw std::bad_alloc();
      } else if (state != Z_OK) {
        damaged(stream_.msg != nullptr ? stream_.msg : "is not gzip data");
      }
    }
    const std::size_t got = wanted - stream_.avail_out;
    unpacked_ += got;
    if (unpacked_ > most_)
      throw Error(ErrorCode::kBadInput, fmt::format("{} unpacks to more than {} bytes", name(), most_),
                  "raise --max-unpacked if the file is to be trusted, or give it uncompressed");
    return got;
  }
  [[nodiscard]] std::optional<double> share_read() const override { return packed_->share_read(); }

 private:
  static constexpr std::size_t kInputBytes = 1U << 16U;

  [[noreturn]] void damaged(const char* how) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: damaged gzip file: {}", name(), how),
                "fetch or compress the file again");
  }

  std::unique_ptr<ByteSource> packed_;
  std::vector<char> input_;
  std::uint64_t most_;
  std::uint64_t unpacked_ = 0;
  z_stream stream_{};
  bool between_members_ = false;
};

class ViewSource final : public ByteSource {
 public:
  ViewSource(std::string_view bytes, std::string name) : ByteSource(std::move(name)), bytes_(bytes) {}

  std::size_t read(char* to, std::size_t count) override {
    const std::size_t got = bytes_.copy(to, count);
    bytes_.remove_prefix(got);
    return got;
  }

 private:
  std::string_view bytes_;
};

class ContinuedSource final : public ByteSource {
 public:
  ContinuedSource(std::string head, std::unique_ptr<ByteSource> rest)
      : ByteSource(rest->name()), head_(std::move(head)), rest_(std::move(rest)) {}

  std::size_t read(char* to, std::size_t count) override {
    if (used_ == head_.size()) return rest_->read(to, count);
    const std::size_t got = head_.copy(to, count, used_);
    used_ += got;
    return got;
  }

 private:
  std::string head_;
  std::size_t used_ = 0;
  std::unique_ptr<ByteSource> rest_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(std::string bytes, std::string name) : ByteSource(std::move(name)), bytes_(std::move(bytes)) {}

  std::size_t read(char* to, std::size_t count) override {
    const std::size_t got = std::min(count, bytes_.size() - used_);
    std::memcpy(to, bytes_.data() + used_, got);
    used_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t used_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path, std::uint64_t most_unpacked) {
  if (path == "-") return std::make_unique<FileSource>("standard input", STDIN_FILENO, false);
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw Error(ErrorCode::kIo, fmt::format("cannot open {}: {}", path.string(), std::strerror(errno)));
  auto file = std::make_unique<FileSource>(path.string(), descriptor, true);
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
    throw Error(ErrorCode::kIo, fmt::format("cannot read {}: {}", path.string(), std::strerror(EISDIR)));
  if (path.extension() == ".gz") return std::make_unique<GzipSource>(std::move(file), most_unpacked);
  return file;
}

std::unique_ptr<ByteSource> memory_source(std::string bytes, std::string name) {
  return std::make_unique<MemorySource>(std::move(bytes), std::move(name));
}

std::unique_ptr<ByteSource> view_source(std::string_view bytes, std::string name) {
  return std::make_unique<ViewSource>(bytes, std::move(name));
}

std::unique_ptr<ByteSource> continued_source(std::string head, std::unique_ptr<ByteSource> rest) {
  return std::make_unique<ContinuedSource>(std::move(head), std::move(rest));
}

bool can_be_read_again(const std::filesystem::path& path) {
  struct stat status {};
  return path != "-" && ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

}  // namespace ppan
