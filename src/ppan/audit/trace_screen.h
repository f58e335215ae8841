#pragma once

// Which columns of a wide table are looked at for traces. Digits, repeats and formats are some twenty
// features a column; those of a thousand columns would fill the memory and hide what tells among what does
// not. So every column's traces and keys are first looked at by themselves, on rows that attackers learn
// from, and only those of the columns that tell most are given to the attackers, which are given the values
// of all columns. A trace that tells something only together with another column's is missed in the columns
// left out; the audit says so.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/attack_suite.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/audit_table.h"

namespace ppan {

/// How much more of a feature's variance lies between the classes than chance puts there: as a chi-squared
/// number of levels - 1 degrees, in standard deviations above its mean.
double class_deviations(const Eigen::Ref<const Vector<float>>& feature, const Symbols& x,
                        std::span<const std::int32_t> rows, std::int32_t levels);
/// The same of how often each value of a key (-1: none) occurs with each class.
double key_deviations(const Eigen::Ref<const Eigen::Matrix<std::int32_t, Eigen::Dynamic, 1>>& key,
                      std::int32_t values, const Symbols& x, std::span<const std::int32_t> rows,
                      std::int32_t levels);

/// For each column of `released`, whether its traces are given to those who attack `targets`: of the
/// options.screened_columns whose traces tell most about one of them, if there are more than
/// options.trace_columns.
std::vector<bool> traced_columns(const AuditTable& released, std::span<const AttackTarget> targets,
                                 const AttackSplit& split, const FeatureOptions& options, int threads);

/// The features that those who attack these targets are given of a table.
FeatureMap screened_map(const AuditTable& released, std::span<const AttackTarget> targets,
                        const AttackSplit& split, const FeatureOptions& options, int threads);

/// The `count` columns whose values by themselves tell most about one of the targets, in the table's order.
std::vector<std::size_t> informative_columns(const AuditTable& released,
                                             std::span<const AttackTarget> targets, const AttackSplit& split,
                                             std::size_t count, int threads);

/// What the report says about columns left out; empty if there are none.
std::string left_out_note(const std::vector<bool>& traced);

}  // namespace ppan
