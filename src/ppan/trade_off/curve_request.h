#pragma once

// A curve as a person asks for it: a job file, what is to be different from it, a directory, and which part
// of the work is to be done now.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ppan/engine/domain.h"
#include "ppan/engine/store.h"
#include "ppan/source/csv.h"
#include "ppan/trade_off/curve_task.h"
#include "ppan/trade_off/run_directory.h"

namespace ppan {

struct CurveRequest {
  std::string job{};  ///< File.
  std::string out{};  ///< Directory.
  // Instead of what the job says.
  std::optional<int> points{};
  std::optional<int> epochs{};
  std::optional<std::int64_t> seed{};
  std::optional<int> threads{};
  std::vector<std::string> set{};  ///< KEY=VALUE.
  std::uint64_t max_unpacked = kMostUnpackedInMemory;
  bool force = false;
  bool resume = false;
  // A part of the work.
  bool prepare = false;
  std::vector<std::string> only{};  ///< "3", "5-7" or "references".
  bool finish = false;

  /// Whether a part is asked for, to be gone on with by others.
  [[nodiscard]] bool in_parts() const { return prepare || finish || !only.empty(); }
  [[nodiscard]] RunMode mode() const;
  /// What to type for the same numbers.
  [[nodiscard]] std::string command() const;
};

/// Reads the job and puts in what the request says instead. Throws Error(kUsage) for a request or a job that
/// cannot be run, and for a directory in which the run would overwrite its own input.
CurveRun read_curve_run(const CurveRequest& request, const std::string& version);

/// The pieces that the request asks for; empty: all. Throws Error(kUsage) for points that the curve does not
/// have.
std::vector<std::string> wanted_pieces(const CurveRequest& request, const Domain& domain);

/// Points are trained by others: throws Error(kUsage) naming those that are missing.
void require_points(const Domain& domain, Store& store);

}  // namespace ppan
