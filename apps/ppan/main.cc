// The one place that turns errors into words on stderr and an exit status.

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/nn/blas.h"
#include "ppan/output.h"

namespace {

int run(int count, char** arguments) {
  ppan::cli::CommandLine line;
  if (const auto text = ppan::cli::parse(line, std::vector<std::string>(arguments + 1, arguments + count))) {
    ppan::cli::write_stdout(*text);
    return 0;
  }
  return line.run();
}

}  // namespace

int main(int count, char** arguments) {
  const ppan::Runtime runtime;    // the process is ours, and nothing runs yet
  std::signal(SIGPIPE, SIG_DFL);  // whoever started us may have left it ignored
  try {
    return run(count, arguments);
  } catch (const ppan::Error& error) {
    fmt::print(stderr, "ppan: {}\n", error.what());
    if (!error.fix().empty()) fmt::print(stderr, "  fix: {}\n", error.fix());
    return ppan::exit_status(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "ppan: out of memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "ppan: internal fault: {}\n", error.what());
  }
  return ppan::exit_status(ppan::ErrorCode::kInternal);
}
