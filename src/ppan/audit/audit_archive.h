#pragma once

// What an audit found, as bytes (core/archive.h).

#include "ppan/audit/audit.h"
#include "ppan/audit/task_score.h"
#include "ppan/core/estimate_archive.h"

namespace ppan {

template <typename Archive>
void members(Archive& archive, Rate& value) {
  auto& [rate, interval95] = value;
  archive(rate, interval95);
}
template <typename Archive>
void members(Archive& archive, TaskScore& value) {
  auto& [task, metric, original, released] = value;
  archive(task, metric, original, released);
}
template <typename Archive>
void members(Archive& archive, LowFalsePositive& value) {
  auto& [false_positive_rate, level, true_positive_rate] = value;
  archive(false_positive_rate, level, true_positive_rate);
}
template <typename Archive>
void members(Archive& archive, PlantedLeakage& value) {
  auto& [score, planted, found] = value;
  archive(score, planted, found);
}
template <typename Archive>
void members(Archive& archive, AttackPower& value) {
  auto& [nats, planted] = value;
  archive(nats, planted);
}
template <typename Archive>
void members(Archive& archive, LearningForecast& value) {
  auto& [ten_times, limit] = value;
  archive(ten_times, limit);
}
template <typename Archive>
void members(Archive& archive, AttackerScore& value) {
  auto& [name, selection, leakage, combined, chosen] = value;
  archive(name, selection, leakage, combined, chosen);
}
template <typename Archive>
void members(Archive& archive, LearningPoint& value) {
  auto& [rows, gain] = value;
  archive(rows, gain);
}
template <typename Archive>
void members(Archive& archive, FeatureSource& value) {
  auto& [column, aspect] = value;
  archive(column, aspect);
}
template <typename Archive>
void members(Archive& archive, LeakSource& value) {
  auto& [where, nats, deviations] = value;
  archive(where, nats, deviations);
}
template <typename Archive>
void members(Archive& archive, LeakageMeasure& value) {
  auto& [name, title, unit, more_is_worse, estimate] = value;
  archive(name, title, unit, more_is_worse, estimate);
}
template <typename Archive>
void members(Archive& archive, GroupLeakage& value) {
  auto& [column, level, rows, leakage] = value;
  archive(column, level, rows, leakage);
}
template <typename Archive>
void members(Archive& archive, SideInformation& value) {
  auto& [side, both, additional, bound, upper_end] = value;
  archive(side, both, additional, bound, upper_end);
}
template <typename Archive>
void members(Archive& archive, RepeatedRelease& value) {
  auto& [releases, leakage] = value;
  archive(releases, leakage);
}
template <typename Archive>
void members(Archive& archive, AttributeAudit& value) {
  auto& [name, continuous, level, entropy, leakage, winner, verdict, power, upper_end, forecast, learned_rows,
         attackers, learning, accuracy, prior_accuracy, balanced_accuracy, auc, low_false_positive, measures,
         groups, sources, others, r_squared, regressor, upper, side, repeats, notes] = value;
  archive(name, continuous, level, entropy, leakage, winner, verdict, power, upper_end, forecast,
          learned_rows, attackers, learning, accuracy, prior_accuracy, balanced_accuracy, auc,
          low_false_positive, measures, groups, sources, others, r_squared, regressor, upper, side, repeats,
          notes);
}
template <typename Archive>
void members(Archive& archive, JointAudit& value) {
  auto& [names, leakage, entropy, still_rising, upper, upper_end] = value;
  archive(names, leakage, entropy, still_rising, upper, upper_end);
}
template <typename Archive>
void members(Archive& archive, UndeclaredLeak& value) {
  auto& [name, entropy, leakage, given_away] = value;
  archive(name, entropy, leakage, given_away);
}
template <typename Archive>
void members(Archive& archive, AuditReport& value) {
  auto& [rows, training_rows, trained_rows, selection_rows, test_rows, quick, releases_per_training_row,
         together, units, released, attributes, joint, undeclared, not_audited, limit] = value;
  archive(rows, training_rows, trained_rows, selection_rows, test_rows, quick, releases_per_training_row,
          together, units, released, attributes, joint, undeclared, not_audited, limit);
}

}  // namespace ppan
