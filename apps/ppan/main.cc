// The one place that turns errors into words on stderr and an exit status.

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "ppan/command_line.h"
#include "ppan/core/error.h"
#include "ppan/core/printable.h"
#include "ppan/core/temporary.h"
#include "ppan/interrupt.h"
#include "ppan/nn/blas.h"
#include "ppan/output.h"

namespace {

using ppan::ErrorCode;
using ppan::exit_status;
using ppan::cli::say;

bool show_values = false;  // in messages

int run(int count, char** arguments) {
  ppan::cli::CommandLine line;
  if (const auto text = ppan::cli::parse(line, std::vector<std::string>(arguments + 1, arguments + count))) {
    ppan::cli::write_stdout(*text);
    return 0;
  }
  show_values = line.show_values;
  return line.run();
}

// What the exception being handled means to the user.
int status_of_exception() noexcept {
  try {
    throw;
  } catch (const ppan::Error& error) {
    const std::string& fix = show_values ? error.fix_with_values() : error.fix();
    say("ppan: {}\n", ppan::printable_lines(show_values ? error.what_with_values() : error.what()));
    if (!fix.empty()) say("  fix: {}\n", ppan::printable_lines(fix));
    if (error.hides_values() && !show_values) say("  --show-values shows the cell\n");
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

// OpenBLAS starts threads when it is loaded, and each waits for its buffer for ever where memory is limited
// (ulimit -v). So there the program starts again and tells it to start none.
void avoid_blas_threads(char** arguments) {
  constexpr const char* kThreads = "OPENBLAS_NUM_THREADS";
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  const char* set = std::getenv(kThreads);
  if (set != nullptr && std::strcmp(set, "1") == 0) return;
  if (::setenv(kThreads, "1", 1) == 0) ::execv("/proc/self/exe", arguments);
}

// A library that calls exit() has given up for want of memory: nothing else makes one do that here.
bool main_is_done = false;
void end_by_library() {
  if (main_is_done) return;
  ppan::remove_temporaries();
  ppan::cli::write_stderr("ppan: a library gave up; most likely it was out of memory\n");
  ::_exit(exit_status(ErrorCode::kIo));
}

}  // namespace

int main(int count, char** arguments) {
  avoid_blas_threads(arguments);
  ppan::cli::keep_standard_descriptors();
  std::signal(SIGPIPE, SIG_IGN);  // a log whose reader has gone is no reason to stop; see write_stdout()
  std::signal(SIGXFSZ, SIG_IGN);  // as an error that unwinds
  ppan::cli::remove_temporaries_when_killed();
  std::set_terminate(end_by_exception);
  const ppan::Runtime runtime;  // the process is ours, and nothing runs yet
  std::atexit(end_by_library);
  int status = 0;
  try {
    status = run(count, arguments);
  } catch (...) {
    status = status_of_exception();
  }
  main_is_done = true;
  return status;
}
