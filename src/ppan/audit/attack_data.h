#pragma once

// The rows of one attack: what attackers learn from, are chosen on and are scored on, with the features and
// keys of several columns that were found on the rows learned from.

#include <cstdint>
#include <span>
#include <vector>

#include "ppan/audit/attack_rows.h"
#include "ppan/audit/attack_suite.h"
#include "ppan/audit/feature_screen.h"
#include "ppan/audit/key_tuples.h"
#include "ppan/audit/relation.h"

namespace ppan {

/// From which rows an attacker learns.
enum class LearnFrom { kAll, kHeldOut };

class AttackData {
 public:
  /// Keeps references to all of these.
  AttackData(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
             const SuiteOptions& options);

  /// The first of `parts` parts of the rows, in every release that there is room for.
  [[nodiscard]] AttackRows training(LearnFrom from, std::size_t parts) const;
  /// The first `count` of the test rows.
  [[nodiscard]] AttackRows first_test_rows(std::size_t count) const;
  [[nodiscard]] const AttackRows& selection() const { return selection_; }
  [[nodiscard]] const AttackRows& test() const { return test_; }
  [[nodiscard]] const AttackTask& task() const { return task_; }
  [[nodiscard]] const AttackTarget& target() const { return target_; }
  [[nodiscard]] const Units& test_unit() const { return split_.test_unit; }
  [[nodiscard]] const SuiteOptions& options() const { return options_; }
  /// Whether there are rows that trained the mechanism.
  [[nodiscard]] bool has_trained_rows() const { return !split_.trained.empty(); }
  /// Rows learned from, every row once.
  [[nodiscard]] const std::vector<std::int32_t>& rows_of(LearnFrom from) const {
    return from == LearnFrom::kAll ? all_rows_ : held_out_rows_;
  }
  /// Of every feature.
  [[nodiscard]] const std::vector<FeatureSource>& feature_sources() const { return features_.source; }
  /// Of every key, those of several columns at the end.
  [[nodiscard]] std::vector<FeatureSource> key_sources() const;

 private:
  void choose_rows();
  [[nodiscard]] bool counts_by_keys() const;
  void find_tuples();
  void find_relations();
  [[nodiscard]] AttackRows rows_from(const AttackFeatures& features,
                                     std::span<const std::int32_t> rows) const;
  [[nodiscard]] Index most_rows() const;
  [[nodiscard]] AttackTask make_task() const;

  const SuiteInput& input_;
  const AttackTarget& target_;
  const AttackSplit& split_;
  const SuiteOptions& options_;
  ScreenedFeatures features_;
  std::vector<std::int32_t> held_out_rows_;
  std::vector<std::int32_t> all_rows_;
  NormalScores scores_;
  std::vector<KeyTuple> tuples_;
  std::vector<Relation> relations_;
  AttackRows selection_;
  AttackRows test_;
  AttackTask task_;
};

}  // namespace ppan
