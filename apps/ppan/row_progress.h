#pragma once

// Progress of rows that stream through, on stderr: rows, rows per second and what is left, on a terminal alone.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>

#include "ppan/source/row_source.h"

namespace ppan::cli {

/// "1,204,224 rows, 812,000 rows/s, 00:41 left"; `share` is what was read of the source, 0 where it cannot be told.
std::string row_progress_text(std::int64_t rows, double seconds, double share);

class RowProgress {
 public:
  /// Nothing is shown when `quiet`, or when stderr is no terminal. `source` must outlive this.
  RowProgress(bool quiet, const RowSource& source);
  ~RowProgress();
  RowProgress(const RowProgress&) = delete;
  RowProgress& operator=(const RowProgress&) = delete;
  /// By one thread at a time.
  void rows(std::int64_t written);

 private:
  const RowSource* source_;
  bool shown_;
  bool on_screen_ = false;
  std::chrono::steady_clock::time_point start_;
  std::chrono::steady_clock::time_point last_;
};

/// The file that an address names, for comparing it with others; empty for what is none (a query, a pattern, a server).
std::filesystem::path file_of(const std::string& address);
/// The same for an address in a job file.
std::filesystem::path relative_file_of(const std::string& address, const std::filesystem::path& directory);

}  // namespace ppan::cli
