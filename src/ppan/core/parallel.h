#pragma once

#include <cstdint>
#include <functional>

namespace ppan {

/// Number of threads to use when the user asked for `requested` (0: as many as the machine has cores).
int thread_count(int requested);

/// Runs job(0) .. job(count - 1) on `threads` threads, started in this order. Each job must depend on nothing
/// but its number, so that results are the same whatever the number of threads. The first exception stops
/// further jobs from starting and is rethrown when the running ones have ended.
void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& job);

}  // namespace ppan
