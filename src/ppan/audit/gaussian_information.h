#pragma once

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// Gaussian plug-in: I = 1/2 log(det Sx / det Sx|z), Sx|z = Sx - Sxz Sz^+ Sxz^T, from the sample covariances
/// of `x` and `z` (a row per record), Sz^+ the pseudo-inverse (so constant or dependent columns of z are
/// harmless).
///
/// Which side it errs on: it sees linear dependence only. For Gaussian X it is a lower bound of I(X;Z) as the
/// number of records grows, whatever Z is, because h(X|Z) <= 1/2 log((2 pi e)^d det Sx|z); equality for
/// jointly Gaussian (X,Z). It misses X^2 = Z altogether. For X that is not Gaussian it bounds nothing: a sign
/// X and Z = X + little noise have I = log 2 while the formula grows without limit. Use it for Gaussian X
/// only.
///
/// Interval: delta method. A record contributes (with u = (x,z), centred)
///     1/2 ( x^T Sx^-1 x + z^T Sz^+ z - u^T Su^+ u ),
/// whose variance over n is the sampling variance (for Gaussian data sum rho_i^2 / n, rho_i the canonical
/// correlations). Near independence 2 n I is chi-squared with dim(x) rank(z) = d degrees of freedom: the
/// interval is therefore centred at I - d/2n and its variance raised by d/2n^2. The value itself is left as
/// the formula gives it.
///
/// Infinite when z determines x linearly. Throws Error(kBadInput) when the number of rows differs, is below
/// dim(x) + dim(z) + 2, an entry is not finite, or the covariance of x is singular.
Estimate gaussian_information(const MatrixRef<double>& x, const MatrixRef<double>& z);

}  // namespace ppan
