#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace ppan::cli {

/// Writes to standard output. Throws Error(kIo) when that fails (a full disk, a closed descriptor). A reader
/// that has gone away ends the process by SIGPIPE, without a word, as it does any filter.
void write_stdout(std::string_view text);

/// Writes to standard error. A log that cannot be written is no reason to stop, so failures are ignored.
void write_stderr(std::string_view text) noexcept;

/// Formats for people, on standard error. Never throws.
template <typename... Values>
void say(fmt::format_string<Values...> format, Values&&... values) noexcept {
  try {
    write_stderr(fmt::format(format, std::forward<Values>(values)...));
  } catch (...) {
    write_stderr("ppan: a message could not be written\n");
  }
}

/// Makes sure that file descriptors 0, 1 and 2 are taken, so that no file that is opened later gets one of
/// them and with it what is meant for a standard stream. One that was closed takes (or gives) nothing.
void keep_standard_descriptors() noexcept;

}  // namespace ppan::cli
