#pragma once

// Ctrl-C in two steps: the first SIGINT or SIGTERM asks the work to stop at the next good place, so that what
// is finished can be kept; a second one ends the process at once.

namespace ppan::cli {

/// Installs the handlers for its lifetime and puts the old ones back. One at a time in a process.
class InterruptScope {
 public:
  /// `notice` is written to stderr at the first signal; it must outlive the process's last signal.
  explicit InterruptScope(
      const char* notice = "\nppan: stopping after the epoch in progress; press again to stop at once\n");
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
};

/// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT end the process as they do by default, after its temporary
/// files are removed. Signals that are ignored stay so.
void remove_temporaries_when_killed();

/// Whether the user has asked to stop. Cheap, safe from any thread; for training observers.
bool interrupted();

/// 128 + the signal, as shells report it; 0 when not interrupted.
int interrupt_status();

}  // namespace ppan::cli
