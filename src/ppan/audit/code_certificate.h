#pragma once

// Upper confidence bounds on I(X;C) for a release that depends on the record through a finite code C alone,
// from n records that neither trained nor chose the mechanism. P(c|w) is known, so no code is drawn: every
// record counts with its probabilities ("soft counts"),
//
//     p(x,c) = 1/n sum_i 1(x_i = x) P(c|w_i).
//
// Since I(X;Z) <= I(X;C), the bounds hold for every attacker, however strong. Records must be independent.
//
// Asymptotic. I(p) is smooth, so n records give I(p) = I + linear term + quadratic term. The linear term has
// the variance of sum_c P(c|w) log(p(x,c) / p(x)p(c)) over the records; the quadratic term has mean B and
// variance V, both from the kernel
//     k(i,j) = 1(x_i = x_j) sum_c P(c|w_i) P(c|w_j) / p(x_i,c) - 1(x_i = x_j) / p(x_i)
//              - sum_c P(c|w_i) P(c|w_j) / p(c) + 1,
// as B = mean k(i,i) / 2n and V = mean k(i,j)^2 / 2n^2. Near 0 the variance of the linear term is
// proportional to the information itself, so it is taken at the bound u instead of at the estimate, where it
// would be too small just when the estimate is: u = I(p) - B + 1.645 sqrt(linear u / I(p) + V).
//
// Distribution-free. With probability 1 - a, for every distribution of the records and every n,
//     I(X;C) <= kappa_s(ln 1/p_min) (I(p) + KL(p_X || true p_X) + ln(1/a') / (s n)),
// the last two terms bounded in turn; docs/theory.md has the proof. It does not correct the bias of I(p), so
// it grows with the number of codewords as about |X| K / 2n.

#include <cstdint>
#include <vector>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// P(c|w_i) of n records. Where something else is released as it is, `kept` holds its value for each record
/// and the bounds are about the pair: I(X;C,T).
struct CodeDistribution {
  Matrix<float> probability{};  ///< Records x codewords; rows sum to 1.
  Symbols kept{};               ///< One for each record, or empty.
  std::int32_t kept_levels = 1;
};

/// I(X;C) on the soft counts themselves, without correction; nats.
double code_information(const CodeDistribution& distribution, const Symbols& x, std::int32_t levels);

/// The same with its bias to second order and, where they are asked for, the variances of both terms.
struct CodeInformation {
  double plug_in = 0;
  double bias = 0;
  double linear = 0;
  double quadratic = 0;
};
CodeInformation corrected_code_information(const CodeDistribution& distribution, const Symbols& x,
                                           std::int32_t levels, bool with_variances = true);

/// 95 % upper confidence bounds. `nats` is the bound itself; the interval begins at the lower limit by the
/// same method (0 for the distribution-free one) and ends at the bound.
Estimate asymptotic_code_certificate(const CodeDistribution& distribution, const Symbols& x,
                                     std::int32_t levels);
Estimate distribution_free_code_certificate(const CodeDistribution& distribution, const Symbols& x,
                                            std::int32_t levels);

}  // namespace ppan
