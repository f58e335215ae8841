#pragma once

// What an attacker would find with more rows to learn from, from how its finding grew so far:
//
//     gain(n) = a - b n^-c,   b >= 0.
//
// Few points cannot tell c, which theory puts between slow learners and 1 (parametric ones), so every c of a
// range is fitted and the interval covers them all. For a fixed c the forecast is a linear combination of the
// gains, so its interval comes from the rows, as that of the gains does. An estimate, never a bound.

#include <optional>
#include <span>

#include "ppan/audit/attack_numbers.h"

namespace ppan {

struct LearningForecast {
  Estimate ten_times;  ///< With ten times the rows.
  Estimate limit;      ///< With any number of them.
};

/// `gain[k]`: per test row, of the attacker that learned from `rows[k]`, fewest first. Nothing with fewer
/// than three of them.
std::optional<LearningForecast> forecast_learning(std::span<const Index> rows,
                                                  std::span<const Vector<double>> gain, double entropy,
                                                  const Units& unit = {});

/// The upper end of what a forecast allows for. Of a curve that still rises, ten times the rows are no end:
/// the limit is.
double forecast_end(const LearningForecast& forecast, bool still_rising);

}  // namespace ppan
