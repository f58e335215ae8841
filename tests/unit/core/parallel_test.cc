#include "ppan/core/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "ppan/core/random.h"

namespace ppan {
namespace {

using ::testing::Each;
using ::testing::Eq;

TEST(ThreadCount, ZeroMeansTheMachineOtherwiseAsAsked) {
  EXPECT_GE(thread_count(0), 1);
  EXPECT_EQ(thread_count(1), 1);
  EXPECT_EQ(thread_count(13), 13);
}

TEST(ParallelFor, RunsEveryJobOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    SCOPED_TRACE(threads);
    std::vector<std::atomic<int>> runs(1000);
    parallel_for(1000, threads, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
    EXPECT_THAT(runs, Each(Eq(1)));
  }
}

TEST(ParallelFor, NoJobsNoCalls) {
  int calls = 0;
  parallel_for(0, 4, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 0);
}

TEST(ParallelFor, FewerJobsThanThreads) {
  std::atomic<int> calls = 0;
  parallel_for(2, 16, [&](std::int64_t) { ++calls; });
  EXPECT_EQ(calls, 2);
}

TEST(ParallelFor, UsesAsManyThreadsAsAsked) {
  // Every job waits until four are running at once: with fewer threads this would never end.
  std::barrier meeting(4);
  std::mutex mutex;
  std::set<std::thread::id> seen;
  parallel_for(4, 4, [&](std::int64_t) {
    meeting.arrive_and_wait();
    const std::scoped_lock lock(mutex);
    seen.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(seen.size(), 4U);
}

TEST(ParallelFor, ResultsDoNotDependOnTheNumberOfThreads) {
  const auto run = [](int threads) {
    std::vector<double> results(64);
    const SeededRandom root(1);
    parallel_for(64, threads, [&](std::int64_t i) {
      SeededRandom random = root.fork("job", static_cast<std::uint64_t>(i));
      for (int k = 0; k < 100; ++k) results[static_cast<std::size_t>(i)] += random.uniform();
    });
    return results;
  };
  const auto alone = run(1);
  EXPECT_EQ(run(2), alone);
  EXPECT_EQ(run(5), alone);
}

TEST(ParallelFor, RethrowsTheExceptionOfAJob) {
  for (const int threads : {1, 4}) {
    SCOPED_TRACE(threads);
    try {
      parallel_for(100, threads, [](std::int64_t i) {
        if (i == 7) throw std::out_of_range("seven");
      });
      FAIL() << "the exception was lost";
    } catch (const std::out_of_range& error) {
      EXPECT_STREQ(error.what(), "seven");
    }
  }
}

TEST(ParallelFor, AnExceptionStopsJobsThatHaveNotStarted) {
  std::vector<std::int64_t> started;
  EXPECT_THROW(parallel_for(1000, 1,
                            [&](std::int64_t i) {
                              started.push_back(i);
                              if (i == 2) throw std::runtime_error("stop");
                            }),
               std::runtime_error);
  EXPECT_EQ(started, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(ParallelFor, RunningJobsEndBeforeTheExceptionIsRethrown) {
  std::barrier both_running(2);
  std::atomic<bool> finished = false;
  EXPECT_THROW(parallel_for(2, 2,
                            [&](std::int64_t i) {
                              both_running.arrive_and_wait();
                              if (i == 0) throw std::runtime_error("stop");
                              for (int k = 0; k < 1000; ++k) std::this_thread::yield();
                              finished = true;
                            }),
               std::runtime_error);
  EXPECT_TRUE(finished);
}

}  // namespace
}  // namespace ppan
