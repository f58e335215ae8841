#include "ppan/report/trade_off.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "ppan/report/text.h"

namespace ppan {
namespace {

using text::show_number;

struct KnownSeries {
  std::string_view name;
  std::string_view title;
};

constexpr std::array kKnown{
    KnownSeries{"ppan/table", "learned"},
    KnownSeries{"ppan/images", "learned"},
    KnownSeries{"audit/release", "audited release"},
    KnownSeries{"ppan/hull", "learned, completed to its convex hull"},
    KnownSeries{"ppan/redrawn", "columns redrawn from the others"},
    KnownSeries{"reference/unchanged", "released unchanged"},
    KnownSeries{"reference/dropped", "columns dropped"},
    KnownSeries{"reference/constant", "the same row for everybody"},
    KnownSeries{"reference/independent", "rows drawn independently of the person"},
    KnownSeries{"reference/noise", "independent noise"},
    KnownSeries{"reference/randomized-response", "randomized response of the categories"},
    KnownSeries{"reference/gaussian-noise", "Gaussian noise on the numbers"},
    KnownSeries{"reference/optimum", "the exact optimum for the rows of the table"},
    KnownSeries{"reference/time-sharing", "time-sharing (unchanged or constant)"},
};

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

// Position of `series` among the names of the table with the same beginning ("ppan/hull" not counted).
int rank_among(const std::string& series, const CurveTable& table, std::string_view prefix) {
  int rank = 0;
  for (const std::string& name : series_of(table)) {
    if (name == series) return rank;
    if (starts_with(name, prefix) && name != "ppan/hull") ++rank;
  }
  return rank;
}

std::string axis_label(std::string_view name, std::string_view unit) {
  std::string label(name);
  if (!unit.empty()) label.append(" [").append(unit).append("]");
  return label;
}

// A game of another order than 1 is scored by the information of that order.
std::string leakage_label(const CurveTable& table) {
  const std::string kind = common_kind(table);
  const bool arimoto = std::ranges::any_of(table.rows, [](const CurveRow& row) {
    return row.text(curve_column::kLeakageMethod).find("Arimoto") != std::string_view::npos;
  });
  const std::string name = arimoto ? "\u03b1-leakage" : "leakage I(X;Z)";
  return kind.empty() ? name + " [nats]" : name + ", " + kind + " [nats]";
}

std::string observation_of(const std::string& series) {
  const std::size_t slash = series.find('/');
  return slash == std::string::npos ? series : series.substr(slash + 1);
}

std::string observation_title(const std::string& observation) {
  if (observation == "useful-only") return "useful data only";
  if (observation == "full-data") return "full data";
  if (observation == "rate-distortion") return "rate\u2013distortion";
  if (observation == "noisy") return "noisy data";
  if (observation == "partial") return "partial data";
  if (observation == "given") return "observation as given";
  return observation;
}

// WHO of WHO/OBSERVATION for people; empty if it is not one that goes with any observation. WHO@SIZE is WHO
// trained on so many records.
std::string approach_title(std::string who) {
  std::string size;
  if (const std::size_t at = who.find('@'); at != std::string::npos) {
    size = " on " + who.substr(at + 1) + " records";
    who.resize(at);
  }
  if (who == "ppan") return "learned" + size;
  if (who == "conventional") return "conventional" + size;
  if (who == "conventional-prior") return "conventional with the same prior" + size;
  if (who == "optimum") return "optimum";
  return {};
}

// The optimum of one observation: on its own grid, or at the distortions that were measured.
std::vector<FigurePoint> optimum_of(const CurveTable& table, const std::string& observation) {
  std::map<double, double> by_distortion;
  for (const CurveRow& row : table.rows) {
    if (observation_of(row.series) == observation && row.distortion && row.optimum) {
      by_distortion.emplace(*row.distortion, *row.optimum);
    }
  }
  std::vector<FigurePoint> points;
  points.reserve(by_distortion.size());
  for (const auto& [x, y] : by_distortion) points.push_back({.x = x, .y = y});
  return points;
}

// Rows that depend on nobody score by chance. Far below all others, they would take the scale of the figure.
bool tells_nothing(std::string_view series) {
  return series == "reference/constant" || series == "reference/independent";
}

std::string point_label(const CurveRow& row, int number) {
  return series_title(row.series) + ", point " + std::to_string(number) + ": distortion " +
         (row.distortion ? show_number(*row.distortion, 4) : "unknown") + ", leakage " +
         show_number(*row.leakage, 4) + " nats";
}

}  // namespace

std::string series_title(const std::string& series) {
  for (const KnownSeries& known : kKnown) {
    if (known.name == series) return std::string(known.title);
  }
  const std::string who = approach_title(series.substr(0, series.find('/')));
  return who.empty() || series.find('/') == std::string::npos
             ? series
             : who + ", " + observation_title(observation_of(series));
}

SeriesRole series_role(const std::string& series, const CurveTable& table) {
  if (series == "ppan/hull") return SeriesRole::kOptimum2;
  if (starts_with(series, "conventional")) {
    constexpr std::array kConventional{SeriesRole::kConventional, SeriesRole::kConventional2,
                                       SeriesRole::kReference2, SeriesRole::kReference3};
    return kConventional[static_cast<std::size_t>(rank_among(series, table, "conventional")) %
                         kConventional.size()];
  }
  if (series == "reference/unchanged") return SeriesRole::kBefore;
  if (starts_with(series, "reference/")) {
    // The last two are those of further learned series, which runs with so many references do not have; of
    // these, redrawn columns take the last but one.
    std::vector<SeriesRole> looks{SeriesRole::kReference,    SeriesRole::kReference2,
                                  SeriesRole::kReference3,   SeriesRole::kReference4,
                                  SeriesRole::kConventional, SeriesRole::kConventional2,
                                  SeriesRole::kLearned2,     SeriesRole::kLearned3};
    const std::vector<std::string> names = series_of(table);
    if (std::find(names.begin(), names.end(), "ppan/redrawn") != names.end())
      std::erase(looks, SeriesRole::kLearned2);
    const bool counted = std::find(names.begin(), names.end(), "reference/unchanged") != names.end();
    const int rank = rank_among(series, table, "reference/") - (counted ? 1 : 0);
    return looks[static_cast<std::size_t>(std::max(rank, 0)) % looks.size()];
  }
  constexpr std::array kLearned{SeriesRole::kLearned, SeriesRole::kLearned2, SeriesRole::kLearned3};
  const std::size_t end = series.find_first_of("@/");
  const std::string prefix = end == std::string::npos ? std::string() : series.substr(0, end);
  return kLearned[static_cast<std::size_t>(rank_among(series, table, prefix)) % kLearned.size()];
}

std::string common_kind(const CurveTable& table) {
  std::set<std::string_view> kinds;
  for (const CurveRow& row : table.rows) {
    if (row.leakage) kinds.insert(row.text(curve_column::kLeakageKind));
  }
  return kinds.size() == 1 ? std::string(*kinds.begin()) : std::string();
}

CurveTable take_optimum(CurveTable& table) {
  CurveTable optimum{.more_columns = table.more_columns, .rows = {}};
  const auto is_optimum = [](const CurveRow& row) { return starts_with(row.series, "optimum/"); };
  for (const CurveRow& row : table.rows) {
    if (is_optimum(row)) optimum.rows.push_back(row);
  }
  std::erase_if(table.rows, is_optimum);
  return optimum;
}

Figure trade_off_figure(const CurveTable& table, const RunSummary& summary, const CurveTable& optimum) {
  Figure figure;
  figure.title = summary.name.empty() ? "Trade-off" : summary.name + ": trade-off of distortion and leakage";
  figure.x.label = axis_label(summary.distortion_name.empty() ? "distortion" : summary.distortion_name,
                              summary.distortion_unit);
  figure.y.label = leakage_label(table);
  const std::vector<int> numbers = point_numbers(table);
  const std::vector<std::string> names = series_of(table);

  // Optima and beliefs first, so that the measured points lie on top of them.
  std::set<std::string> seen;
  int optima = 0;
  for (const std::string& name : names) {
    const std::string observation = observation_of(name);
    if (!seen.insert(observation).second) continue;
    auto points = optimum_of(optimum, observation);
    const bool grid = !points.empty();
    if (!grid) points = optimum_of(table, observation);
    if (points.empty()) continue;
    figure.series.push_back({.name = "optimum, " + observation_title(observation),
                             .kind = grid ? SeriesKind::kLine : SeriesKind::kMarkers,
                             .role = optima++ % 2 == 0 ? SeriesRole::kOptimum : SeriesRole::kOptimum2,
                             .points = std::move(points)});
  }
  if (optima == 1) figure.series.front().name = "optimum";

  FigureSeries belief{.name = "training adversary\u2019s own belief (not evidence)",
                      .kind = SeriesKind::kMarkers,
                      .role = SeriesRole::kBelief};
  for (const CurveRow& row : table.rows) {
    const auto believed = row.number(curve_column::kTrainingBelief);
    if (row.distortion && believed) belief.points.push_back({.x = *row.distortion, .y = *believed});
  }
  if (!belief.points.empty()) figure.series.push_back(std::move(belief));

  for (const std::string& name : names) {
    FigureSeries series{
        .name = series_title(name), .kind = SeriesKind::kLineAndMarkers, .role = series_role(name, table)};
    if (name == "ppan/hull" || name == "reference/time-sharing") series.kind = SeriesKind::kLine;
    series.background = starts_with(name, "reference/");
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const CurveRow& row = table.rows[i];
      if (row.series != name || !row.distortion || !row.leakage) continue;
      const Estimate estimate = *row.leakage_estimate();
      series.points.push_back({.x = *row.distortion,
                               .y = *row.leakage,
                               .interval = estimate.interval95,
                               .key = std::to_string(i),
                               .label = point_label(row, numbers[i])});
    }
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    if (!series.points.empty()) figure.series.push_back(std::move(series));
  }
  return figure;
}

bool has_task_score(const CurveRow& row) {
  return row.number(curve_column::kTaskScore) && row.series != "ppan/hull";
}

std::optional<Figure> task_figure(const CurveTable& table, const RunSummary& summary) {
  Figure figure;
  figure.title = (summary.name.empty() ? "" : summary.name + ": ") + "task score against leakage";
  figure.x.label = leakage_label(table);
  const std::vector<int> numbers = point_numbers(table);
  CurveTable drawn = table;  // so that looks are given to what is drawn only, and no two series share one
  std::erase_if(drawn.rows, [](const CurveRow& row) {
    return !row.leakage || !has_task_score(row) || tells_nothing(row.series);
  });
  for (const std::string& name : series_of(drawn)) {
    // A line between releases is not a release: only the trained points are joined, to lead the eye.
    FigureSeries series{
        .name = series_title(name),
        .kind = name.starts_with("ppan/") ? SeriesKind::kLineAndMarkers : SeriesKind::kMarkers,
        .role = series_role(name, drawn),
        .background = starts_with(name, "reference/")};
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const CurveRow& row = table.rows[i];
      if (row.series != name || !row.leakage || !has_task_score(row)) continue;
      const double score = *row.number(curve_column::kTaskScore);
      const auto low = row.number(curve_column::kTaskLow);
      const auto high = row.number(curve_column::kTaskHigh);
      figure.y.label = std::string(row.text(curve_column::kTaskMetric));
      series.points.push_back({.x = *row.leakage,
                               .y = score,
                               .interval = low && high ? std::optional(Interval{*low, *high}) : std::nullopt,
                               .key = std::to_string(i),
                               .label = point_label(row, numbers[i])});
    }
    std::stable_sort(series.points.begin(), series.points.end(),
                     [](const FigurePoint& a, const FigurePoint& b) { return a.x < b.x; });
    figure.series.push_back(std::move(series));
  }
  if (figure.series.empty()) return std::nullopt;
  figure.y.label += " on originals";
  return figure;
}

}  // namespace ppan
