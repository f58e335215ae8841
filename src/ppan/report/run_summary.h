#pragma once

// summary.json: the request, the settings used, why it stopped and which claims the result supports, as data.
// The report is a function of this, curve.csv and metrics.jsonl.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan {

/// One option of the run: what the user gave (absent: nothing) and what was used.
struct RunSetting {
  std::string name;
  std::optional<std::string> given;
  std::string used;
  friend bool operator==(const RunSetting&, const RunSetting&) = default;
};

/// A further number about privacy, in addition to the one by which a point is scored.
struct NamedEstimate {
  std::string name;  ///< For example "nearest neighbours (KSG)".
  Estimate estimate;
};

struct PointSummary {
  std::string series;  ///< As in curve.csv.
  int number = 1;      ///< Within its series, from 1; the `point` column of curve.csv.
  std::optional<double> budget;
  std::optional<double> weight;
  std::optional<double> distortion;
  std::string stop;     ///< "epoch limit", "observer", "diverged", ...
  std::string message;  ///< Why it stopped, in words.
  int epochs = 0;
  std::int64_t iterations = 0;
  double seconds = 0;
  std::optional<Estimate> leakage;
  std::vector<NamedEstimate> estimates;   ///< Others of the same quantity.
  std::optional<double> training_belief;  ///< By the adversary of the game, nats. Never evidence.
  std::string model;                      ///< Model file in the run directory; empty when none was saved.
  std::vector<std::string> warnings;
};

/// A requested point that is missing.
struct MissingPoint {
  std::string series;
  int number = 1;
  std::optional<double> budget;
  std::string reason;
};

enum class RunStatus { kComplete, kInterrupted };
std::string_view to_string(RunStatus status);

struct RunSummary {
  // Who made it.
  std::string program = "ppan";
  std::string version;
  std::string command;  ///< As typed, for example "ppan paper scalar-gaussian --out run".

  // What it is about, in words.
  std::string name;             ///< Experiment or job.
  std::string description;      ///< A sentence or two.
  std::string hidden;           ///< What is to be hidden (X).
  std::string observed;         ///< What the mechanism sees (W).
  std::string useful;           ///< What stays useful (Y).
  std::string distortion_name;  ///< For axes, for example "mean squared error".
  std::string distortion_unit;  ///< For example "variances" or "fraction of cells"; empty when it has none.
  /// Leakage of a release that hides nothing, nats: I(X;W) or H(X).
  std::optional<double> leakage_ceiling;

  // How it was made.
  std::vector<RunSetting> settings;
  std::uint64_t seed = 0;
  std::vector<std::pair<std::string, std::string>> facts;  ///< Sizes, fingerprints of data, library versions.
  std::string job_file;                                    ///< Without comments; empty when there was none.
  double seconds = 0;

  RunStatus status = RunStatus::kComplete;
  std::vector<MissingPoint> missing;  ///< When interrupted, or where a point diverged.
  std::vector<PointSummary> points;
  std::vector<std::string> warnings;

  std::vector<std::string> claimed;      ///< What the numbers support, a sentence each.
  std::vector<std::string> not_claimed;  ///< What they do not.
};

std::string to_json(const RunSummary& summary);
/// Throws Error(kBadInput) for text that is not such a summary. Keys it does not know are ignored, keys that
/// are absent keep their defaults, so that older and newer runs can be read. `name` is what messages call the
/// file.
RunSummary run_summary_from_json(const std::string& text, const std::string& name = "summary.json");

/// One line of metrics.jsonl: one epoch of one point.
struct MetricsLine {
  std::string series;
  int number = 1;
  int epoch = 1;
  std::optional<double> distortion;     ///< Mean over the epoch.
  std::optional<double> leakage;        ///< By the adversary of the game, nats: h(X) + mean log Q(x|z).
  std::optional<double> loss;           ///< The mechanism's.
  std::optional<double> penalty;        ///< The budget's part of it.
  std::optional<double> multiplier;     ///< Of a dual budget.
  std::optional<double> discriminator;  ///< Its objective.
  friend bool operator==(const MetricsLine&, const MetricsLine&) = default;
};

/// A line with its line end.
std::string to_json_line(const MetricsLine& line);
/// Lines that cannot be read (a run cut off while writing) are skipped when they are the last, and an
/// Error(kBadInput) otherwise.
std::vector<MetricsLine> metrics_from_jsonl(const std::string& text,
                                            const std::string& name = "metrics.jsonl");

}  // namespace ppan
