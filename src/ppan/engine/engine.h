#pragma once

// Makes the pieces of a domain (domain.h) on several threads, sharing the work with other processes that use
// the same store, and resuming interrupted runs.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/engine/domain.h"
#include "ppan/engine/store.h"

namespace ppan {

struct EngineOptions {
  int threads = 0;                  ///< 0: one per core. Does not affect results. At least 0.
  std::vector<std::string> only{};  ///< These and the pieces they need; empty: all.
  /// Polled between pieces and while waiting for another process. Pieces poll on their own.
  std::function<bool()> interrupted{};
  /// Called after each finished piece. Never called concurrently.
  std::function<void(std::size_t done, std::size_t all)> progress{};
  [[nodiscard]] Problems check() const;
};

struct EngineResult {
  Pieces pieces{};           ///< The requested pieces and those they need; fewer if interrupted.
  bool interrupted = false;  ///< A requested piece is missing.
};

/// `known`: pieces that are already finished. If a piece throws, waits for the running ones and rethrows;
/// finished pieces stay in the store.
EngineResult make_pieces(Domain& domain, Store* store, const EngineOptions& options, Pieces known = {});

}  // namespace ppan
