#include "ppan/paper/registry.h"

#include <cmath>

#include "ppan/core/suggest.h"

namespace ppan {
namespace {

using Kind = ObservationKind;

Vector<double> paper_components() {  // correlations of the vector experiment, variances of rate-distortion
  return (Vector<double>(5) << 0.47, 0.24, 0.85, 0.07, 0.66).finished();
}

SeriesEntry seen(Kind kind, double most_budget = 0) {
  SeriesEntry series;
  series.observation.kind = kind;
  series.most_budget = most_budget;
  return series;
}

WorldOptions gaussian(const Vector<double>& rho) {
  WorldOptions world;
  world.kind = WorldKind::kGaussian;
  world.rho = rho;
  return world;
}

WorldOptions source(const Vector<double>& variances) {
  WorldOptions world;
  world.kind = WorldKind::kGaussian;
  const Matrix<double> diagonal = variances.asDiagonal();
  world.covariance = {diagonal, diagonal, diagonal};
  return world;
}

WorldOptions table(const Matrix<double>& pair) {
  WorldOptions world;
  world.kind = WorldKind::kFinite;
  world.table.world = finite_table(pair);
  return world;
}

std::vector<ExperimentEntry> make_registry() {
  const Vector<double> five = paper_components();
  const Vector<double> one = Vector<double>::Constant(1, 0.85);
  const Matrix<double> binary = (Matrix<double>(2, 2) << 0.45, 0.05, 0.05, 0.45).finished();
  const Matrix<double> erased = (Matrix<double>(2, 3) << 0.35, 0, 0.15, 0, 0.35, 0.15).finished();
  return {
      {"discrete",
       "symmetric pair of 10 symbols, 1,000 samples, probability of error; next to the conventional approach "
       "on "
       "the same samples",
       {},
       {seen(Kind::kUsefulOnly, 1), seen(Kind::kFullData, 1)}},
      {"scalar-gaussian",
       "two Gaussians with correlation 0.85, squared error; useful data only and full data",
       gaussian(one),
       {seen(Kind::kUsefulOnly, 1), seen(Kind::kFullData, 0.8)}},
      {"vector-gaussian",
       "five pairs of Gaussians with different correlations, squared error",
       gaussian(five),
       {seen(Kind::kUsefulOnly, 4.5)}},
      {"rate-distortion",
       "five Gaussians that are sensitive and useful at once, squared error",
       source(five),
       {seen(Kind::kRateDistortion, 2.5)}},
      {.name = "scatter",
       .description = "the vector mechanism at budget 0.23, component by component, as point clouds",
       .world = gaussian(five),
       .series = {seen(Kind::kUsefulOnly, 0.23)},
       .scatter = true},
      {"bottleneck-gaussian",
       "information bottleneck of two Gaussians with correlation 0.85: usefulness is mutual information",
       gaussian(one),
       {seen(Kind::kBottleneck)}},
      {"bottleneck-binary",
       "information bottleneck of a doubly symmetric binary source with crossover 0.1",
       table(binary),
       {seen(Kind::kBottleneck)}},
      {"funnel-erasure",
       "privacy funnel of a fair bit X and Y = X, erased with probability 0.3: usefulness is I(Y;Z), W = Y",
       table(erased),
       {seen(Kind::kFunnel)}},
      {.name = "symmetric-pair",
       .description = "X and Y on --m symbols, different with probability --p; any observation",
       .world = {},
       .series = {seen(Kind::kUsefulOnly)},
       .changeable = true},
      {.name = "gaussian",
       .description = "jointly Gaussian X and Y, by --rho for independent pairs or by --covariance FILE; any "
                      "observation",
       .world = gaussian(one),
       .series = {seen(Kind::kUsefulOnly)},
       .changeable = true},
      {.name = "finite",
       .description = "any finite X, Y and W, by --pmf FILE (CSV with columns x, y, w, probability); any "
                      "observation, distortion matrix or information as usefulness",
       .world = table(binary),
       .series = {seen(Kind::kUsefulOnly)},
       .changeable = true},
  };
}

}  // namespace

const std::vector<ExperimentEntry>& experiment_registry() {
  static const std::vector<ExperimentEntry> registry = make_registry();
  return registry;
}

std::vector<std::string> experiment_names() {
  std::vector<std::string> names;
  for (const ExperimentEntry& entry : experiment_registry()) names.push_back(entry.name);
  return names;
}

const ExperimentEntry* find_experiment(std::string_view name) {
  for (const ExperimentEntry& entry : experiment_registry()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

std::string unknown_experiment(std::string_view name) {
  std::vector<std::string> names = experiment_names();
  names.emplace_back("mnist");  // a run of its own (paper/mnist_run.h)
  return unknown_name("experiment", name, names);
}

const ExperimentEntry& experiment_entry(std::string_view name) {
  if (const ExperimentEntry* entry = find_experiment(name)) return *entry;
  throw Error(ErrorCode::kUsage, unknown_experiment(name));
}

}  // namespace ppan
