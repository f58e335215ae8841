// The one place that turns errors into words on stderr and an exit status.

#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/nn/blas.h"
#include "ppan/core/temporary.h"
#include "ppan/interrupt.h"
#include "ppan/output.h"

namespace {

using ppan::ErrorCode;
using ppan::exit_status;
using ppan::cli::say;

int run(int count, char** arguments) {
  ppan::cli::CommandLine line;
  if (const auto text = ppan::cli::parse(line, std::vector<std::string>(arguments + 1, arguments + count))) {
    ppan::cli::write_stdout(*text);
    return 0;
  }
  return line.run();
}

// What the exception being handled means to the user.
int status_of_exception() noexcept {
  try {
    throw;
  } catch (const ppan::Error& error) {
    say("ppan: {}\n", error.what());
    if (!error.fix().empty()) say("  fix: {}\n", error.fix());
    return exit_status(error.code());
  } catch (const std::bad_alloc&) {
    ppan::cli::write_stderr("ppan: out of memory\n  fix: give it more memory, or a smaller table\n");
    return exit_status(ErrorCode::kIo);
  } catch (const std::filesystem::filesystem_error& error) {
    say("ppan: cannot use {}: {}\n", error.path1().string(), error.code().message());
    return exit_status(ErrorCode::kIo);
  } catch (const std::system_error& error) {
    say("ppan: the system refused: {}\n", error.code().message());
    return exit_status(ErrorCode::kIo);
  } catch (const std::exception& error) {
    say("ppan: internal fault: {}\n", error.what());
  } catch (...) {
    say("ppan: internal fault\n");
  }
  return exit_status(ErrorCode::kInternal);
}

// An exception that left a place which must not throw. Memory may run out anywhere.
[[noreturn]] void end_by_exception() {
  ppan::remove_temporaries();
  ::_exit(std::current_exception() ? status_of_exception() : exit_status(ErrorCode::kInternal));
}

}  // namespace

int main(int count, char** arguments) {
  ppan::cli::keep_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a log whose reader has gone is no reason to stop; see write_stdout()
  std::signal(SIGXFSZ, SIG_IGN);  // as an error that unwinds
  ppan::cli::remove_temporaries_when_killed();
  std::set_terminate(end_by_exception);
  const ppan::Runtime runtime;  // the process is ours, and nothing runs yet
  try {
    return run(count, arguments);
  } catch (...) {
    return status_of_exception();
  }
}
