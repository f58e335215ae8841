#pragma once

// The paper's synthetic experiments by name, each next to the theoretical optimum. An experiment is a list of
// operating points; a point is planned (plan_points), trained and scored on fresh data (run_point) on its
// own, so that points run side by side and give the same numbers however many threads there are.

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/game/budget.h"
#include "ppan/game/mechanism.h"
#include "ppan/train/train.h"

namespace ppan {

/// kPaper: the settings printed in the paper, with the `expected` budget. kBest: what came nearest the
/// optimum here, at the paper's training sizes; scored on more test data. docs/decisions/0003-best-preset.md.
enum class Preset { kPaper, kBest };
std::string_view to_string(Preset preset);
Preset preset_of(std::string_view name);  ///< Throws Error(kUsage) with the nearest names.

struct ExperimentInfo {
  std::string name;
  std::string description;
};
const std::vector<ExperimentInfo>& experiments();

struct ExperimentOptions {
  std::string name;
  Preset preset = Preset::kBest;
  std::optional<int> points;  ///< Operating points of each series; default 20 (scatter: 1).
  std::uint64_t seed = 1;
  std::optional<MechanismKind> mechanism;  ///< Another family than the preset's.
  std::optional<BudgetForm> budget_form;
  std::optional<int> epochs;
  int threads = 0;  ///< 0: one per core. Does not change any number.

  /// Every problem at once. An unknown name is one of them, with the nearest names.
  [[nodiscard]] Problems check() const;
};

/// A point as it is planned.
struct PlannedPoint {
  std::string series;
  double budget = 0;
};

/// One point of a series, trained and scored (or solved, for the conventional approach).
struct ExperimentPoint {
  Index plan = 0;               ///< Its number in the plan, from 0.
  std::string series;           ///< WHO/OBSERVATION, for example ppan/useful-only.
  double budget = 0;            ///< delta, in the units of the distortion.
  double weight = 0;            ///< lambda; 0 where there is none.
  double distortion = 0;        ///< Measured on the test data (exact for finite worlds).
  Estimate leakage;             ///< What the experiment is scored by.
  double optimum = 0;           ///< Least leakage possible at the measured distortion, nats.
  std::optional<Estimate> ksg;  ///< Where X and Z are low-dimensional.
  /// Of the final mechanism on the training data, released several times; present for trained points.
  std::optional<double> training_distortion;
  /// Nats of leakage that the next unit of distortion above the budget would save at the optimum.
  double price = 0;
  std::optional<double> training_belief;  ///< I(X;Z) as the training adversary believes it, nats.
  double sensitive_entropy = 0;  ///< h(X) of the training data: turns mean log Q(x|z) into information.
  std::optional<TrainSummary> training;
  std::string message;  ///< Why training stopped, or what the solver certified.
  double seconds = 0;   ///< Wall clock.

  [[nodiscard]] double excess() const { return leakage.nats - optimum; }
  /// The optimum spends the whole budget, and exists: its price is positive and finite. Not so where all can
  /// be hidden for less, nor where no finite leakage meets the budget.
  [[nodiscard]] bool binding() const { return price > 0 && std::isfinite(price); }
};

/// Cloud of one component of the scatter experiment, and least-squares lines through (y, x) and (y, z).
struct ScatterCloud {
  double rho = 0;
  std::vector<double> y, x, z;
  double slope_x = 0, intercept_x = 0;
  double slope_z = 0, intercept_z = 0;
};

struct ExperimentResult {
  ExperimentOptions given;
  std::vector<ExperimentPoint> points;  ///< Finished ones, in the order of the plan.
  std::vector<ScatterCloud> scatter;    ///< Only of the scatter experiment.
  std::vector<PlannedPoint> plan;
  Index planned = 0;
  bool interrupted = false;
};

struct ExperimentHooks {
  /// Asked between epochs; true ends the run, keeping finished points.
  std::function<bool()> interrupted;
  /// After each epoch of each point, with the leakage as its own adversary sees it, nats; called from several
  /// threads at once.
  std::function<void(Index point, const EpochReport&, double leakage)> epoch;
  /// After each finished point; one call at a time.
  std::function<void(Index point, const ExperimentPoint&)> finished;
};

/// The points of the experiment, over all its series, in the order of the plan.
std::vector<PlannedPoint> planned_points(const ExperimentOptions& options);

/// Runs the whole experiment. Throws Error(kUsage) listing every problem of `options`.
ExperimentResult run_experiment(const ExperimentOptions& options, const ExperimentHooks& hooks = {});

/// Distortion at which the optimum of a series reaches its ends, for drawing: (x, least leakage) pairs.
struct OptimumCurve {
  std::string series;
  std::vector<double> distortion;
  std::vector<double> leakage;
};
std::vector<OptimumCurve> optimum_curves(const ExperimentOptions& options, int resolution);

}  // namespace ppan
