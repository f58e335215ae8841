#pragma once

// Which points of a curve a person should look at first.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/report/curve_file.h"

namespace ppan {

struct Recommendation {
  std::string title;  ///< For example "Knee of the curve".
  std::string why;    ///< One sentence.
  std::size_t row = 0;
};

/// True of a series of trained points: ppan/..., the hull and redrawn columns not counted.
bool learned_series(std::string_view series);

/// Attackers that were still getting stronger with more rows found less than there is. Where their learning
/// curve was forecast, the upper end (curve_column::kUpperEnd) holds what any number of rows would find, and
/// a release can be judged by it.
bool has_forecast(const CurveRow& row);

/// For each learned series up to three points, judged by the upper end of each point's interval, widened by
/// what its audit would have missed, where that is known. Points whose audit was inconclusive are not
/// recommended unless they have a forecast:
/// - the knee: with distortion and leakage each scaled to [0, 1], the point farthest below the line between
/// the ends;
/// - half: the least distortion at which at most half of the series' greatest leakage is left;
/// - the least leakage, at the least distortion among equals.
/// A point is listed once, under the first of its titles.
std::vector<Recommendation> recommend(const CurveTable& table);

/// For each row what its column "dominated" says; without one, whether randomising between other points of
/// its series would leak less at the same distortion, by more than the row's interval can explain
/// (is_dominated() of core/hull.h).
std::vector<bool> dominated(const CurveTable& table);

}  // namespace ppan
