#pragma once

// Every experiment by name: the world it runs on, what the mechanism observes, and the budgets it covers, in
// one place each. The numbers of the trainings are in settings.cc, by kind of world.

#include <string>
#include <string_view>
#include <vector>

#include "ppan/paper/world.h"

namespace ppan {

/// One curve of an experiment.
struct SeriesEntry {
  ObservationOptions observation;
  /// Budgets are spread evenly from the least that is possible to this one; 0: to where nothing need leak.
  double most_budget = 0;
};

struct ExperimentEntry {
  std::string name;
  std::string description;
  WorldOptions world;
  std::vector<SeriesEntry> series;
  bool changeable = false;  ///< The user may give the world's parameters and observations.
  bool scatter = false;     ///< One point, shown as clouds of its components.
};

const std::vector<ExperimentEntry>& experiment_registry();
std::vector<std::string> experiment_names();
/// The message for an unknown name: the closest known names, including mnist.
std::string unknown_experiment(std::string_view name);
/// Null for an unknown name.
const ExperimentEntry* find_experiment(std::string_view name);
/// Throws Error(kUsage) with the nearest names.
const ExperimentEntry& experiment_entry(std::string_view name);

}  // namespace ppan
