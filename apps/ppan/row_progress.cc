#include "ppan/row_progress.h"

#include <fmt/format.h>

#include <cmath>

#include "ppan/output.h"
#include "ppan/progress.h"

namespace ppan::cli {
namespace {

constexpr std::chrono::milliseconds kPause{250};

// With a comma before every three digits.
std::string grouped(std::int64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

}  // namespace

std::string row_progress_text(std::int64_t rows, double seconds, double share) {
  const double rate = seconds > 0 ? static_cast<double>(rows) / seconds : 0;
  std::string text = fmt::format("{} rows, {} rows/s", grouped(rows), grouped(std::llround(rate)));
  if (share > 0.001 && share < 1) {
    const auto left = static_cast<std::int64_t>(seconds * (1 - share) / share);
    text += fmt::format(", {:02}:{:02} left", left / 60, left % 60);
  }
  return text;
}

RowProgress::RowProgress(bool quiet)
    : shown_(progress_style(quiet) == ProgressStyle::kBar),
      start_(std::chrono::steady_clock::now()),
      last_(start_) {}

RowProgress::~RowProgress() {
  if (on_screen_) write_stderr("\r\033[K");
}

void RowProgress::rows(std::int64_t written, double share) {
  if (!shown_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now - last_ < kPause) return;
  last_ = now;
  on_screen_ = true;
  const double seconds = std::chrono::duration<double>(now - start_).count();
  write_stderr(fmt::format("\r\033[K{}", row_progress_text(written, seconds, share)));
}

}  // namespace ppan::cli
