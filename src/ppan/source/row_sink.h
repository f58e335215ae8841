#pragma once

// Where rows go. Work that can be done side by side is in pack(), which any number of threads call at a time;
// what must be in order is in write().

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ppan/source/row_chunk.h"

namespace ppan {

/// A table, written once from start to end. What was there before stays until finish(); without finish()
/// nothing is left behind.
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

  /// Says which columns there will be. Once, before anything else. Throws Error(kBadInput) for what the sink
  /// cannot hold.
  virtual void begin(const std::vector<RowColumn>& columns) = 0;
  /// Rows of these columns made ready to write. Copies what it needs: the chunk may be reused at once. Safe
  /// to call from several threads.
  [[nodiscard]] virtual std::unique_ptr<Part> pack(const RowChunk& rows) const = 0;
  /// Writes what pack() made, one part after the other. Throws Error(kIo) when the place fails, with its own
  /// words.
  virtual void write(std::unique_ptr<Part> part) = 0;
  /// Makes what was written permanent. Once, last.
  virtual void finish() = 0;

 protected:
  RowSink() = default;
};

}  // namespace ppan
