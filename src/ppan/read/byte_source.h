#pragma once

// Where bytes come from: a file, a gzip file, standard input, or memory.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace ppan {

/// A stream of bytes, read once from start to end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// Up to `count` bytes into `to`; 0 only at the end. Throws Error(kIo) when the system refuses, and
  /// Error(kBadInput) when a compressed stream is damaged or cut short.
  virtual std::size_t read(char* to, std::size_t count) = 0;
  /// What messages call the source: the path as given, or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  std::string name_;
};

/// "-" is standard input; a name ending in ".gz" is decompressed (all members of a concatenated file).
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path);

/// Bytes already in memory.
std::unique_ptr<ByteSource> memory_source(std::string bytes, std::string name = "memory");

}  // namespace ppan
