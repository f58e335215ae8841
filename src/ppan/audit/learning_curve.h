#pragma once

// What the strongest attacker finds with fewer rows, and what that says about more of them.

#include "ppan/audit/trained_attacker.h"

namespace ppan {

/// Fits `best` again on an eighth, a quarter and a half of its rows. Sets learning, still_rising and forecast
/// of `result`, whose gain is known; `base` is log P(x_i) of the test rows.
void add_learning_curve(const AttackData& data, const TrainedAttacker& best, const Vector<double>& base,
                        SuiteResult& result);

}  // namespace ppan
