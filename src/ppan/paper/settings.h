#pragma once

// Every number that defines the trainings, by kind of world, in one place (the paper's section 4).

#include "ppan/paper/experiment.h"

namespace ppan {

struct SeriesSettings {
  std::string observation;  ///< As it stands in the series name.
  double least_budget = 0;  ///< Budgets are spread evenly over [least_budget, most_budget].
  double most_budget = 1;
  TrainOptions train;  ///< All but the budget's limit and the seed.
  World world;
};

struct ExperimentSettings {
  std::vector<SeriesSettings> series;
  Index train_records = 0;
  Index test_records = 0;     ///< 0: scored exactly.
  Index ksg_records = 0;      ///< 0: no nearest-neighbour estimate.
  bool conventional = false;  ///< With the convex baseline on the same samples.
  /// Finite worlds: train on the sample with its cells shrunk towards each other (shrunken_sample.h). The
  /// conventional approach is shown without and with the same prior. Budgets apply to the records themselves:
  /// the limit of the training is adjusted until they are met.
  bool shrunken = false;
  bool scatter = false;
};

/// For options that have been checked; overrides are applied.
ExperimentSettings settings_of(const ExperimentOptions& options);
/// Where the preset `paper` departs from what is printed, a sentence each.
std::vector<std::string> deviations_from_paper(const ExperimentEntry& entry);

}  // namespace ppan
