#include "ppan/engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "ppan/core/error.h"
#include "ppan/core/parallel.h"
#include "ppan/nn/blas.h"

namespace ppan {
namespace {

// How often it is asked whether another process has finished its piece.
constexpr std::chrono::milliseconds kPoll{50};

class Run {
 public:
  Run(Domain& domain, Store* store, const EngineOptions& options, Pieces known)
      : domain_(domain), store_(store), options_(options) {
    result_.pieces = std::move(known);
    const std::set<std::string> wanted = closure(domain.pieces());
    for (Piece& piece : all_) {
      if (!wanted.contains(piece.name)) continue;
      const bool there = result_.pieces.contains(piece.name);
      work_.push_back({std::move(piece), there ? State::kDone : State::kWaiting});
      if (there) ++finished_;
    }
  }

  EngineResult run() {
    const BlasThreads one(1);  // pieces run side by side
    const int threads = std::max(1, std::min(thread_count(options_.threads), static_cast<int>(work_.size())));
    parallel_for(threads, threads, [&](std::int64_t) { serve(); });
    if (failure_) std::rethrow_exception(failure_);
    result_.interrupted =
        std::any_of(work_.begin(), work_.end(), [](const Work& w) { return w.state != State::kDone; });
    return std::move(result_);
  }

 private:
  enum class State { kWaiting, kRunning, kElsewhere, kDone };
  struct Work {
    Piece piece;
    State state = State::kWaiting;
  };

  // What was asked for and everything that it needs.
  std::set<std::string> closure(std::vector<Piece> all) {
    all_ = std::move(all);
    std::set<std::string> wanted(options_.only.begin(), options_.only.end());
    for (const std::string& name : wanted) {
      const auto named = [&](const Piece& piece) { return piece.name == name; };
      if (std::none_of(all_.begin(), all_.end(), named))
        throw Error(ErrorCode::kUsage, fmt::format("the curve has no piece '{}'", name));
    }
    // Each stands after what it needs.
    for (auto piece = all_.rbegin(); piece != all_.rend(); ++piece) {
      if (options_.only.empty()) wanted.insert(piece->name);
      if (wanted.contains(piece->name)) wanted.insert(piece->needs.begin(), piece->needs.end());
    }
    return wanted;
  }

  [[nodiscard]] bool ready(const Work& work) const {
    return std::all_of(work.piece.needs.begin(), work.piece.needs.end(),
                       [&](const std::string& name) { return result_.pieces.contains(name); });
  }

  // The next piece to look at: one that waits, otherwise one that another process had. With the lock held.
  Work* next(bool& all_elsewhere) {
    Work* elsewhere = nullptr;
    for (Work& work : work_) {
      if (!ready(work)) continue;
      if (work.state == State::kWaiting) return &work;
      if (work.state == State::kElsewhere && elsewhere == nullptr) elsewhere = &work;
    }
    all_elsewhere = elsewhere != nullptr;
    return elsewhere;
  }

  [[nodiscard]] bool unfinished() const {
    return std::any_of(work_.begin(), work_.end(), [](const Work& w) { return w.state != State::kDone; });
  }

  void serve() {
    std::unique_lock lock(mutex_);
    while (!stopped_ && !failure_ && unfinished()) {
      bool all_elsewhere = false;
      Work* work = next(all_elsewhere);
      if (work == nullptr) {  // what is left needs what others are at
        changed_.wait(lock);
        continue;
      }
      work->state = State::kRunning;
      Pieces needed;
      for (const std::string& name : work->piece.needs) needed.emplace(name, result_.pieces.at(name));
      lock.unlock();
      if (all_elsewhere) std::this_thread::sleep_for(kPoll);
      State state = State::kWaiting;
      try {
        state = attempt(work->piece, needed);
      } catch (...) {
        const std::scoped_lock failing(mutex_);
        if (!failure_) failure_ = std::current_exception();
      }
      lock.lock();
      work->state = state;
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  // kWaiting: the user asked to stop.
  State attempt(const Piece& piece, const Pieces& needed) {
    if (options_.interrupted && options_.interrupted()) return stop();
    if (store_ == nullptr) return make(piece, needed, {});
    if (auto bytes = store_->get(piece.name)) return done(piece.name, std::move(*bytes), false);
    const auto claim = store_->claim(piece.name);
    if (!claim) return State::kElsewhere;
    // Another process may have finished it in between.
    if (auto bytes = store_->get(piece.name)) return done(piece.name, std::move(*bytes), false);
    return make(piece, needed, store_->checkpoint(piece.name));
  }

  State make(const Piece& piece, const Pieces& needed, const Checkpoint& checkpoint) {
    std::optional<std::string> bytes = domain_.make(piece.name, needed, checkpoint);
    if (!bytes) return stop();
    if (store_ != nullptr) {
      store_->put(piece.name, *bytes);
      store_->remove_checkpoint(piece.name);
    }
    return done(piece.name, std::move(*bytes), true);
  }

  State done(const std::string& name, std::string bytes, bool made) {
    {
      const std::scoped_lock reporting(progress_mutex_);
      domain_.finished(name, bytes, made);
      ++finished_;
      if (options_.progress) options_.progress(finished_, work_.size());
    }
    const std::scoped_lock lock(mutex_);
    result_.pieces.emplace(name, std::move(bytes));
    return State::kDone;
  }

  State stop() {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
    return State::kWaiting;
  }

  Domain& domain_;
  Store* store_;
  const EngineOptions& options_;
  std::vector<Piece> all_;
  std::vector<Work> work_;
  EngineResult result_;
  std::mutex mutex_;
  std::mutex progress_mutex_;  // one thread at a time reports
  std::size_t finished_ = 0;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  bool stopped_ = false;
};

}  // namespace

Problems EngineOptions::check() const {
  ProblemList list;
  list.require_at_least("threads", threads, 0);
  return list.take();
}

EngineResult make_pieces(Domain& domain, Store* store, const EngineOptions& options, Pieces known) {
  require_none(options.check(), "these pieces cannot be made:");
  return Run(domain, store, options, std::move(known)).run();
}

}  // namespace ppan
