// How near the optimum the experiments come: excess over the least possible leakage, for the preset `best`
// (and `paper` beside it), over several seeds, against the bars the project holds itself to. Deterministic
// for a seed.
//   bench_quality [--points N] [--first-seed S] [--seeds N] [--only EXPERIMENT] [--paper]
// The settings were chosen on seeds 1 to 3; others show whether they were only made for these.
// Prints a Markdown table; exit status 1 if a bar is missed.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ppan/paper/experiment.h"

namespace {

using ppan::ExperimentOptions;
using ppan::ExperimentPoint;
using ppan::MechanismKind;

struct Bar {
  std::string experiment;
  std::optional<MechanismKind> mechanism;
  std::string series;
  bool ksg;  // on the nearest-neighbour estimate instead of the score
  double mean;
  double most;
  bool below_conventional = false;
};

const std::vector<Bar>& bars() {
  static const std::vector<Bar> list{
      {"discrete", {}, "ppan/useful-only", false, 0.002, 0.01},
      {"discrete", {}, "ppan/full-data", false, 0.018, 0.03, true},
      {"scalar-gaussian", {}, "ppan/useful-only", false, 0.008, 0.03},
      {"scalar-gaussian", {}, "ppan/full-data", false, 0.008, 0.03},
      {"scalar-gaussian", {}, "ppan/useful-only", true, 0.02, 0.06},
      {"scalar-gaussian", {}, "ppan/full-data", true, 0.02, 0.06},
      {"vector-gaussian", {}, "ppan/useful-only", false, 0.012, 0.035},
      {"rate-distortion", {}, "ppan/rate-distortion", false, 0.05, 0.15},
      {"scalar-gaussian", MechanismKind::kGaussian, "ppan/useful-only", false, 0.005, 0.02},
      {"scalar-gaussian", MechanismKind::kMixture, "ppan/useful-only", false, 0.01, 0.03},
      {"scalar-gaussian", MechanismKind::kNoisyCode, "ppan/useful-only", false, 0.005, 0.02},
      {"vector-gaussian", MechanismKind::kNoisyCode, "ppan/useful-only", false, 0.01, 0.03},
      {"bottleneck-gaussian", {}, "ppan/bottleneck", false, 0.01, 0.03},
      {"bottleneck-binary", {}, "ppan/bottleneck", false, 0.01, 0.03},
  };
  return list;
}

struct Excess {
  double sum = 0;
  double most = -std::numeric_limits<double>::infinity();
  int count = 0;
  [[nodiscard]] double mean() const { return sum / count; }
};

Excess excess_of(const std::vector<ExperimentPoint>& points, const std::string& series, bool ksg) {
  Excess e;
  for (const ExperimentPoint& p : points) {
    if (p.series != series || (ksg && !p.ksg)) continue;
    const double excess = ksg ? p.ksg->nats - p.optimum : p.excess();
    e.sum += excess;
    e.most = std::max(e.most, excess);
    ++e.count;
  }
  return e;
}

/// How far the distortion on the training data is from the budget of the points that it binds, beyond the
/// allowance of 2 % or 0.01; at most 0 where all meet it.
double worst_budget_miss(const std::vector<ExperimentPoint>& points, const std::string& series) {
  double worst = -std::numeric_limits<double>::infinity();
  for (const ExperimentPoint& p : points) {
    if (p.series != series || !p.training || p.training->epochs.back().multiplier <= 0.01) continue;  // slack
    worst = std::max(worst, std::abs(*p.training_distortion - p.budget) - std::max(0.01, 0.02 * p.budget));
  }
  return worst;
}

}  // namespace

int main(int count, char** arguments) {
  int points = 20;
  int first_seed = 1;
  int seeds = 3;
  std::string only;
  auto preset = ppan::Preset::kBest;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--paper") {
      preset = ppan::Preset::kPaper;
    } else if (i + 1 < count && argument == "--points") {
      points = std::atoi(arguments[++i]);
    } else if (i + 1 < count && argument == "--first-seed") {
      first_seed = std::atoi(arguments[++i]);
    } else if (i + 1 < count && argument == "--seeds") {
      seeds = std::atoi(arguments[++i]);
    } else if (i + 1 < count && argument == "--only") {
      only = arguments[++i];
    } else {
      fmt::print(
          stderr,
          "usage: bench_quality [--points N] [--first-seed S] [--seeds N] [--only EXPERIMENT] [--paper]\n");
      return 2;
    }
  }
  fmt::print("Excess over the optimum, nats; preset {}, {} points.\n\n", to_string(preset), points);
  fmt::print("| experiment | mechanism | series | estimate | seed | mean | bar | max | bar | |\n");
  fmt::print("|---|---|---|---|---|---|---|---|---|---|\n");
  bool missed = false;
  // Runs are shared by the bars that read them.
  std::map<std::string, std::vector<ExperimentPoint>> runs;
  for (const Bar& bar : bars()) {
    if (!only.empty() && only != bar.experiment) continue;
    for (int seed = first_seed; seed < first_seed + seeds; ++seed) {
      const std::string family = bar.mechanism ? std::string(to_string(*bar.mechanism)) : "default";
      const std::string key = fmt::format("{}/{}/{}", bar.experiment, family, seed);
      if (!runs.contains(key)) {
        ExperimentOptions options{.name = bar.experiment, .preset = preset, .points = points};
        options.seed = static_cast<std::uint64_t>(seed);
        options.mechanism = bar.mechanism;
        runs[key] = run_experiment(options).points;
      }
      const Excess e = excess_of(runs[key], bar.series, bar.ksg);
      bool ok = e.mean() <= bar.mean && e.most <= bar.most;
      std::string verdict;
      if (bar.below_conventional) {
        std::string rival = bar.series;
        rival.replace(0, 4, "conventional");
        const double other = excess_of(runs[key], rival, false).mean();
        ok = ok && e.mean() <= other;
        verdict = fmt::format(" (conventional {:.4f})", other);
      }
      // Far below the optimum is as suspicious as far above: the estimate would be fooled.
      ok = ok && e.mean() >= -0.005;
      missed = missed || !ok;
      // What a dual budget promises: the distortion asked for, on the training data, wherever it binds.
      if (const double miss = worst_budget_miss(runs[key], bar.series); miss > 0) {
        missed = true;
        verdict += fmt::format("; a budget MISSED by {:.4f} more than is allowed", miss);
      }
      fmt::print("| {} | {} | {} | {} | {} | {:+.4f} | {} | {:+.4f} | {} | {}{} |\n", bar.experiment, family,
                 bar.series, bar.ksg ? "KSG" : "score", seed, e.mean(), bar.mean, e.most, bar.most,
                 ok ? "met" : "MISSED", verdict);
      std::fflush(stdout);
    }
  }
  return missed && preset == ppan::Preset::kBest ? 1 : 0;
}
