#pragma once

// Writes delimited text. Fields are quoted only where a reader would otherwise misread them.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ppan/core/file.h"

namespace ppan {

/// Appends one field, in quotes if it holds the delimiter, a quote or a line end, or begins with the bytes of
/// a byte-order mark.
void append_field(std::string_view field, char delimiter, std::string& out);

/// Appends a row and its line end.
void append_row(std::span<const std::string> fields, char delimiter, std::string& out);

/// The destination of bytes. A file keeps its old contents until finish(); without finish() nothing is left
/// behind.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  ByteSink(const ByteSink&) = delete;
  ByteSink& operator=(const ByteSink&) = delete;
  /// Throws Error(kIo), for a full disk and for a closed pipe too.
  virtual void write(std::string_view bytes) = 0;
  /// Makes what was written permanent. Call once, last.
  virtual void finish() = 0;

 protected:
  ByteSink() = default;
};

/// "-" is standard output, and devices and pipes are written to directly; a regular file is written under a
/// temporary name beside it and renamed by finish() (OutputFile). A name ending in ".gz" is compressed.
std::unique_ptr<ByteSink> open_sink(const std::filesystem::path& path, Access access = Access::kShared);

}  // namespace ppan
