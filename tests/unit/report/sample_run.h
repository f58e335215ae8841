#pragma once

// A run that never happened, with every part that a report can show, for tests of the report.

#include <cmath>
#include <string>

#include "ppan/core/random.h"
#include "ppan/report/html.h"

namespace ppan::test {

/// A name that would do harm if it were not escaped.
inline const std::string kEvilName = "<script>alert('x')</script>&\"";

struct SampleRun {
  int points = 20;
  int columns = 20;
  int epochs = 100;
  std::uint64_t seed = 1;
};

inline ColumnDetail sample_column(int number, double strength, RandomSource& random) {
  ColumnDetail column;
  column.name = number == 3 ? kEvilName : "column " + std::to_string(number);
  column.distortion = 0.1 * strength * (1 + random.uniform());
  if (number % 3 == 1) {
    column.distortion_meaning = "fraction of cells changed";
    CategoryPair& pair = column.categories.emplace();
    const int levels = number == 7 ? 40 : 5;
    for (int k = 0; k < levels; ++k) {
      pair.levels.push_back("level " + std::to_string(k));
      pair.before.push_back(std::exp(-0.4 * k));
      pair.after.push_back(std::exp(-0.4 * k * (1 - strength / 2)));
    }
  } else {
    column.distortion_meaning = "squared error, variances";
    HistogramPair& pair = column.histogram.emplace();
    for (int k = 0; k <= 20; ++k) pair.edges.push_back(1000 * number + 50.0 * k);
    for (int k = 0; k < 20; ++k) {
      const double x = (k - 8) / 4.0;
      pair.before.push_back(0.1 * std::exp(-x * x));
      pair.after.push_back(0.1 * std::exp(-x * x * (1 + 2 * strength)) * (1 + strength));
    }
  }
  return column;
}

inline AuditDetail sample_audit(double nats) {
  AuditDetail audit;
  audit.target = "marital status";
  audit.leakage = Estimate{.nats = nats,
                           .interval95 = Interval{nats * 0.9, nats * 1.1},
                           .bound = Bound::kLower,
                           .method = "best of 3 attackers",
                           .samples = 5000};
  audit.upper_bound = Estimate{.nats = nats + 0.2,
                               .interval95 = Interval{nats + 0.18, nats + 0.22},
                               .bound = Bound::kUpper,
                               .method = "code density",
                               .samples = 5000};
  audit.accuracy = SuccessRate{0.6 + nats / 4, Interval{0.58 + nats / 4, 0.62 + nats / 4}};
  audit.prior_accuracy = 0.6;
  for (const char* name : {"gradient-boosted trees", "large MLP", "nearest neighbours"}) {
    AttackerDetail attacker;
    attacker.name = name;
    attacker.won = audit.attackers.empty();
    const double found = nats * (1 - 0.2 * static_cast<double>(audit.attackers.size()));
    attacker.leakage = Estimate{.nats = found,
                                .interval95 = Interval{found * 0.9, found * 1.1},
                                .bound = Bound::kLower,
                                .method = "held-out log loss",
                                .samples = 5000};
    attacker.accuracy = SuccessRate{0.6 + found / 4, Interval{0.59, 0.61 + found / 4}};
    attacker.auc = SuccessRate{0.5 + found / 2};
    for (const int rows : {500, 1000, 2000, 4000, 8000})
      attacker.learning_curve.push_back(
          {rows, found * (1 - std::exp(-rows / 1500.0)), Interval{0.25 * found, 1.5 * found}});
    audit.attackers.push_back(attacker);
  }
  for (const char* name : {"single", "married", "divorced"}) {
    audit.classes.push_back(
        {.name = name, .rows = 1200, .accuracy = SuccessRate{0.5, Interval{0.48, 0.52}}, .prior = 0.33});
  }
  audit.groups.push_back({.name = "age below 30",
                          .rows = 400,
                          .leakage = Estimate{.nats = nats * 1.4,
                                              .interval95 = Interval{nats, nats * 1.9},
                                              .bound = Bound::kLower,
                                              .method = "held-out log loss"}});
  return audit;
}

inline CorrelationDetail sample_correlation(int columns, double strength) {
  CorrelationDetail detail;
  for (int i = 0; i < columns; ++i) {
    detail.names.push_back("column " + std::to_string(i));
    auto& before = detail.before.emplace_back();
    auto& after = detail.after.emplace_back();
    for (int j = 0; j < columns; ++j) {
      before.push_back(i == j ? 1.0 : std::cos(0.7 * i * j) / (1 + std::abs(i - j)));
      after.push_back(before.back() * (1 - strength));
    }
  }
  return detail;
}

inline RunFiles sample_run(const SampleRun& options = {}) {
  SeededRandom random(options.seed);
  RunFiles run;
  RunSummary& s = run.summary;
  s.version = "0.1.0";
  s.command = "ppan curve people.toml --out run";
  s.name = "people";
  s.description = "Bank customers, released without their marital status.";
  s.hidden = "marital status";
  s.observed = "age, job, education, balance";
  s.useful = "age, job, education, balance";
  s.distortion_name = "distortion";
  s.distortion_unit = "fraction of cells";
  s.leakage_ceiling = 0.9;
  s.seed = 7;
  s.seconds = 321;
  s.settings = {{"epochs", "100", "100"}, {"batch", std::nullopt, "200"}};
  s.facts = {{"records", "40004"}, {"data SHA-256", std::string(64, 'a')}};
  s.job_file = "[data]\nfile = \"people.csv\"\n# " + kEvilName + "\n";
  s.claimed = {"By three attackers that the mechanism never met, on held-out records."};
  s.not_claimed = {"Attributes that were not named as sensitive were not audited."};
  s.warnings = {"Two rows had missing values."};
  for (int i = 0; i < options.points; ++i) {
    const double d = options.points == 1 ? 0.3 : 0.6 * i / (options.points - 1);
    const double nats = 0.8 * std::exp(-6 * d) + 0.01 * random.uniform();
    CurveRow& row = run.curve.rows.emplace_back();
    row.series = "ppan/table";
    row.budget = d;
    row.distortion = d + 0.005 * random.uniform();
    row.set(curve_column::kPoint, i + 1.0);
    row.set_leakage({.nats = nats,
                     .interval95 = Interval{nats * 0.9, nats * 1.1},
                     .bound = Bound::kLower,
                     .method = "best of 3 attackers"});
    row.set(curve_column::kTrainingBelief, nats * 0.8);
    row.set("seconds", 12.5 + i);
    PointSummary& point = s.points.emplace_back();
    point.series = row.series;
    point.number = i + 1;
    point.budget = row.budget;
    point.distortion = row.distortion;
    point.stop = "epoch limit";
    point.message = "all " + std::to_string(options.epochs) + " epochs done";
    point.epochs = options.epochs;
    point.iterations = options.epochs * 200;
    point.seconds = 12.5 + i;
    point.leakage = row.leakage_estimate();
    point.estimates = {{"upper bound",
                        {.nats = nats + 0.2,
                         .interval95 = Interval{nats + 0.18, nats + 0.22},
                         .bound = Bound::kUpper,
                         .method = "code density"}}};
    point.model = "point-" + std::to_string(i + 1) + ".ppan";
    for (int epoch = 1; epoch <= options.epochs; ++epoch) {
      run.metrics.push_back({.series = row.series,
                             .number = i + 1,
                             .epoch = epoch,
                             .distortion = d + std::exp(-epoch / 20.0),
                             .leakage = nats * (1 + 0.1 * random.uniform()),
                             .loss = 1 - epoch / 100.0});
    }
    PointDetails& details = run.details.points.emplace_back();
    details.series = row.series;
    details.number = i + 1;
    details.audits.push_back(sample_audit(nats));
    for (int c = 0; c < options.columns; ++c) details.columns.push_back(sample_column(c, d, random));
    details.correlation = sample_correlation(options.columns, d);
    details.examples = ExampleTable{{"age", "job", kEvilName},
                                    {{"31", "admin", "3.5"}, {"50", "none", kEvilName}},
                                    {{"30", "admin", "3.1"}, {"52", "services", "0"}}};
  }
  const auto reference = [&](const char* series, double d, double nats) {
    CurveRow& row = run.curve.rows.emplace_back();
    row.series = series;
    row.distortion = d;
    row.set_leakage({.nats = nats,
                     .interval95 = Interval{nats, nats},
                     .bound = Bound::kLower,
                     .method = "best of 3 attackers"});
  };
  reference("reference/time-sharing", 0, 0.85);
  reference("reference/time-sharing", 0.62, 0);
  for (int i = 1; i < 5; ++i) reference("reference/noise", 0.15 * i, 0.85 - 0.2 * i);
  run.curve.more_columns = {"point",          "leakage_low",     "leakage_high", "leakage_kind",
                            "leakage_method", "training_belief", "seconds"};
  run.files = {"curve.csv", "metrics.jsonl", "summary.json"};
  return run;
}

}  // namespace ppan::test
