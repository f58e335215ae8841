#pragma once

// The destination of rows. Work that can run in parallel is in pack(), which any number of threads may call
// at a time; work that must be in order is in write().

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ppan/source/row_chunk.h"

namespace ppan {

/// A table, written once from start to end. Earlier contents stay until finish(); without finish() nothing is
/// left behind.
class RowSink {
 public:
  /// Rows in the sink's own form.
  class Part {
   public:
    virtual ~Part() = default;
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;

   protected:
    Part() = default;
  };

  virtual ~RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;

  /// Sets the columns. Call once, before anything else. Throws Error(kBadInput) for columns that the sink
  /// cannot hold.
  virtual void begin(const std::vector<RowColumn>& columns) = 0;
  /// Prepares rows of these columns for writing. Copies what it needs: the chunk may be reused at once. Safe
  /// to call from several threads.
  [[nodiscard]] virtual std::unique_ptr<Part> pack(const RowChunk& rows) const = 0;
  /// Writes what pack() made, one part after the other. Throws Error(kIo) with the system's message when the
  /// destination fails.
  virtual void write(std::unique_ptr<Part> part) = 0;
  /// Makes the written rows permanent. Call once, last.
  virtual void finish() = 0;

 protected:
  RowSink() = default;
};

}  // namespace ppan
