#pragma once

#include <string_view>

namespace ppan::cli {

/// Writes to standard output and flushes. Throws Error(kIo) when that fails (a full disk, a closed
/// descriptor). A reader that has gone away ends the process by SIGPIPE, without a word, as it does any
/// filter.
void write_stdout(std::string_view text);

}  // namespace ppan::cli
