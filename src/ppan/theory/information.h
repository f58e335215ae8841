#pragma once

// Information of finite distributions, exact up to rounding. Everything in nats; 0 log 0 = 0.

#include "ppan/core/matrix.h"

namespace ppan::theory {

/// H(A) of the probabilities in `pmf` (any shape).
double entropy(const MatrixRef<double>& pmf);

/// h2(p) = -p log p - (1-p) log(1-p), 0 <= p <= 1; h2(1/2) = log 2.
double binary_entropy(double p);

/// The p in [0, 1/2] with h2(p) = h, 0 <= h <= log 2, to the last digits of p.
double inverse_binary_entropy(double h);

/// I(A;B) of a joint pmf P(a,b), a row per a. Never negative.
double mutual_information(const MatrixRef<double>& joint);

}  // namespace ppan::theory
