#pragma once

// Makes the curve of a job, from its data to its run directory, for tables and images alike. `ppan curve` and
// the Python package use it. The work consists of the pieces of domain(), which the engine makes.
//
//     auto task = make_curve_task(run, events);
//     RunDirectory directory(out, mode, task->fingerprint(), run.job_text);
//     EngineResult made = make_pieces(task->domain(), &directory.store(), {threads, {}, interrupted});
//     CurveOutcome outcome = task->write(made.pieces, directory.path(), seconds);

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/engine/domain.h"
#include "ppan/job/job.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/run_summary.h"

namespace ppan {

/// The inputs of a run of `ppan curve`.
struct CurveRun {
  JobFile job{};
  std::string job_text{};            ///< The job file, verbatim.
  std::string command{};             ///< As typed.
  std::string version{};             ///< Of this program.
  std::string data_sha256{};         ///< Distinguishes runs; in no file that is published.
  std::string data_fingerprint{};    ///< See data_fingerprint.h.
  std::vector<std::string> names{};  ///< Columns of a table, in its order.
  std::string fingerprint{};         ///< See fingerprint_of().
  double seconds = 0;
};

/// Identifies a run: the data, the version and all settings except the number of threads. A run only uses
/// pieces with its own fingerprint.
std::string fingerprint_of(const JobFile& job, const std::string& data_sha256, const std::string& version);

/// Fills in data_sha256, data_fingerprint and fingerprint.
void identify_data(CurveRun& run, const std::string& data_sha256);

/// The part of a summary that describes the job; `source`: the name of its data.
RunSummary start_run_summary(const CurveRun& run, const std::string& source);

/// One epoch of one point.
struct CurveEpoch {
  int point = 1;  ///< From 1; 0: the common start.
  MetricsLine line{};
};

/// Callbacks while a curve is made. All may be empty; some are called from several threads.
struct CurveEvents {
  std::function<bool()> interrupted{};
  std::function<void(const std::string&)> phase{};
  std::function<void(const CurveEpoch&)> epoch{};
  /// Called for a finished point: returns where to save its model; an empty path: nowhere.
  std::function<std::filesystem::path(int point)> place{};
  std::function<void(int point)> finished{};
};

/// A point as it is compared with a limit.
struct LimitPoint {
  int number = 1;
  double distortion = 0;
  Interval leakage{};
  double upper_end = 0;  ///< Upper end of its audit, nats.
  bool inconclusive = false;
};
/// The point of least distortion that is shown to be within the limit; null if there is none.
const LimitPoint* first_within_limit(const std::vector<LimitPoint>& points, double limit);

struct CurveOutcome {
  CurveTable curve{};
  std::vector<std::string> warnings{};
  int finished = 0;  ///< Points.
  bool interrupted = false;
  std::vector<LimitPoint> points{};
};

/// Which point is shown to be within the limit, as a line of text; empty without a limit or without such a
/// point.
std::string limit_text(const CurveOutcome& outcome, std::optional<double> limit);

class CurveTask {
 public:
  virtual ~CurveTask() = default;
  CurveTask(const CurveTask&) = delete;
  CurveTask& operator=(const CurveTask&) = delete;

  [[nodiscard]] virtual const CurveRun& run() const = 0;
  [[nodiscard]] virtual const std::vector<std::string>& notices() const = 0;
  [[nodiscard]] virtual int threads() const = 0;
  [[nodiscard]] virtual int planned() const = 0;
  [[nodiscard]] virtual int epochs() const = 0;  ///< Of a point, about.
  /// Whether the common start reports its epochs as a point does.
  [[nodiscard]] virtual bool start_counts() const = 0;
  /// Made at the first call, which may take a while.
  [[nodiscard]] virtual Domain& domain() = 0;
  /// Writes the files of the finished pieces; without a finished point none. Throws Error(kDiverged) when no
  /// point could be trained.
  [[nodiscard]] virtual CurveOutcome write(const Pieces& pieces, const std::filesystem::path& directory,
                                           double seconds) = 0;

 protected:
  CurveTask() = default;
};

/// Reads the data of the job, a table or images. Throws Error(kUsage) for a job that cannot be run and
/// Error(kBadInput) for data that cannot be used.
std::unique_ptr<CurveTask> make_curve_task(CurveRun run, CurveEvents events);

}  // namespace ppan
