#pragma once

// Progress of a curve on stderr: a bar that redraws itself on a terminal, an occasional plain line otherwise,
// nothing when quiet.

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/report/progress_text.h"

namespace ppan::cli {

enum class ProgressStyle { kQuiet, kLines, kBar };
/// A bar if stderr is a terminal that can redraw, lines if not, nothing if `quiet`.
ProgressStyle progress_style(bool quiet);

/// What Progress writes to and reads the time from; replaced in tests.
struct ProgressSurface {
  std::function<void(std::string_view)> write;
  std::function<std::chrono::steady_clock::time_point()> now;
  std::function<int()> width;  ///< Columns of the terminal.

  static ProgressSurface standard_error();
};

/// Collects the reports of many training threads. All members may be called from any thread.
class Progress {
 public:
  /// `points` points of `epochs_per_point` epochs each.
  Progress(ProgressStyle style, std::int64_t points, std::int64_t epochs_per_point,
           ProgressSurface surface = ProgressSurface::standard_error());
  /// Ends the bar's line, so that what follows starts on a fresh one.
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  struct Epoch {
    std::int64_t point = 0;  ///< 0 .. points - 1
    std::int64_t epoch = 0;  ///< Finished epochs of this point.
    std::string_view label;
    double distortion = 0;
    double leakage_nats = 0;
  };
  void epoch_done(const Epoch& epoch);
  /// The point has ended, at its last epoch or before it.
  void point_done(std::int64_t point);
  /// So many of all trainings, attacks and references are there.
  void steps_done(std::size_t done, std::size_t all);
  /// A line of its own above the bar ("point 7 diverged at epoch 31"). Not shown when quiet.
  void note(std::string_view text);

  [[nodiscard]] ProgressState state() const;

 private:
  void show(bool force);

  const ProgressStyle style_;
  const std::int64_t epochs_per_point_;
  const ProgressSurface surface_;
  const std::chrono::steady_clock::time_point start_;
  mutable std::mutex mutex_;
  ProgressState state_;
  std::vector<std::int64_t> epochs_of_point_;
  std::vector<bool> point_ended_;
  std::chrono::steady_clock::time_point shown_;
  bool bar_on_screen_ = false;
};

}  // namespace ppan::cli
