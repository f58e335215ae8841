#include "ppan/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ppan::cli {
namespace {

using std::chrono::steady_clock;

// Often enough to look alive, seldom enough to cost nothing; logs want far fewer.
constexpr auto kBarInterval = std::chrono::milliseconds(100);
constexpr auto kLineInterval = std::chrono::seconds(10);

}  // namespace

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

void Progress::steps_done(std::size_t done, std::size_t all) {
  const std::scoped_lock lock(mutex_);
  state_.steps_done = static_cast<std::int64_t>(done);
  state_.steps = static_cast<std::int64_t>(all);
  show(done == all);
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
  state_.under_way = 0;
  for (const std::int64_t done : epochs_of_point_) {
    if (done < epochs_per_point_)
      state_.under_way += static_cast<double>(done) / static_cast<double>(epochs_per_point_);
  }
  state_.elapsed_seconds = std::chrono::duration<double>(now - start_).count();
  if (style_ == ProgressStyle::kLines) {
    surface_.write(progress_line(state_) + "\n");
    return;
  }
  surface_.write(fmt::format("\r\x1b[K{}", progress_bar(state_, surface_.width() - 1)));
  bar_on_screen_ = true;
}

}  // namespace ppan::cli
