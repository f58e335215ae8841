#include "ppan/report/recommend.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "ppan/core/hull.h"

namespace ppan {
namespace {

struct Spot {
  double distortion;
  double leakage;
  double leakage_low;
  double leakage_high;
  std::size_t row;
};

std::vector<Spot> spots_of(const CurveTable& table, const std::string& series) {
  std::vector<Spot> spots;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const CurveRow& row = table.rows[i];
    if (row.series != series || !row.distortion || !row.leakage) continue;
    const auto interval = row.leakage_estimate()->interval95.value_or(Interval{*row.leakage, *row.leakage});
    const double high = std::max(interval.high, row.number(curve_column::kUpperEnd).value_or(interval.high));
    spots.push_back({*row.distortion, *row.leakage, interval.low, high, i});
  }
  std::stable_sort(spots.begin(), spots.end(),
                   [](const Spot& a, const Spot& b) { return a.distortion < b.distortion; });
  return spots;
}

std::optional<std::size_t> knee_of(const std::vector<Spot>& spots) {
  if (spots.size() < 3) return {};
  const Spot& first = spots.front();
  const Spot& last = spots.back();
  const double width = last.distortion - first.distortion;
  const double height = first.leakage_high - last.leakage_high;
  if (!(width > 0) || !(height > 0)) return {};
  double farthest = 0;
  std::optional<std::size_t> knee;
  for (const Spot& spot : spots) {
    const double below =
        1 - (spot.distortion - first.distortion) / width - (spot.leakage_high - last.leakage_high) / height;
    if (below > farthest + 1e-12) {
      farthest = below;
      knee = spot.row;
    }
  }
  return knee;
}

}  // namespace

bool learned_series(std::string_view series) {
  return series.starts_with("ppan/") && series != "ppan/hull" && series != "ppan/redrawn";
}

bool has_forecast(const CurveRow& row) {
  return row.number(curve_column::kForecast) && row.number(curve_column::kUpperEnd);
}

std::vector<Recommendation> recommend(const CurveTable& table) {
  std::vector<Recommendation> found;
  const auto add = [&](const char* title, const char* why, std::optional<std::size_t> row) {
    if (!row ||
        std::any_of(found.begin(), found.end(), [&](const Recommendation& r) { return r.row == *row; }))
      return;
    found.push_back({title, why, *row});
  };
  for (const std::string& series : series_of(table)) {
    if (!learned_series(series)) continue;
    std::vector<Spot> spots = spots_of(table, series);
    std::erase_if(spots, [&](const Spot& spot) {
      const CurveRow& row = table.rows[spot.row];
      return row.text(curve_column::kInconclusive) == "yes" && !has_forecast(row);
    });
    if (spots.empty()) continue;
    add("Knee of the curve", "Up to here distortion buys much privacy; beyond it, less and less.",
        knee_of(spots));

    double greatest = 0;
    for (const Spot& spot : spots) greatest = std::max(greatest, spot.leakage);
    const auto half = std::find_if(spots.begin(), spots.end(),
                                   [&](const Spot& spot) { return spot.leakage_high <= greatest / 2; });
    add("Half the leakage",
        "The least distortion at which at most half of the curve\u2019s greatest leakage is left.",
        half == spots.end() ? std::nullopt : std::optional(half->row));

    const auto least = std::min_element(spots.begin(), spots.end(), [](const Spot& a, const Spot& b) {
      return a.leakage_high < b.leakage_high;
    });
    add("Least leakage",
        "No point of this curve allows for less; of those that allow for as much, the one that changes "
        "least.",
        least->row);
  }
  return found;
}

std::vector<bool> dominated(const CurveTable& table) {
  std::vector<bool> result(table.rows.size(), false);
  for (const std::string& series : series_of(table)) {
    const std::vector<Spot> spots = spots_of(table, series);
    for (const Spot& spot : spots) {
      // The run knew more candidates than the series: what it found counts.
      if (const auto known = table.rows[spot.row].text("dominated"); !known.empty()) {
        result[spot.row] = known == "yes";
        continue;
      }
      std::vector<HullPoint> others;
      for (const Spot& other : spots) {
        if (other.row != spot.row) others.push_back({other.distortion, other.leakage});
      }
      result[spot.row] = is_dominated({spot.distortion, spot.leakage_low}, others);
    }
  }
  return result;
}

}  // namespace ppan
