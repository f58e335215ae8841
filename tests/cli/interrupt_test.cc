#include "ppan/interrupt.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>

namespace ppan::cli {
namespace {

// Wait status of a child process that runs `body` with stderr closed; the child exits with what it returns.
int status_of_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(STDERR_FILENO);
    ::_exit(body());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Interrupt, NothingHasHappenedAtFirst) {
  const InterruptScope scope;
  EXPECT_FALSE(interrupted());
  EXPECT_EQ(interrupt_status(), 0);
}

TEST(Interrupt, TheFirstSignalOnlySetsTheFlag) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const int status = status_of_child([signal] {
      const InterruptScope scope;
      ::raise(signal);
      return interrupted() ? interrupt_status() : 1;
    });
    ASSERT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 128 + signal);
  }
}

TEST(Interrupt, TheSecondSignalEndsTheProcessWhicheverItIs) {
  for (const int second : {SIGINT, SIGTERM}) {
    const int status = status_of_child([second] {
      const InterruptScope scope;
      ::raise(SIGINT);
      ::raise(second);
      return 0;
    });
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_EQ(WTERMSIG(status), second);
  }
}

TEST(Interrupt, TheOldHandlersComeBack) {
  static volatile std::sig_atomic_t seen = 0;
  const int status = status_of_child([] {
    std::signal(SIGINT, [](int) { seen = 1; });
    { const InterruptScope scope; }
    ::raise(SIGINT);
    return seen == 1 && !interrupted() ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace ppan::cli
