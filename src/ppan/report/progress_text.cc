#include "ppan/report/progress_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace ppan {
namespace {

std::string clock_text(double seconds) {
  const auto whole = std::llround(std::max(0.0, seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

std::string numbers(const ProgressState& state) {
  std::string text = fmt::format("{:3.0f}%  {}/{} points  epoch {}/{}", std::floor(100 * state.fraction()),
                                 state.points_done, state.points, state.epochs_done, state.epochs);
  if (state.steps > 0) text += fmt::format("  {}/{} steps", state.steps_done, state.steps);
  if (!state.label.empty()) {
    text += fmt::format("  {}: distortion {:.3f}, own adversary {:.3f} nats", state.label, state.distortion,
                        state.leakage_nats);
  }
  if (const double left = state.remaining_seconds(); left >= 0 && state.fraction() < 1) {
    text += fmt::format("  {} left", clock_text(left));
  }
  return text;
}

}  // namespace

double ProgressState::fraction() const {
  const double all = static_cast<double>(steps > 0 ? steps : epochs);
  const double done =
      steps > 0 ? static_cast<double>(steps_done) + under_way : static_cast<double>(epochs_done);
  return all > 0 ? std::clamp(done / all, 0.0, 1.0) : 1.0;
}

double ProgressState::remaining_seconds() const {
  const double done = fraction();
  return done > 0 ? elapsed_seconds * (1 - done) / done : -1.0;
}

std::string progress_bar(const ProgressState& state, int width) {
  constexpr int kCells = 20;
  const int full = static_cast<int>(state.fraction() * kCells);
  std::string bar(static_cast<std::size_t>(full), '=');
  if (full < kCells) bar += '>';
  bar.resize(kCells, ' ');
  std::string text = fmt::format("[{}] {}", bar, numbers(state));
  if (width > 0 && text.size() > static_cast<std::size_t>(width))
    text.resize(static_cast<std::size_t>(width));
  return text;
}

std::string progress_line(const ProgressState& state) {
  return fmt::format("{}  {} elapsed", numbers(state), clock_text(state.elapsed_seconds));
}

}  // namespace ppan
