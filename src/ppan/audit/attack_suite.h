#pragma once

// The suite: every attacker learns on one part of the held-out rows, the strongest is chosen on a second part
// and reported on a third. Their mixture, with weights fitted on the second part, competes as well. Where
// rows that trained the mechanism are at hand, attackers learn from releases of those too, as a real one may;
// those that learn from held-out rows alone compete with them.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ppan/audit/attack_features.h"
#include "ppan/audit/attack_numbers.h"
#include "ppan/audit/attack_rows.h"
#include "ppan/audit/attack_split.h"
#include "ppan/audit/attack_target.h"
#include "ppan/audit/attacker.h"
#include "ppan/audit/learning_fit.h"
#include "ppan/audit/suite_input.h"
#include "ppan/core/problem.h"

namespace ppan {

struct SuiteOptions {
  std::vector<AttackerKind> attackers;  ///< Empty: all that fit the attribute.
  AttackEffort effort;
  Index most_training_rows =
      50'000;  ///< Rows attackers learn from, further releases not counted. At least 1.
  Index most_releases =
      150'000;  ///< The same, every release counted; fewer are drawn of many rows. At least 1.
  /// The same, times the features: of a wide table attackers learn from fewer releases, then from fewer rows,
  /// but not from fewer than 2,000. 16 million take 64 MB in every attacker. At least 1.
  Index most_cells = 16'000'000;
  bool held_out_learners = true;  ///< Attackers that learn from held-out rows alone compete as well.
  /// Every trace is looked at first by itself and left out if it has nothing to do with the attribute. False:
  /// only digits and repeats, of which there are many.
  bool screen_traces = false;
  bool learning_curve = true;  ///< Refit the winner on an eighth, a quarter and a half of the rows.
  bool sources = true;         ///< Find out which columns give the attribute away.
  int threads = 0;             ///< 0: as many as the machine has cores. Results do not depend on it.
  std::uint64_t seed = 1;
  [[nodiscard]] Problems check() const;
};

/// Rows of so many features that most_cells leaves room for.
Index room_for_rows(const SuiteOptions& options, Index features);

struct AttackerScore {
  std::string name;
  double selection = 0;   ///< H - log loss on the selection rows, nats: what the choice was made on.
  Estimate leakage;       ///< On the test rows.
  bool combined = false;  ///< Several attackers as one.
  bool chosen = false;    ///< Strongest on the selection rows: what it found is what is stated.
};

struct LearningPoint {
  Index rows = 0;
  Rate gain;  ///< Nats, not clipped.
};

/// What is lost to the attacker, nats, when one side of one column is shuffled among the rows.
struct LeakSource {
  FeatureSource where;
  double nats = 0;
  double deviations = 0;  ///< `nats` in its standard errors.
};

struct SuiteResult {
  std::vector<AttackerScore> attackers;      ///< Strongest on the selection rows first.
  std::string winner;                        ///< For a mixture with its parts.
  Matrix<float> log_probability;             ///< Of the winner, test rows x levels.
  Vector<double> score;                      ///< log Q(x_i|z_i) of the winner on the test rows.
  Vector<double> gain;                       ///< score - log share of x_i among the test rows.
  double entropy = 0;                        ///< Of x among the test rows, nats.
  Vector<double> prior;                      ///< Shares of the levels among the training rows.
  std::vector<LearningPoint> learning;       ///< Of the strongest single attacker, fewest rows first.
  std::optional<LearningForecast> forecast;  ///< What more rows would find.
  std::vector<std::string> failures;         ///< Attackers that could not be trained, and why.
  Index learned_rows = 0;                    ///< That the strongest attacker learned from.
  bool still_rising = false;        ///< Doubling the rows last added more than noise and more than little.
  std::vector<LeakSource> sources;  ///< Greatest first; those clearly above 0 and above 1 % of the leakage.
};

SuiteResult attack(const SuiteInput& input, const AttackTarget& target, const AttackSplit& split,
                   const SuiteOptions& options);

/// Attackers trusted to find most of what the whole suite finds at a tenth of its cost.
std::vector<AttackerKind> quick_attackers(bool continuous);

}  // namespace ppan
