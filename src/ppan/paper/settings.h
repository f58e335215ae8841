#pragma once

// Every number that defines the experiments, in one place (the paper's section 4).

#include "ppan/paper/experiment.h"

namespace ppan {

struct SeriesSettings {
  std::string observation;  ///< As it stands in the series name.
  double most_budget = 1;   ///< Budgets are spread evenly over [0, most_budget].
  TrainOptions train;       ///< All but the budget's limit and the seed.
};

struct ExperimentSettings {
  std::vector<SeriesSettings> series;
  Index train_records = 0;
  Index test_records = 0;     ///< 0: scored exactly.
  Index ksg_records = 0;      ///< 0: no nearest-neighbour estimate.
  bool conventional = false;  ///< With the convex baseline on the same samples.
  /// Finite worlds: pseudo-records of every pair (x, y) added to the training data, as a symmetric Dirichlet
  /// prior of this strength would (add-one smoothing: 1). The conventional approach is left without.
  int pseudo_records = 0;
};

/// For options that have been checked; overrides are applied.
ExperimentSettings settings_of(const ExperimentOptions& options);

}  // namespace ppan
