#pragma once

// The progress of a curve as text: for a bar that redraws itself, and for logs.

#include <cstdint>
#include <string>

namespace ppan {

/// The progress of a run: everything that the display shows.
struct ProgressState {
  std::int64_t points_done = 0;
  std::int64_t points = 0;
  std::int64_t epochs_done = 0;  ///< Summed over all points.
  std::int64_t epochs = 0;       ///< Summed over all points.
  double under_way = 0;          ///< Sum over the trainings in progress of the fraction that is done.
  std::int64_t steps_done = 0;   ///< Trainings, attacks and references that are finished.
  std::int64_t steps = 0;        ///< 0: there is only training.
  std::string label;             ///< The point that reported last, for example "useful-only 0.30".
  double distortion = 0;         ///< Of that point, at its last epoch.
  double leakage_nats = 0;       ///< Of that point, as its own adversary sees it.
  double elapsed_seconds = 0;

  /// Between 0 and 1.
  [[nodiscard]] double fraction() const;
  /// At the pace so far; negative while it is unknown.
  [[nodiscard]] double remaining_seconds() const;
};

/// One line, truncated to `width` columns: a bar, the percentage, the counts, the last point, the time left:
///     [=====>    ]  52%  11/20 points  epoch 2875/5000  31/62 steps
///     useful-only 0.30: distortion 0.301, own adversary 0.412 nats  00:42 left
std::string progress_bar(const ProgressState& state, int width);
/// The same without the bar, for logs.
std::string progress_line(const ProgressState& state);

}  // namespace ppan
