#pragma once

// Details of a chosen point beyond its numbers on the curve. Every part is optional: a run writes what it
// has, in one or several files of the same form (details.json, audit.json, columns.json, examples.json), and
// the report shows what it finds.
//
// Nothing here may hold a sensitive value of a record. Names of classes and groups are fine; example records
// show released values, and useful originals only where the job allows it.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ppan/core/estimate.h"

namespace ppan {

/// Fractions of records per bin. `edges` has one value more than each of the others.
struct HistogramPair {
  std::vector<double> edges;
  std::vector<double> before;
  std::vector<double> after;
};

/// Fractions of records per level.
struct CategoryPair {
  std::vector<std::string> levels;
  std::vector<double> before;
  std::vector<double> after;
};

struct ColumnDetail {
  std::string name;
  std::optional<double> distortion;
  std::string distortion_meaning;  ///< For example "fraction of cells changed".
  std::optional<HistogramPair> histogram;
  std::optional<CategoryPair> categories;
};

/// A success rate between 0 and 1.
struct SuccessRate {
  double value = 0;
  std::optional<Interval> interval95;
};

struct LearningStep {
  std::int64_t rows = 0;  ///< Rows the attacker was trained on.
  double nats = 0;        ///< What it then found.
  std::optional<Interval> interval95{};
};

struct AttackerDetail {
  std::string name;
  Estimate leakage;
  std::optional<SuccessRate> accuracy;
  std::optional<SuccessRate> balanced_accuracy;
  std::optional<SuccessRate> auc;
  bool won = false;
  std::vector<LearningStep> learning_curve;
};

/// A class of the sensitive attribute, or a group of records.
struct GroupDetail {
  std::string name;
  std::int64_t rows = 0;
  std::optional<Estimate> leakage;
  std::optional<SuccessRate> accuracy;
  std::optional<double> prior;  ///< Accuracy without the release.
};

/// Leakage in a measure other than mutual information.
struct MeasureDetail {
  std::string title;
  std::string unit;   ///< "nats", "probability", "ratio" or "gain".
  Estimate estimate;  ///< Its number is in `unit`, whatever that is.
};

/// What attackers gain about one sensitive attribute (or all of them together).
struct AuditDetail {
  std::string target;
  std::optional<Estimate> leakage;
  std::optional<Estimate> upper_bound;
  std::optional<SuccessRate> accuracy;
  std::optional<double> prior_accuracy;
  bool inconclusive = false;  ///< The best attacker was still getting better with more rows.
  std::string note;
  std::vector<AttackerDetail> attackers;
  std::vector<MeasureDetail> measures{};
  std::vector<GroupDetail> classes;
  std::vector<GroupDetail> groups;
};

/// Square matrices over `names`, row by row; values between -1 and 1.
struct CorrelationDetail {
  std::vector<std::string> names;
  std::vector<std::vector<double>> before;
  std::vector<std::vector<double>> after;
};

struct ExampleTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> released;  ///< A row per record, a cell per column.
  std::vector<std::vector<std::string>> original;  ///< The same records; empty when they may not be shown.
};

/// A PNG or SVG file in the run directory.
struct ImageDetail {
  std::string title;
  std::string file;
  std::string description;  ///< Alternative text.
};

struct PointDetails {
  std::string series;
  int number = 1;
  std::vector<AuditDetail> audits;
  std::vector<ColumnDetail> columns;
  std::optional<CorrelationDetail> correlation;
  std::optional<ExampleTable> examples;
  std::vector<ImageDetail> images;
};

struct RunDetails {
  std::vector<PointDetails> points;
  std::vector<ImageDetail> images;  ///< Of the run as a whole.
};

std::string to_json(const RunDetails& details);
/// Throws Error(kBadInput) for text that is not such a file, or whose sizes do not agree. Unknown keys are
/// ignored.
RunDetails run_details_from_json(const std::string& text, const std::string& name = "details.json");
/// Merges `more`: lists are concatenated, optional parts of `more` replace existing ones.
void merge(RunDetails& details, RunDetails more);

}  // namespace ppan
