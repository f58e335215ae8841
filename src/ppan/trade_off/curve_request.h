#pragma once

// A request for a curve as given on the command line: a job file, settings that override it, a directory, and
// which part of the work to do.

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
  // These override the job.
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

  /// Whether only a part is requested, for other processes to continue.
  [[nodiscard]] bool in_parts() const { return prepare || finish || !only.empty(); }
  [[nodiscard]] RunMode mode() const;
  /// The command line that reproduces the results.
  [[nodiscard]] std::string command() const;
};

/// Reads the job and applies the overrides of the request. Throws Error(kUsage) for a request or a job that
/// cannot be run, and for a directory in which the run would overwrite its own input.
CurveRun read_curve_run(const CurveRequest& request, const std::string& version);

/// The requested pieces; empty: all. Throws Error(kUsage) for points that the curve does not
/// have.
std::vector<std::string> wanted_pieces(const CurveRequest& request, const Domain& domain);

/// For points that other processes train: throws Error(kUsage) naming those that are missing.
void require_points(const Domain& domain, Store& store);

}  // namespace ppan
