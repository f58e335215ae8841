#pragma once

// An experiment run once, or over several seeds and training sizes, and the contents of its files.

#include <string>
#include <vector>

#include "ppan/paper/experiment.h"
#include "ppan/report/curve_file.h"
#include "ppan/report/figure.h"
#include "ppan/report/run_summary.h"

namespace ppan {

struct StudyOptions {
  ExperimentOptions experiment;
  int seeds = 1;                   ///< From experiment.seed on. 1 to 1000.
  std::vector<Index> train_sizes;  ///< One curve for each; empty: the size of the preset.

  [[nodiscard]] Problems check() const;
};

/// Every seed of one training size.
struct StudyPart {
  Index train_records = 0;
  std::vector<ExperimentResult> by_seed;
};

struct Study {
  StudyOptions given;
  std::vector<StudyPart> parts;
  bool interrupted = false;
  double seconds = 0;

  /// Points, over all seeds and sizes.
  [[nodiscard]] std::size_t finished() const;
  /// Whether the training of a point diverged.
  [[nodiscard]] bool diverged() const;
};

/// How many points a study trains or solves, over all seeds and sizes.
Index study_points(const StudyOptions& options);
/// Points are numbered through the whole study in the hooks. Throws Error(kUsage) listing every problem.
Study run_study(const StudyOptions& options, const ExperimentHooks& hooks = {});

/// Rows of the points, means over the seeds: with several, the columns `seeds`, `leakage_sd`, `distortion_sd`
/// and `excess_sd` follow, and the interval of the leakage is its mean plus and minus one standard deviation
/// over the seeds. With several training sizes WHO in the series is WHO@SIZE. Without the optimum.
CurveTable study_curve(const Study& study);
/// The optimum on a fine grid, series optimum/OBSERVATION.
CurveTable study_optimum(const Study& study);
/// The request, the settings used and the results. The caller adds the version and the command line.
RunSummary study_summary(const Study& study);
/// A line for each epoch of each point of the first seed.
std::string study_metrics(const Study& study);
/// P(z|w) of every finite point of the first seed: series,point,w,z,probability. Empty where nothing is
/// finite.
std::string study_channels(const Study& study);
/// Mean excess against the number of training records, a series for each approach; absent with one size.
std::optional<Figure> size_figure(const Study& study);
/// Warnings of all points of all seeds, with the point named.
std::vector<std::string> study_warnings(const Study& study);

}  // namespace ppan
