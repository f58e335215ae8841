#pragma once

#include <cstdint>

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"
#include "ppan/core/problem.h"

namespace ppan {

struct KsgOptions {
  int neighbours = 4;      ///< k. Small: little bias, more variance. 1 to 100.
  double jitter = 1e-8;    ///< Half-width of the noise that breaks ties, in standard deviations. 0 to 0.01.
  int blocks = 10;         ///< Disjoint parts of the sample that the interval is computed from. 5 to 100.
  std::uint64_t seed = 1;  ///< Of the jitter and of the partition into blocks.
  int threads = 1;         ///< 0: as many as the machine has cores. The result does not depend on it.

  [[nodiscard]] Problems check() const;
};

/// Nearest-neighbour estimate of I(X;Z) for continuous x and z (a row per record), estimator 1 of A. Kraskov,
/// H. Stoegbauer, P. Grassberger, "Estimating mutual information", Phys. Rev. E 69 (2004):
///     I = psi(k) + psi(n) - mean_i [ psi(nx_i + 1) + psi(nz_i + 1) ],
/// where e_i is the distance of record i to its k-th neighbour under max(|dx|, |dz|) and nx_i, nz_i count the
/// records strictly nearer than e_i in x and in z alone. Within x and within z the norm is Euclidean, which
/// the method leaves free and which for scalars is the usual maximum norm.
///
/// Columns are first standardised (mutual information does not care, neighbours do); constant columns are
/// dropped, and when none is left on one side the estimate is 0. Ties would break the counts, so every value
/// is moved by seeded uniform noise of `jitter` standard deviations; I is unchanged for distributions with a
/// density on that scale. Values from a small finite alphabet are not what the method is for: use
/// exact_information.
///
/// Which side it errs on: neither for certain. For independent x and z it is unbiased; strong dependence is
/// under-estimated once its width falls below the spacing of the records, badly in many dimensions. The value
/// is not clipped at 0, so that its errors average out. The interval is the value plus and minus t times the
/// standard error from the estimates on disjoint blocks; it covers sampling noise, not that bias.
///
/// Throws Error(kBadInput) when rows differ in number, an entry is not finite, or there are fewer than
/// blocks * (k + 2) rows.
Estimate ksg_information(const MatrixRef<double>& x, const MatrixRef<double>& z,
                         const KsgOptions& options = {});

}  // namespace ppan
