#pragma once

// Frames of other programs as a source: an Arrow stream (arrow.apache.org/docs/format/CStreamInterface.html)
// read in place. 64-bit integers, 64-bit reals and the bytes of texts are not copied.

#include <memory>
#include <string>
#include <vector>

#include "ppan/source/arrow_type.h"
#include "ppan/source/row_source.h"

namespace ppan {

class ArrowSource final : public RowSource {
 public:
  /// Takes ownership of the stream. Reads its schema and its first rows. Throws Error(kBadInput) for a stream
  /// that is not a table or has columns that cannot be used, and Error(kIo) with the stream's own message
  /// when it fails.
  explicit ArrowSource(ArrowArrayStream stream, std::string name = "the frame");
  ~ArrowSource() override;

  bool next(RowChunk& chunk) override;
  [[nodiscard]] const std::vector<ArrowType>& types() const { return types_; }

 private:
  struct Batch;
  class Stream;
  bool fetch();
  void fill(std::size_t column, std::int64_t first, std::int64_t rows, RowChunk& chunk) const;

  std::unique_ptr<Stream> stream_;
  std::vector<ArrowType> types_;
  std::shared_ptr<const Batch> batch_;
  std::int64_t position_ = 0;  // in the batch
  std::int64_t row_ = 0;       // rows returned so far
};

}  // namespace ppan
