#pragma once

// Numbers about an attack on rows it was not trained on, each with a 95 % interval.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// A measured share or score without unit.
struct Rate {
  double value = 0;
  Interval interval95;
};

/// Which person, household or the like each row belongs to: rows of one unit say the same thing more than
/// once. Where an argument of this kind is empty, every row is its own unit. Units vary freely, rows within
/// them need not: variances are those of sums over units (Liang and Zeger, Biometrika 73, 1986).
using Units = Symbols;

/// Mean with its normal 95 % interval.
Rate mean_rate(const VectorRef<double>& values, const Units& unit = {});
/// hits / count with Wilson's interval.
Rate share(Index hits, Index count);
/// Share of the rows that are 1 (others 0), with Wilson's interval for as many independent rows as would vary
/// as much.
Rate share(const VectorRef<double>& hit, const Units& unit);

/// Entropy of the shares of the levels among the rows, nats.
double empirical_entropy(const Symbols& x, std::int32_t levels);

/// log of the share of each row's level among these rows.
Vector<double> log_share(const Symbols& x, std::int32_t levels);

/// Lower bound of I(X;Z) from `gain`, log Q(x_i|z_i) - log P(x_i) on rows that Q was not chosen on, P the
/// shares of the levels among these same rows. The mean is H(P) minus the log loss; the entropy of sample
/// shares is below H(X) in expectation and no Q beats P(x|z), so in expectation it is below I(X;Z). Interval:
/// normal, from the variance of the gains, which is right to first order with P estimated (the influence of a
/// row on the entropy is -log P(x)). Both are clipped to [0, entropy]; a mean below 0 counts as 0.
Estimate lower_bound(const VectorRef<double>& gain, double entropy, std::string method,
                     const Units& unit = {});

/// Share of rows whose likeliest level is the true one.
Rate accuracy(const Matrix<float>& log_probability, const Symbols& x, const Units& unit = {});
/// Mean over the levels of the share of their rows that are recognised; 1 / levels for any constant guess.
Rate balanced_accuracy(const Matrix<float>& log_probability, const Symbols& x, std::int32_t levels,
                       const Units& unit = {});

/// Area under the ROC curve, each level against the rest, mean over levels with at least 5 rows on both
/// sides. Interval: placement values (E. DeLong et al., Biometrics 44, 1988), the mean of the levels'
/// standard errors, which is theirs at worst.
Rate area_under_roc(const Matrix<float>& log_probability, const Symbols& x, std::int32_t levels,
                    const Units& unit = {});

/// At a threshold that this share of the rows of other levels pass, the share of rows of a level that pass;
/// of the level where it is greatest.
struct LowFalsePositive {
  double false_positive_rate = 0;
  std::int32_t level = 0;
  Rate true_positive_rate;
};
/// Only for rates at which at least ten rows of other levels pass.
std::vector<LowFalsePositive> low_false_positive(const Matrix<float>& log_probability, const Symbols& x,
                                                 std::int32_t levels, const Units& unit = {});

/// Half-width of a two-sided normal interval in standard deviations, when `comparisons` intervals are to hold
/// together with 95 % (Bonferroni).
double normal_multiple(Index comparisons = 1);
/// x with P(N(0,1) < x) = p, for 0 < p < 1.
double normal_quantile(double p);

}  // namespace ppan
