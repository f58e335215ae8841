#pragma once

// Attackers: learners of Q(x|z) that start from nothing after the mechanism is frozen. E log Q(X|Z) + H(X) is
// a lower bound on I(X;Z) whatever Q is, so an attacker can be weak but it cannot lie.

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "ppan/audit/attack_target.h"
#include "ppan/core/matrix.h"
#include "ppan/core/random.h"

namespace ppan {

enum class AttackerKind {
  kPrior,         ///< Ignores the release.
  kLookup,        ///< Frequencies among training rows released exactly alike.
  kLogistic,      ///< Multinomial logistic regression on all features.
  kSmallMlp,      ///< One hidden layer of 64.
  kLargeMlp,      ///< Two hidden layers of 256.
  kTrees,         ///< Gradient-boosted trees (XGBoost).
  kNeighbours,    ///< Frequencies among the nearest training rows.
  kDensity,       ///< Network giving a normal density of a continuous attribute, summed over its bins.
  kRegression,    ///< Line and boosted trees that guess a continuous attribute as a number.
  kForest,        ///< Random forest.
  kExtraTrees,    ///< Extremely randomised trees.
  kKeys,          ///< Counts by last digits, first digits and exact values.
  kAdditive,      ///< Logistic regression on the steps of all columns.
  kDiscriminant,  ///< Linear discriminant analysis.
};

std::string_view to_string(AttackerKind kind);

/// How hard attackers try.
struct AttackEffort {
  int epochs = 40;      ///< Most passes over the training rows (networks). At least 1.
  int patience = 4;     ///< Epochs without gain before the rate is halved; the third time training ends.
  int trees = 1000;     ///< Most trees of a boosted model, all classes together. At least 1.
  int tree_bins = 256;  ///< Most thresholds of a feature in a boosted tree. 2 to 65,536.
  Index neighbours = 20'000;  ///< Training rows that nearest neighbours are searched in. At least 1.
  [[nodiscard]] Problems check() const;
};

/// Keys of rows: which value each has, or -1 for one that is not known.
using KeyMatrix = Eigen::Matrix<std::int32_t, Eigen::Dynamic, Eigen::Dynamic>;

/// Some of the rows, as attackers are given them.
struct AttackRows {
  Matrix<float> data;   ///< Rows x features.
  KeyMatrix keys;       ///< Rows x keys.
  Symbols cell;         ///< The exact released row as one symbol, or -1.
  Symbols x;            ///< The truth.
  Vector<float> score;  ///< Continuous attribute only: its normal score, NaN where missing.

  [[nodiscard]] Index rows() const { return data.rows(); }
};

/// What is attacked, as far as attackers need to know.
struct AttackTask {
  std::int32_t levels = 2;
  Vector<double> prior;                  ///< Shares of the levels among the training rows, none of them 0.
  std::int32_t cells = 0;                ///< Different released rows.
  std::vector<Index> values;             ///< Features that measure closeness.
  std::vector<std::int32_t> key_values;  ///< Different values of each key.
  std::vector<double> score_edge;        ///< Continuous attribute only: edges of the bins, as normal scores.
  std::int32_t missing_level = -1;       ///< Continuous attribute only: level of the missing values.
  AttackEffort effort;
};

class Attacker {
 public:
  virtual ~Attacker() = default;
  Attacker(const Attacker&) = delete;
  Attacker& operator=(const Attacker&) = delete;

  /// Learns from `train`, and may look at `selection` to choose settings and when to stop.
  virtual void fit(const AttackRows& train, const AttackRows& selection, RandomSource& random) = 0;
  /// log Q(x|z), rows x levels. The truth in `rows` is not looked at.
  virtual Matrix<float> log_probability(const AttackRows& rows) = 0;

 protected:
  explicit Attacker(AttackTask task) : task_(std::move(task)) {}
  /// log of the prior in every row.
  [[nodiscard]] Matrix<float> prior_rows(Index rows) const;
  AttackTask task_;
};

std::unique_ptr<Attacker> make_attacker(AttackerKind kind, const AttackTask& task);

/// mean_i log Q(x_i|z_i), nats.
double mean_score(const Matrix<float>& log_probability, const Symbols& x);

}  // namespace ppan
