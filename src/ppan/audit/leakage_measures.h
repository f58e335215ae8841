#pragma once

// Leakage in other measures than mutual information (theory/leakage_measures.h): exact for a known joint
// distribution, or from an attacker's log-probabilities on rows it was not trained on. An attacker need not
// be the best one, so what is found on data bounds each measure from one side; the estimate says which.

#include <string>
#include <string_view>
#include <vector>

#include "ppan/audit/attack_numbers.h"
#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan {

/// What the number of a measure counts.
enum class MeasureUnit {
  kNats,
  kProbability,
  kRatio,  ///< Bayes security.
  kGain,   ///< In the units of the gain matrix.
};
std::string_view to_string(MeasureUnit unit);

/// One measure. `estimate.nats` holds the value in `unit`, whatever that is.
struct LeakageMeasure {
  std::string name;   ///< As columns and options spell it, for example "bayes-vulnerability".
  std::string title;  ///< For people.
  MeasureUnit unit = MeasureUnit::kNats;
  bool more_is_worse = true;  ///< Not so for Bayes security.
  Estimate estimate;
};

struct LeakageMeasureOptions {
  /// Orders of alpha-leakage (Arimoto) and of Sibson's information, each greater than 1 and finite. Order 1
  /// is mutual information, infinity the min-entropy leakage and the maximal leakage, which are always given.
  std::vector<double> alpha{2};
  /// g-leakage: gain of each guess (row) for each level (column), at least 0. Empty: none.
  Matrix<double> gain;
  /// The prior is known, not estimated from rows: its values are then taken as exact.
  bool prior_known = false;

  /// `levels`: of the sensitive attribute.
  [[nodiscard]] Problems check(Index levels) const;
};

/// The names of what the functions below return, in the same order:
/// prior-vulnerability, bayes-vulnerability, min-entropy-leakage, additive-leakage, bayes-security,
/// alpha-leakage-A and sibson-A for each order A, maximal-leakage, and with a gain matrix gain-vulnerability
/// and gain-leakage.
std::vector<std::string> leakage_measure_names(const LeakageMeasureOptions& options);

/// False for a measure of which more is better (Bayes security).
bool more_is_worse(std::string_view name);

/// Of a known joint P(x,z), a row per x. Bound::kExact. Throws Error(kBadInput) for a joint that is none,
/// Error(kUsage) for bad options.
std::vector<LeakageMeasure> exact_leakage_measures(const MatrixRef<double>& joint,
                                                   const LeakageMeasureOptions& options = {});

/// From held-out rows: `log_probability` holds log Q(x|z) for each test row and level, `x` the true levels,
/// `prior` the shares of the levels among rows other than these (none 0), from which the attacker without the
/// release guesses.
///
/// For each measure the mean score of the attacker who sees the release is set against that of the attacker
/// who does not, both on the test rows: the likeliest level for vulnerability; Q raised to alpha and
/// normalised, which is the best answer to the alpha-loss if Q is the posterior; the guess of greatest
/// expected gain for g-leakage. No attacker beats the posterior, so vulnerabilities and leakages are lower
/// bounds and Bayes security is an upper bound, in expectation; with an estimated prior up to terms of order
/// levels / rows. Intervals are normal, from the influence of each row (of each unit, if given), and Wilson's
/// for shares. Throws Error(kBadInput) when shapes disagree or there are fewer than 2 rows, Error(kUsage) for
/// bad options.
std::vector<LeakageMeasure> held_out_leakage_measures(const Matrix<float>& log_probability, const Symbols& x,
                                                      const Vector<double>& prior, const Units& unit = {},
                                                      const LeakageMeasureOptions& options = {});

}  // namespace ppan
