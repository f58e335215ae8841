#pragma once

// report.html: one self-contained page on which a person can choose a point of the curve and defend the
// choice. A pure function of the run's own files, so that it can be rebuilt at any time.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ppan/report/curve_file.h"
#include "ppan/report/details.h"
#include "ppan/report/run_summary.h"

namespace ppan {

struct RunFiles {
  CurveTable curve;    ///< Without the optimum's own rows.
  CurveTable optimum;  ///< Those, series optimum/OBSERVATION.
  RunSummary summary;
  std::vector<MetricsLine> metrics;
  RunDetails details;
  /// Contents of the images that `details` names, by file name: PNG or SVG.
  std::map<std::string, std::string> images;
  std::vector<std::string> files;  ///< Names of the files in the run directory, for the list at the end.
};

/// Names of the regular files in the directory of a run, in order. Links lead elsewhere and are not among
/// them; neither are hidden files.
std::vector<std::string> files_of_run(const std::filesystem::path& directory);

/// Reads curve.csv and summary.json, and metrics.jsonl, the details files and the images where they exist.
/// SVG files other than curve.svg and task.svg that no details file names count as images of the run. Throws
/// Error(kUsage) when `run` is not a directory with a curve, Error(kBadInput) for a damaged file.
RunFiles read_run(const std::filesystem::path& run);

/// The page. Everything that came from a user is escaped; no script but its own can run in it, and nothing is
/// loaded from anywhere.
std::string to_html(const RunFiles& run);

/// Writes `run`/curve.svg, `run`/task.svg where a task was measured, and `run`/report.html from the other
/// files of the run; returns the path of the page. Throws as read_run() does, and Error(kIo).
std::filesystem::path write_report(const std::filesystem::path& run);

}  // namespace ppan
