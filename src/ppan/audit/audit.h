#pragma once

// How much does a release give away? New attackers are trained on rows the mechanism never saw and what they
// find is reported as bounds with intervals; docs/attack_model.md says what they know and what is not
// claimed. Any release can be audited, whoever made it: what is needed is the released rows and the sensitive
// columns, row by row.
//
//     released, sensitive ──► split ──► features, targets ──► attack (per attribute, jointly, with side
//     information, on repeated releases, on undeclared columns) ──► AuditReport

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ppan/audit/attack_power.h"
#include "ppan/audit/attack_suite.h"
#include "ppan/audit/audit_table.h"
#include "ppan/audit/gain_file.h"
#include "ppan/audit/leakage_measures.h"

namespace ppan {

struct AuditOptions {
  bool quick = false;  ///< Fewer attackers, fewer rows and passes; finds most of what the whole suite finds.
  TargetOptions target;
  FeatureOptions features;
  int training_releases =
      3;  ///< Releases per training row, where more can be drawn; more of few rows. 1 to 100.
  std::vector<int> repeats{2, 4};  ///< Numbers of releases an attacker may hold at once. Each 2 to 64.
  std::optional<double> limit;     ///< Nats; the report says whether the audit stays within it. At least 0.
  Index least_group_rows = 30;     ///< Test rows a group must have to be reported on. At least 2.
  Index least_rows = 300;  ///< Fewer are refused, and fewer than a tenth of that for a category. At least 20.
  bool details = true;     ///< False: how much leaks and by whom it was found, without learning curve,
                           ///< sources and estimates by other methods.
  std::vector<double> alpha =
      LeakageMeasureOptions{}.alpha;  ///< Orders of alpha-leakage. Each above 1, finite.
  std::optional<GainTable> gain{};    ///< For g-leakage of categories.
  bool measure_power = true;          ///< Plant leaks and see what this audit finds of them.
  /// What was found of planted leaks in other releases of the same rows, attribute by attribute: planting
  /// need not be done again for each of many mechanisms.
  std::vector<AttackPower> known_power{};
  std::optional<SuiteOptions> suite;  ///< Instead of what `quick` stands for.
  int threads = 0;                    ///< 0: as many as the machine has cores.
  std::uint64_t seed = 1;             ///< Of the split and the attackers.
  [[nodiscard]] Problems check() const;
};

/// Columns of equal length, row i of each about the same record.
struct AuditInput {
  AuditTable released;
  std::vector<AuditColumn> sensitive;  ///< At least one.
  std::vector<AuditColumn> side;       ///< What attackers know beside the release.
  std::vector<AuditColumn>
      undeclared;  ///< Other columns of the records, scanned for what the release tells of them.
  std::vector<AuditColumn> groups;  ///< Columns whose values are groups of people to report on.
  /// Rows with the same value (one person, many rows) stay on one side of the split, and intervals are those
  /// of so many persons. A row without a value stands alone.
  std::optional<AuditColumn> together;
  /// The last so many rows trained the mechanism. Attackers may learn from them (a real one may hold them);
  /// nothing is chosen or reported on them.
  Index trained_rows = 0;
  /// Releases the same rows once more, independently (the number tells the draws apart). Absent: the
  /// mechanism is not at hand.
  std::function<AuditTable(std::int64_t)> draw_again;
  /// Upper bounds for this attribute, by whoever knows the distribution of the mechanism (density_bound.h).
  std::function<std::vector<Estimate>(const AttackTarget&)> upper_bounds;

  /// The rows that something is reported on; the others only trained the mechanism.
  [[nodiscard]] Index held_out_rows() const { return released.rows() - trained_rows; }
};

/// What the words of the report follow from.
enum class AuditVerdict {
  kNothingFound,  ///< The interval of the strongest attack reaches 0: nothing was seen.
  kLeakFound,
  kInconclusive,  ///< Attacks were still getting stronger with more rows, or would not have seen the limit.
};
std::string_view to_string(AuditVerdict verdict);

struct GroupLeakage {
  std::string column;  ///< "most exposed" for groups made by what the attacker is surest of.
  std::string level;
  Index rows = 0;
  /// Nats by which log Q(x|z) beats knowing nothing, mean over the group's test rows; the intervals of all
  /// groups hold together with 95 %. A lower bound where the group can be told from the release, an estimate
  /// otherwise.
  Estimate leakage;
};

struct SideInformation {
  Estimate side;         ///< I(X;U).
  Estimate both;         ///< I(X;Z,U).
  Rate additional;       ///< I(X;Z|U), nats, paired on the same rows, not clipped.
  double bound = 0;      ///< I(X;Z) + I(X;U): above I(X;Z,U) when U and Z are independent given X.
  double upper_end = 0;  ///< What the findings allow the release to add, nats; see AttributeAudit::upper_end.
};

struct RepeatedRelease {
  int releases = 1;
  Estimate leakage;
};

struct AttributeAudit {
  std::string name;
  bool continuous = false;
  std::vector<std::string> level;  ///< Categories or bins.
  double entropy = 0;  ///< Of the categories or bins on the test rows, nats: all there is to find.
  Estimate leakage;    ///< Lower bound by the attacker chosen on the selection rows.
  std::string winner;
  AuditVerdict verdict = AuditVerdict::kNothingFound;
  std::optional<AttackPower> power{};  ///< What this audit finds of planted leaks; absent: not measured.
  /// What the finding allows for, nats: the greatest of the upper end of its 99 % interval, of the forecast
  /// for ten times the rows, of what the release may add to side columns, and of the power, but no more than
  /// an upper bound. Limits and choices are judged by it.
  double upper_end = 0;
  std::optional<LearningForecast> forecast{};  ///< What more rows would find.
  Index learned_rows = 0;                      ///< That the strongest attacker learned from.
  std::vector<AttackerScore> attackers;
  std::vector<LearningPoint> learning;
  Rate accuracy;
  double prior_accuracy = 0;  ///< Of always guessing the most frequent level.
  Rate balanced_accuracy;
  Rate auc;
  std::vector<LowFalsePositive> low_false_positive;
  /// Leakage in other measures than mutual information, by the same attacker; empty for a continuous
  /// attribute.
  std::vector<LeakageMeasure> measures{};
  std::vector<GroupLeakage> groups;  ///< Worst first, by the lower end of the interval.
  std::vector<LeakSource> sources;
  std::vector<Estimate> others;   ///< Further estimates, each by its method.
  std::optional<Rate> r_squared;  ///< Continuous only: of the best regressor.
  std::string regressor;
  std::vector<Estimate> upper;  ///< Tightest first; the last is the entropy.
  std::optional<SideInformation> side;
  std::vector<RepeatedRelease> repeats;
  std::vector<std::string> notes;
};

struct JointAudit {
  std::vector<std::string> names;
  Estimate leakage;  ///< See JointAttack.
  double entropy = 0;
  bool still_rising = false;
  std::vector<Estimate> upper{};  ///< Tightest first; the last is the entropy, where there is no number.
  /// As in AttributeAudit; the powers of the attributes are added, and so are forecasts. No less than that of
  /// any attribute.
  double upper_end = 0;
};

struct UndeclaredLeak {
  std::string name;
  double entropy = 0;
  Estimate leakage;
  bool given_away = false;  ///< Its interval, widened for the number of columns scanned, stays above 0.
};

struct AuditReport {
  Index rows = 0;
  Index training_rows = 0;
  Index trained_rows = 0;  ///< Rows that trained the mechanism and that attackers learned from as well.
  Index selection_rows = 0;
  Index test_rows = 0;
  bool quick = false;
  int releases_per_training_row = 1;
  std::string together;  ///< Column whose values hold rows together; empty: none.
  Index units = 0;       ///< Different values of it.
  std::vector<std::string> released;
  std::vector<AttributeAudit> attributes;
  std::optional<JointAudit> joint;
  std::vector<UndeclaredLeak> undeclared;  ///< Greatest share of their entropy first.
  std::vector<std::string> not_audited;    ///< Columns left out, with the reason.
  std::optional<double> limit;             ///< Nats.

  /// The one number: of all attributes together, or of the only one there is.
  [[nodiscard]] const Estimate& leakage() const;
  [[nodiscard]] double entropy() const;  ///< Of the same, nats: all there is to find.
  /// The tightest upper bound of the same; absent where there is none, not even the entropy.
  [[nodiscard]] std::optional<Estimate> upper_bound() const;
  [[nodiscard]] bool inconclusive() const;  ///< Of some attribute, or jointly.
  /// What this audit would have found with probability 0.9, nats; the worst of the attributes. Absent:
  /// unknown.
  [[nodiscard]] std::optional<double> power() const;
  /// What the findings allow for: the upper end of the interval of leakage(), power included.
  [[nodiscard]] double upper_end() const;
  /// False when a limit was set and some upper end (power included) exceeds it, or an attack was
  /// inconclusive.
  [[nodiscard]] bool within_limit() const;
  /// The columns, or "a and b jointly", for which within_limit() is false.
  [[nodiscard]] std::vector<std::string> over_limit() const;
};

/// Rows an audit of an attribute with so many categories needs.
Index rows_needed(std::int32_t levels, const AuditOptions& options = {});

/// Throws Error(kBadInput) when rows differ in number, are too few (with the number needed), a sensitive
/// column cannot be audited, or nothing is released; Error(kUsage) for bad options.
AuditReport audit(const AuditInput& input, const AuditOptions& options = {});

}  // namespace ppan
