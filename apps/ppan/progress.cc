#include "ppan/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace ppan::cli {
namespace {

using std::chrono::steady_clock;

// Often enough to look alive, seldom enough to cost nothing; logs want far fewer.
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);

std::string clock_text(double seconds) {
  const auto whole = std::llround(std::max(0.0, seconds));
  if (whole >= 3600) return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
  return fmt::format("{:02}:{:02}", whole / 60, whole % 60);
}

std::string numbers(const ProgressState& state) {
  std::string text = fmt::format("{:3.0f}%  {}/{} points  epoch {}/{}", std::floor(100 * state.fraction()),
                                 state.points_done, state.points, state.epochs_done, state.epochs);
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
  return epochs > 0 ? std::clamp(static_cast<double>(epochs_done) / static_cast<double>(epochs), 0.0, 1.0)
                    : 1.0;
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

ProgressStyle progress_style(bool quiet) {
  if (quiet) return ProgressStyle::kQuiet;
  const char* terminal = std::getenv("TERM");
  const bool can_redraw = terminal != nullptr && std::string_view(terminal) != "dumb";
  return can_redraw && ::isatty(STDERR_FILENO) != 0 ? ProgressStyle::kBar : ProgressStyle::kLines;
}

ProgressSurface ProgressSurface::standard_error() {
  return {
      // A display that cannot be shown is no reason to stop the work.
      .write =
          [](std::string_view text) {
            [[maybe_unused]] auto n = ::write(STDERR_FILENO, text.data(), text.size());
          },
      .now = [] { return steady_clock::now(); },
      .width =
          [] {
            winsize size{};
            const bool known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
            return known ? static_cast<int>(size.ws_col) : 80;
          },
  };
}

Progress::Progress(ProgressStyle style, std::int64_t points, std::int64_t epochs_per_point,
                   ProgressSurface surface)
    : style_(style),
      epochs_per_point_(epochs_per_point),
      surface_(std::move(surface)),
      start_(surface_.now()),
      epochs_of_point_(static_cast<std::size_t>(points)),
      point_ended_(static_cast<std::size_t>(points)),
      shown_(start_) {
  state_.points = points;
  state_.epochs = points * epochs_per_point;
}

Progress::~Progress() {
  if (bar_on_screen_) surface_.write("\n");
}

void Progress::epoch_done(const Epoch& epoch) {
  const std::scoped_lock lock(mutex_);
  auto& done = epochs_of_point_.at(static_cast<std::size_t>(epoch.point));
  const std::int64_t now_done = std::clamp<std::int64_t>(epoch.epoch, done, epochs_per_point_);
  state_.epochs_done += now_done - std::exchange(done, now_done);
  state_.label = epoch.label;
  state_.distortion = epoch.distortion;
  state_.leakage_nats = epoch.leakage_nats;
  show(false);
}

void Progress::point_done(std::int64_t point) {
  const std::scoped_lock lock(mutex_);
  const auto i = static_cast<std::size_t>(point);
  if (point_ended_.at(i)) return;
  point_ended_[i] = true;
  state_.epochs_done += epochs_per_point_ - std::exchange(epochs_of_point_[i], epochs_per_point_);
  ++state_.points_done;
  show(state_.points_done == state_.points);
}

void Progress::note(std::string_view text) {
  const std::scoped_lock lock(mutex_);
  if (style_ == ProgressStyle::kQuiet) return;
  surface_.write(fmt::format("{}{}\n", bar_on_screen_ ? "\r\x1b[K" : "", text));
  bar_on_screen_ = false;
  if (style_ == ProgressStyle::kBar) show(true);
}

ProgressState Progress::state() const {
  const std::scoped_lock lock(mutex_);
  ProgressState copy = state_;
  copy.elapsed_seconds = std::chrono::duration<double>(surface_.now() - start_).count();
  return copy;
}

void Progress::show(bool force) {
  if (style_ == ProgressStyle::kQuiet) return;
  const auto now = surface_.now();
  const steady_clock::duration interval = style_ == ProgressStyle::kBar
                                              ? steady_clock::duration(kBarInterval)
                                              : steady_clock::duration(kLineInterval);
  if (!force && now - shown_ < interval) return;
  shown_ = now;
  state_.elapsed_seconds = std::chrono::duration<double>(now - start_).count();
  if (style_ == ProgressStyle::kLines) {
    surface_.write(progress_line(state_) + "\n");
    return;
  }
  surface_.write(fmt::format("\r\x1b[K{}", progress_bar(state_, surface_.width() - 1)));
  bar_on_screen_ = true;
}

}  // namespace ppan::cli
