#pragma once

// Where bytes come from: a file, a gzip file, standard input, or memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ppan {

/// A stream of bytes, read once from start to end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `count` bytes into `to`; 0 only at the end. Throws Error(kIo) when the system reports an error,
  /// and Error(kBadInput) when a compressed stream is damaged or truncated.
  virtual std::size_t read(char* to, std::size_t count) = 0;
  /// Fraction that was read, 0 to 1, where the size is known.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }
  /// What messages call the source: the path as given, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// Default limit of the size that a compressed file may unpack to. A factor of a thousand is possible, so a
/// small file could fill a machine. Where rows stream, only time is at risk; where the whole table is held,
/// memory is.
inline constexpr std::uint64_t kMostUnpacked = std::uint64_t{16} << 30U;
inline constexpr std::uint64_t kMostUnpackedInMemory = std::uint64_t{1} << 30U;

/// "-" is standard input; a name ending in ".gz" is decompressed (all members of a concatenated file), up to
/// `most_unpacked` bytes: more are an Error(kBadInput).
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path,
                                        std::uint64_t most_unpacked = kMostUnpacked);

/// Bytes already in memory.
std::unique_ptr<ByteSource> memory_source(std::string bytes, std::string name = "memory");
/// The same without a copy: `bytes` must outlive the source.
std::unique_ptr<ByteSource> view_source(std::string_view bytes, std::string name = "memory");

/// `head`, which was read from `rest` before, followed by the remainder of `rest`.
std::unique_ptr<ByteSource> continued_source(std::string head, std::unique_ptr<ByteSource> rest);

/// Whether a path can be opened again with the same bytes: a regular file, not standard input or a pipe.
bool can_be_read_again(const std::filesystem::path& path);

}  // namespace ppan
