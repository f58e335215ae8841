// Worlds of the user's own, other orders of leakage, several seeds and sizes: short trainings, but many.

#include "ppan/paper/study.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ppan/theory/symmetric_pair.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

ExperimentOptions small(std::string name) {
  ExperimentOptions options{.name = std::move(name), .preset = Preset::kPaper};
  options.epochs = 2;
  if (options.name != "scatter") options.points = 2;
  return options;
}

ExperimentOptions changed(std::string name, std::vector<ObservationKind> kinds) {
  ExperimentOptions options = small(std::move(name));
  options.world = experiment_entry(options.name).world;
  for (const ObservationKind kind : kinds) {
    ObservationOptions observation;
    observation.kind = kind;
    options.observations.push_back(observation);
  }
  return options;
}

TEST(Worlds, EveryObservationRunsBesideItsOptimum) {
  using Kind = ObservationKind;
  std::vector<ExperimentOptions> all{
      changed("symmetric-pair", {Kind::kUsefulOnly, Kind::kFullData, Kind::kNoisy, Kind::kPartial}),
      changed("gaussian", {Kind::kUsefulOnly, Kind::kFullData, Kind::kNoisy, Kind::kPartial}),
      changed("finite", {Kind::kUsefulOnly, Kind::kFullData, Kind::kNoisy, Kind::kPartial})};
  all[0].world->pair = {.m = 3, .p = 0.2};
  for (ExperimentOptions& options : all) {
    SCOPED_TRACE(options.name);
    options.change.train_records = 300;
    const ExperimentResult result = run_experiment(options);
    EXPECT_EQ(static_cast<Index>(result.points.size()), result.planned);
    for (const ExperimentPoint& p : result.points) {
      EXPECT_TRUE(std::isfinite(p.optimum)) << p.series;
      if (p.leakage.bound == Bound::kExact) {
        EXPECT_GE(p.excess(), -1e-5) << p.series << ' ' << p.budget;  // nothing beats it
      }
    }
    EXPECT_EQ(optimum_curves(options, 21).size(), 4U);
  }
}

TEST(Experiment, PriorRecordsDoNotCountInTheBudget) {
  ExperimentOptions options{.name = "discrete"};
  options.budgets = {0.211};
  for (const ExperimentPoint& p : run_experiment(options).points) {
    SCOPED_TRACE(p.series);
    EXPECT_NEAR(p.distortion, 0.211, 0.01);
  }
}

TEST(Experiment, AnAlphaLossGameComesNearItsOwnOptimum) {
  for (const double alpha : {2.0, std::numeric_limits<double>::infinity()}) {
    ExperimentOptions options{.name = "symmetric-pair"};
    options.world = experiment_entry("symmetric-pair").world;
    options.world->pair = {.m = 4, .p = 0.2};
    options.alpha = alpha;
    options.budgets = {0.2, 0.5};
    options.epochs = 300;
    options.change.train_records = 4000;
    for (const ExperimentPoint& p : run_experiment(options).points) {
      const double range = theory::symmetric_information(4, 0.2, alpha);
      EXPECT_LE(p.excess(), 0.02 * range) << alpha << ' ' << p.budget;
      EXPECT_GE(p.excess(), -1e-9);
      EXPECT_NEAR(p.distortion, p.budget, 0.03);
    }
  }
}

TEST(Study, SeedsGiveMeansAndSpreads) {
  StudyOptions options{.experiment = small("scalar-gaussian"), .seeds = 3};
  options.experiment.change.train_records = 400;
  const Study study = run_study(options);
  ASSERT_EQ(study.parts.size(), 1U);
  ASSERT_EQ(study.parts[0].by_seed.size(), 3U);
  const CurveTable table = study_curve(study);
  ASSERT_EQ(table.rows.size(), 4U);
  double mean = 0;
  for (const ExperimentResult& r : study.parts[0].by_seed) mean += r.points[1].leakage.nats / 3;
  EXPECT_NEAR(*table.rows[1].leakage, mean, 1e-12);
  EXPECT_GT(*table.rows[1].number("leakage_sd"), 0);
  EXPECT_EQ(table.rows[1].number("seeds"), 3);
  const Interval bars = *table.rows[1].leakage_estimate()->interval95;
  EXPECT_NEAR(bars.high - mean, *table.rows[1].number("leakage_sd"), 1e-9);
  EXPECT_FALSE(size_figure(study).has_value());
}

TEST(Study, SizesGiveACurveEachAndAFigure) {
  StudyOptions options{.experiment = small("discrete"), .seeds = 1, .train_sizes = {100, 400}};
  const Study study = run_study(options);
  std::vector<std::string> names = series_of(study_curve(study));
  EXPECT_THAT(names, ::testing::IsSupersetOf({"ppan@100/useful-only", "conventional@400/full-data"}));
  const std::optional<Figure> figure = size_figure(study);
  ASSERT_TRUE(figure.has_value());
  EXPECT_EQ(figure->series.size(), 4U);
  EXPECT_EQ(figure->series[0].points.size(), 2U);
  const CurveTable optimum = study_optimum(study);
  EXPECT_EQ(optimum.rows.size(), 402U);
  EXPECT_EQ(optimum.rows.front().series, "optimum/useful-only");
  EXPECT_THAT(study_channels(study), HasSubstr("ppan@100/useful-only,1,0,0,"));
}

}  // namespace
}  // namespace ppan
