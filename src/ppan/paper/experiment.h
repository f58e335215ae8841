#pragma once

// The paper's synthetic experiments by name, each next to the theoretical optimum. An experiment is a list of
// operating points; a point is planned (plan_points), trained and scored on fresh data (run_point) on its
// own, so that points run side by side and give the same numbers however many threads there are.

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"
#include "ppan/game/budget.h"
#include "ppan/game/mechanism.h"
#include "ppan/paper/registry.h"
#include "ppan/train/train.h"

namespace ppan {

/// kPaper: the settings printed in the paper, with the `expected` budget. kBest: the settings that came
/// closest to the optimum here, at the paper's training sizes; scored on more test data.
/// docs/decisions/0003-best-preset.md.
enum class Preset { kPaper, kBest };
std::string_view to_string(Preset preset);
Preset preset_of(std::string_view name);  ///< Throws Error(kUsage) with the nearest names.

/// What a user may change about a training; absent values stay as in the preset.
struct TrainingChanges {
  std::optional<MechanismKind> mechanism;  ///< Replaces the family of the preset.
  std::optional<BudgetForm> budget_form;
  std::optional<int> epochs;
  std::optional<Index> batch;
  std::optional<int> adversary_steps;
  std::optional<double> rate;                          ///< Of mechanism and adversary.
  std::optional<std::vector<Index>> hidden;            ///< Of the mechanism; may be empty.
  std::optional<std::vector<Index>> adversary_hidden;  ///< May be empty.
  std::optional<Index> draws;                          ///< k.
  std::optional<Index> noise_inputs;                   ///< s, noise-input only.
  std::optional<Index> components;                     ///< Of a mixture.
  std::optional<bool> full_covariance;  ///< Of a gaussian mechanism or a mixture's components; else diagonal.
  std::optional<Index> train_records;
  std::optional<Index> test_records;
  std::optional<double> weight;  ///< lambda of a penalty, rho of a dual budget.
};

struct ExperimentOptions {
  std::string name;
  Preset preset = Preset::kBest;
  std::optional<int> points;  ///< Operating points of each series; default 20 (scatter: 1).
  std::uint64_t seed = 1;
  std::optional<MechanismKind> mechanism;  ///< As in `change`, which these three add to.
  std::optional<BudgetForm> budget_form;
  std::optional<int> epochs;
  int threads = 0;  ///< 0: one per core. Does not change any number.
  /// For experiments that are changeable: a world that replaces the registry's, and other observations of it.
  std::optional<WorldOptions> world{};
  std::vector<ObservationOptions> observations{};
  std::vector<double> budgets{};  ///< One point each, instead of evenly spread ones.
  std::vector<double>
      lambda{};      ///< One point each, with the weighted loss I + lambda E d instead of budgets.
  double alpha = 1;  ///< Order of the adversary's loss and of the leakage. Finite worlds.
  TrainingChanges change{};

  /// Every problem at once. An unknown name is one of them, with the nearest names.
  [[nodiscard]] Problems check() const;
  /// The world that is run: `world`, or the registry's.
  [[nodiscard]] const WorldOptions& world_used() const;
  [[nodiscard]] std::vector<ObservationOptions> observations_used() const;
};

/// A point as it is planned.
struct PlannedPoint {
  std::string series;
  double budget = 0;  ///< NaN with a fixed weight.
  double weight = 0;  ///< lambda; 0 where there is none.
};

/// One point of a series, trained and scored (or solved, for the conventional approach).
struct ExperimentPoint {
  Index plan = 0;         ///< Its number in the plan, from 0.
  std::string series;     ///< WHO/OBSERVATION, for example ppan/useful-only.
  double budget = 0;      ///< delta, in the units of the distortion; NaN with a fixed weight.
  double weight = 0;      ///< lambda; 0 where there is none.
  double distortion = 0;  ///< Measured on the test data (exact for finite worlds).
  Estimate leakage;       ///< What the experiment is scored by.
  double optimum = 0;     ///< Least leakage possible at the measured distortion, nats; NaN where not known.
  std::optional<Estimate> ksg;  ///< Where X and Z are low-dimensional.
  /// Distortion of the final mechanism on the training data, released several times; present for trained
  /// points.
  std::optional<double> training_distortion;
  /// Nats of leakage that the next unit of distortion above the budget would save at the optimum; NaN where
  /// that is not known.
  double price = 0;
  Matrix<double> channel;                       ///< Finite worlds: P(z|w), a row per w.
  std::shared_ptr<Mechanism<float>> mechanism;  ///< Trained points.
  std::optional<double> training_belief;        ///< I(X;Z) as the training adversary believes it, nats.
  double sensitive_entropy = 0;  ///< h(X) of the training data: turns mean log Q(x|z) into information.
  std::optional<TrainSummary> training;
  std::string message;  ///< Why training stopped, or what the solver certified.
  double seconds = 0;   ///< Wall clock.

  [[nodiscard]] double excess() const { return leakage.nats - optimum; }
  /// Trained to a budget, not with a fixed weight.
  [[nodiscard]] bool has_budget() const { return std::isfinite(budget); }
  /// The optimum spends the whole budget, and exists: its price is positive and finite. False where
  /// everything can be hidden for less, and where no finite leakage meets the budget.
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

/// The distortion at which a training on a sample of a Gaussian world should aim, so that fresh records
/// seldom exceed what counts as met (2 % or 0.01 above the budget). The mean of n squared Gaussian errors,
/// spread over the components of Y, has a standard error of budget sqrt(2 / (n components)): this is the
/// sampling error. `share` of the error comes from the records, the remainder from noise that training
/// averages out.
double gaussian_aim(double budget, Index records, Index components, double share = 1);

/// What a reader must know about a point: training that diverged, a budget that is missed or overspent by
/// more than 2 % and 0.01, one that no finite leakage meets. A sentence each.
std::vector<std::string> point_warnings(const ExperimentPoint& point);

/// The points of the experiment, over all its series, in the order of the plan.
std::vector<PlannedPoint> planned_points(const ExperimentOptions& options);

/// Runs the whole experiment. Throws Error(kUsage) listing every problem of `options`.
ExperimentResult run_experiment(const ExperimentOptions& options, const ExperimentHooks& hooks = {});

/// The optimum for one observation of the world on a grid of distortions, finite values only.
struct OptimumCurve {
  std::string series;  ///< optimum/OBSERVATION
  std::vector<double> distortion;
  std::vector<double> leakage;
};
/// `resolution` points over the range of the budgets; where a solver gives the optimum 41 at most. Series
/// whose optimum is not known are left out.
std::vector<OptimumCurve> optimum_curves(const ExperimentOptions& options, int resolution);

}  // namespace ppan
