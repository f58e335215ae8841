#pragma once

// A better estimate of a finite distribution than its relative frequencies, for tables with few records in
// most cells. The count of a cell is modelled as Poisson with its own mean, and the means of all cells as
// draws from one distribution G. G is estimated from the counts by nonparametric maximum likelihood, and each
// count is then replaced by its posterior mean. Cells shrink towards similar cells, by an amount that the
// data determine: cells that differ beyond chance do not shrink, and cells with the same mean share their
// records.
//
// Sources: J. Kiefer, J. Wolfowitz, Ann. Math. Stat. 27, 1956; L. Simar, Ann. Stat. 4, 1976 (Poisson);
// H. Robbins, "The empirical Bayes approach to statistics", Proc. 3rd Berkeley Symp. 1956.

#include "ppan/core/matrix.h"

namespace ppan::theory {

/// Posterior means of the cells of `counts` (at least 0, of any shape), scaled to the same sum. Throws
/// Error(kUsage) for a count that is negative or not finite.
Matrix<double> shrunken_counts(const MatrixRef<double>& counts);

}  // namespace ppan::theory
