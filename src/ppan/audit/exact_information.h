#pragma once

#include "ppan/core/estimate.h"
#include "ppan/core/matrix.h"

namespace ppan {

/// I(A;B) of a finite joint pmf P(a,b), a row per a. Exact: no interval, Bound::kExact. Throws
/// Error(kBadInput) if `joint` has a negative or non-finite entry or does not sum to 1 (to 1e-9).
Estimate exact_information(const MatrixRef<double>& joint);

/// I(X;Z) for the joint P(w,x) (a row per w) and the mechanism P(z|w) (a row per w, each summing to 1).
Estimate exact_information(const MatrixRef<double>& joint_wx, const MatrixRef<double>& mechanism);

}  // namespace ppan
