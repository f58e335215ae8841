#pragma once

// Converts the adversary's mean utility into leakage. The utility of order alpha (train/match.h) is log q, or
// u(q) = alpha/(alpha-1) (q^((alpha-1)/alpha) - 1); its best mean without a release is known from the shares
// of the levels of X, and what the release adds, in nats, is Arimoto's information of that order:
//     H(X) + E u                                                     for alpha = 1,
//     1/b log( (1 + b E u) / (sum_x P(x)^alpha)^(1/alpha) ),  b = (alpha-1)/alpha   otherwise.

#include <vector>

namespace ppan {

struct AlphaPrior {
  double alpha = 1;          ///< At least 1, or infinite.
  double entropy = 0;        ///< H(X), nats; for alpha = 1.
  double vulnerability = 1;  ///< (sum_x P(x)^alpha)^(1/alpha), for the others.

  /// Nats, from the mean utility of an adversary that sees the release.
  [[nodiscard]] double information(double utility) const;
};

/// From the shares of the (joint) levels of X, which sum to 1; `more_entropy` is that of real attributes
/// beside them.
AlphaPrior alpha_prior(const std::vector<double>& shares, double alpha, double more_entropy = 0);

}  // namespace ppan
