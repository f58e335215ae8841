#include "ppan/interrupt.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <string_view>

#include "ppan/core/temporary.h"

namespace ppan::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM};
std::atomic<int> received{0};
static_assert(std::atomic<int>::is_always_lock_free, "a signal handler may use only lock-free atomics");
std::array<struct sigaction, kSignals.size()> before;
std::atomic<const char*> notice_text{nullptr};
static_assert(std::atomic<const char*>::is_always_lock_free);

// Ends the process as the signal would have, without its temporary files.
extern "C" void on_fatal_signal(int signal) {
  remove_temporaries();
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  ::sigaction(signal, &fatal, nullptr);
  ::raise(signal);
}

// Only async-signal-safe calls: store, sigaction, write.
extern "C" void on_signal(int signal) {
  const int saved_errno = errno;
  received.store(signal);
  struct sigaction fatal {};
  fatal.sa_handler = on_fatal_signal;
  for (const int each : kSignals) ::sigaction(each, &fatal, nullptr);
  const std::string_view notice(notice_text.load());
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, notice.data(), notice.size());
  errno = saved_errno;
}

}  // namespace

InterruptScope::InterruptScope(const char* notice) {
  received.store(0);
  notice_text.store(notice);
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &action, &before[i]);
}

InterruptScope::~InterruptScope() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) ::sigaction(kSignals[i], &before[i], nullptr);
}

void remove_temporaries_when_killed() {
  struct sigaction action {};
  action.sa_handler = on_fatal_signal;
  ::sigemptyset(&action.sa_mask);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    if (::sigaction(signal, nullptr, &now) == 0 && now.sa_handler != SIG_IGN)
      ::sigaction(signal, &action, nullptr);
  }
}

bool interrupted() {
  return received.load(std::memory_order_relaxed) != 0;
}

int interrupt_status() {
  const int signal = received.load();
  return signal == 0 ? 0 : 128 + signal;
}

}  // namespace ppan::cli
