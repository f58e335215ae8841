#pragma once

// What the files of the binding share.

#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"

namespace nb = nanobind;

namespace ppan::python {

void bind_job(nb::module_& m);
void bind_curve(nb::module_& m);
void bind_model(nb::module_& m);
void bind_audit(nb::module_& m);
void bind_engine(nb::module_& m);
void bind_images(nb::module_& m);
void bind_research(nb::module_& m);

/// An estimate as the package hands it out.
nb::dict estimate(const Estimate& found);

/// What work in another thread tells the interpreter while it runs.
class Messages {
 public:
  void add(std::string kind, int point, int step, int steps) {
    const std::scoped_lock lock(mutex_);
    // Only the newest step of a point is worth showing.
    if (!waiting_.empty() && kind == "epoch" && waiting_.back().kind == kind &&
        waiting_.back().point == point)
      waiting_.pop_back();
    waiting_.push_back({std::move(kind), point, step, steps});
  }
  /// Hands everything that came since to `listener`; the interpreter's lock is held.
  void deliver(const nb::object& listener) {
    std::vector<Message> now;
    {
      const std::scoped_lock lock(mutex_);
      now.swap(waiting_);
    }
    if (listener.is_none()) return;
    for (const Message& message : now) listener(message.kind, message.point, message.step, message.steps);
  }

 private:
  struct Message {
    std::string kind;
    int point;
    int step;
    int steps;
  };
  std::mutex mutex_;
  std::vector<Message> waiting_;
};

/// Runs `work` in a thread of its own, without the interpreter's lock. This thread wakes ten times a second
/// to deliver messages and to look for Ctrl-C, which sets `stop`; `work` is then expected to end soon and to
/// return what it has. If the listener throws, or Ctrl-C came, the exception is kept in `raised` for the
/// caller to weigh.
template <typename Work>
auto run_interruptible(Work work, std::atomic<bool>& stop, Messages* messages, const nb::object& listener,
                       std::optional<nb::python_error>& raised) -> decltype(work()) {
  std::optional<decltype(work())> result;
  std::exception_ptr failure;
  std::mutex mutex;
  std::condition_variable changed;
  bool done = false;
  std::thread thread([&] {
    try {
      result.emplace(work());
    } catch (...) {
      failure = std::current_exception();
    }
    const std::scoped_lock lock(mutex);
    done = true;
    changed.notify_all();
  });
  for (bool ended = false; !ended;) {
    {
      const nb::gil_scoped_release unlocked;
      std::unique_lock lock(mutex);
      ended = changed.wait_for(lock, std::chrono::milliseconds(100), [&] { return done; });
    }
    if (raised) continue;
    try {
      if (messages != nullptr) messages->deliver(listener);
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
    } catch (nb::python_error& error) {
      raised.emplace(std::move(error));
      stop = true;
    }
  }
  {
    const nb::gil_scoped_release unlocked;
    thread.join();
  }
  if (failure) std::rethrow_exception(failure);
  return std::move(*result);
}

/// The same for work that has nothing to keep when it is stopped: what was raised is raised.
template <typename Work>
auto run_or_raise(Work work, std::atomic<bool>& stop) -> decltype(work()) {
  std::optional<nb::python_error> raised;
  auto result = run_interruptible(std::move(work), stop, nullptr, nb::none(), raised);
  if (raised) throw std::move(*raised);
  return result;
}

}  // namespace ppan::python
