#pragma once

// The directory of a run in progress. Any number of processes can start and continue the run, and the
// directory stays consistent whatever happens. docs/run_directory.md describes the files.

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "ppan/engine/store.h"
#include "ppan/report/run_summary.h"

namespace ppan {

/// What may be in the directory.
enum class RunMode {
  kNew,     ///< Nothing.
  kForce,   ///< Anything; an earlier run stays until this one has something to put in its place.
  kResume,  ///< Nothing, or what was finished of this run.
};

/// Of a complete run: --resume uses it to see that nothing is left to do.
inline constexpr const char* kFingerprintFile = ".fingerprint";

/// Lines of metrics.jsonl, written during training, so that an interrupted run keeps its history. Several
/// processes may append to one file.
class MetricsFile {
 public:
  MetricsFile() = default;
  ~MetricsFile();
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  /// Opens the file and writes the lines buffered so far. `append`: existing lines stay.
  void open(const std::filesystem::path& path, bool append);
  void add(const MetricsLine& line);
  /// Throws Error(kIo) if something could not be written. Earlier write errors do not stop training, so that
  /// trained points are not lost.
  void close();

 private:
  std::filesystem::path path_;
  std::mutex mutex_;
  int file_ = -1;
  std::string waiting_;
  int error_ = 0;
};

class RunDirectory {
 public:
  /// Without a `job_text` neither a job file nor metrics are written. Throws Error(kUsage) for a directory
  /// that the mode does not allow; the message says what to do instead.
  RunDirectory(std::filesystem::path path, RunMode mode, std::string fingerprint, std::string job_text);
  /// Unless something was finished, removes what this process created.
  ~RunDirectory();
  RunDirectory(const RunDirectory&) = delete;
  RunDirectory& operator=(const RunDirectory&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Whether all of this run is there, so that nothing is left to resume.
  [[nodiscard]] bool finished() const { return finished_; }
  [[nodiscard]] Store& store() { return *store_; }
  [[nodiscard]] MetricsFile& metrics() { return metrics_; }
  /// Call before the first file of this run is written: removes the files of an earlier run. May be called
  /// any number of times, from any thread.
  void begin();
  /// The contents of the directory are worth keeping.
  void keep() { keep_ = true; }
  /// The run is complete: the pieces are not needed any more.
  void complete();

 private:
  std::filesystem::path path_;
  RunMode mode_;
  std::string job_text_;
  std::string fingerprint_;
  std::unique_ptr<Store> store_;
  MetricsFile metrics_;
  std::once_flag begun_;
  bool made_ = false;      // the directory itself
  bool was_empty_ = true;  // before this process
  bool finished_ = false;
  bool keep_ = false;
};

}  // namespace ppan
