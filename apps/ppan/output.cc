#include "ppan/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "ppan/core/error.h"

namespace ppan::cli {

void write_stdout(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error(ErrorCode::kIo, std::string("cannot write to standard output: ") + std::strerror(errno));
    }
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace ppan::cli
