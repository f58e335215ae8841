#include "ppan/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace ppan {

int thread_count(int requested) {
  if (requested > 0) return requested;
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

void parallel_for(std::int64_t count, int threads, const std::function<void(std::int64_t)>& job) {
  std::atomic<std::int64_t> next{0};
  std::mutex failure_mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    for (std::int64_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        job(i);
      } catch (...) {
        const std::scoped_lock lock(failure_mutex);
        if (!failure) failure = std::current_exception();
        next.store(count);
      }
    }
  };
  const auto extra = std::clamp<std::int64_t>(count, 1, thread_count(threads)) - 1;
  {
    std::vector<std::jthread> others;
    others.reserve(static_cast<std::size_t>(extra));
    try {
      for (std::int64_t t = 0; t < extra; ++t) others.emplace_back(work);
    } catch (const std::system_error&) {
      // No more threads are to be had: those that are there do the work.
    }
    work();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace ppan
