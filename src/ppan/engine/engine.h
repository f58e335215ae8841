#pragma once

// Makes the pieces of a domain (domain.h): side by side on threads, together with other processes that share
// the store, going on where an earlier run was cut off.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "ppan/core/problem.h"
#include "ppan/engine/domain.h"
#include "ppan/engine/store.h"

namespace ppan {

struct EngineOptions {
  int threads = 0;                  ///< 0: one per core. Changes no number. At least 0.
  std::vector<std::string> only{};  ///< These and what they need; empty: all.
  /// Asked between pieces and while waiting for another process. Pieces themselves ask on their own.
  std::function<bool()> interrupted{};
  /// Told of every piece that is there, of how many. One call at a time.
  std::function<void(std::size_t done, std::size_t all)> progress{};
  [[nodiscard]] Problems check() const;
};

struct EngineResult {
  Pieces pieces{};           ///< Those that were asked for and those that they need; fewer if interrupted.
  bool interrupted = false;  ///< Something that was asked for is missing.
};

/// `known`: pieces that are there already. Throws what a piece throws, after the others under way have ended;
/// what is finished stays in the store.
EngineResult make_pieces(Domain& domain, Store* store, const EngineOptions& options, Pieces known = {});

}  // namespace ppan
