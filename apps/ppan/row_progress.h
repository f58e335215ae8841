#pragma once

// Progress of rows that stream through, on stderr: rows, rows per second and what is left, on a terminal
// alone.

#include <chrono>
#include <cstdint>
#include <string>

namespace ppan::cli {

/// "1,204,224 rows, 812,000 rows/s, 00:41 left"; `share` is what was read of the source, 0 where it cannot be
/// told.
std::string row_progress_text(std::int64_t rows, double seconds, double share);

class RowProgress {
 public:
  /// Nothing is shown when `quiet`, or when stderr is no terminal.
  explicit RowProgress(bool quiet);
  ~RowProgress();
  RowProgress(const RowProgress&) = delete;
  RowProgress& operator=(const RowProgress&) = delete;
  /// By one thread at a time.
  void rows(std::int64_t written, double share);

 private:
  bool shown_;
  bool on_screen_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

}  // namespace ppan::cli
