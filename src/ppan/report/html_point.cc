#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "ppan/report/figure.h"
#include "ppan/report/html_parts.h"
#include "ppan/report/not_seen.h"
#include "ppan/report/text.h"
#include "ppan/report/trade_off.h"

namespace ppan::html {
namespace {

using text::cut_to_width;
using text::escape;
using text::text_width;

constexpr std::size_t kMostLevels = 10;        // bars of one column; the rest are added up
constexpr std::size_t kMostEpochsDrawn = 150;  // of a training curve
constexpr std::size_t kMostExamples = 12;
constexpr std::size_t kMostGroups = 8;       // shown at once; the rest can be unfolded
constexpr std::size_t kMostCorrelated = 40;  // columns in a correlation matrix
// Drawings of columns in the whole page, and the fewest and most for one point: a page of 200 points or 200
// columns must still open at once.
constexpr std::size_t kDrawingsInPage = 600;
constexpr std::size_t kFewestDrawings = 6;
constexpr std::size_t kMostDrawings = 24;

const PointSummary* find_summary(const RunFiles& run, const std::string& series, int number) {
  for (const PointSummary& point : run.summary.points) {
    if (point.series == series && point.number == number) return &point;
  }
  return nullptr;
}

const PointDetails* details_of(const RunFiles& run, const std::string& series, int number) {
  for (const PointDetails& point : run.details.points) {
    if (point.series == series && point.number == number) return &point;
  }
  return nullptr;
}

void entry(Page& page, std::string_view term, const std::string& value) {
  page.add("<dt>{}</dt><dd>{}</dd>", term, value);
}

// What a column of estimates has in common is said once, above it.
std::string provenance_of(const std::vector<const Estimate*>& all) {
  if (all.empty()) return {};
  const auto before_comma = [](const std::string& text) { return text.substr(0, text.find(',')); };
  std::string bound(to_string(all.front()->bound));
  std::string method = before_comma(all.front()->method);
  for (const Estimate* one : all) {
    if (to_string(one->bound) != bound) bound.clear();
    if (before_comma(one->method) != method) method.clear();
  }
  if (bound.empty() || method.empty()) return {};
  return fmt::format("Each number is {} {} in nats, with its 95&nbsp;% interval, by {}.",
                     bound == "estimate" ? "an" : "a", bound, escape(method));
}

// Two cells: in short where the table said what the numbers are, otherwise each with everything.
std::string estimate_cells(const std::optional<Estimate>& value, bool brief) {
  if (!value) return "<td></td><td></td>";
  if (!brief) return fmt::format("<td colspan=\"2\">{}</td>", estimate(*value));
  return fmt::format("<td class=\"r\">{}</td><td class=\"r\">{}</td>", number(value->nats, 3),
                     value->interval95 ? fmt::format("{} to {}", number(value->interval95->low, 2),
                                                     number(value->interval95->high, 2))
                                       : "unknown");
}

std::string group_rows(std::span<const GroupDetail> groups, bool accuracy, bool leakage, bool brief) {
  Page page;
  for (const GroupDetail& group : groups) {
    page.add("<tr><td>{}</td><td class=\"r\">{}</td>", escape(group.name), group.rows);
    if (accuracy) {
      page.add("<td>{}</td><td class=\"r\">{}</td>", group.accuracy ? rate(*group.accuracy) : std::string(),
               group.prior ? percent(*group.prior) : std::string());
    }
    if (leakage) page.raw(estimate_cells(group.leakage, brief));
    page.raw("</tr>");
  }
  return page.take();
}

std::string groups_table(const std::vector<GroupDetail>& groups, std::string_view what) {
  if (groups.empty()) return {};
  const bool accuracy =
      std::any_of(groups.begin(), groups.end(), [](const auto& g) { return g.accuracy.has_value(); });
  std::vector<const Estimate*> found;
  for (const GroupDetail& group : groups) {
    if (group.leakage) found.push_back(&*group.leakage);
  }
  const std::string common = provenance_of(found);
  Page page;
  page.add("<h4>By {}</h4>", what);
  if (!common.empty()) page.add("<p class=\"note\">{}</p>", common);
  std::string head = fmt::format("<table><thead><tr><th>{}</th><th class=\"r\">records</th>", what);
  if (accuracy) head += "<th>attacker right</th><th class=\"r\">without the release</th>";
  if (!found.empty()) head += "<th class=\"r\">leakage</th><th class=\"r\">95&nbsp;% interval</th>";
  head += "</tr></thead><tbody>";
  const auto table = [&](std::span<const GroupDetail> some) {
    page.add("<div class=\"scroll\">{}{}</tbody></table></div>", head,
             group_rows(some, accuracy, !found.empty(), !common.empty()));
  };
  const std::span<const GroupDetail> all(groups);
  table(all.first(std::min(all.size(), kMostGroups)));
  if (all.size() > kMostGroups) {
    page.add("<details data-print><summary>{} more</summary>", all.size() - kMostGroups);
    table(all.subspan(kMostGroups));
    page.raw("</details>");
  }
  return page.take();
}

std::string attackers_table(const std::vector<AttackerDetail>& attackers) {
  if (attackers.empty()) return {};
  std::vector<const Estimate*> found;
  for (const AttackerDetail& attacker : attackers) found.push_back(&attacker.leakage);
  const std::string common = provenance_of(found);
  Page page;
  page.add(
      "<p class=\"note\">{}{}The strongest attacker was selected on other rows, so that the stated finding "
      "is not "
      "that of the luckiest of many. Attackers are sorted by what they found there.</p>",
      common, common.empty() ? "" : " ");
  page.raw(
      "<div class=\"scroll\"><table><thead><tr><th>attacker</th><th class=\"r\">leakage found</th>"
      "<th class=\"r\">95&nbsp;% interval</th></tr></thead><tbody>");
  for (const AttackerDetail& attacker : attackers) {
    page.add("<tr><td>{}{}</td>{}</tr>", escape(attacker.name),
             attacker.won ? " <strong>(chosen)</strong>" : "",
             estimate_cells(attacker.leakage, !common.empty()));
  }
  page.raw("</tbody></table></div>");
  return page.take();
}

// What the best attacker gets right, in words.
std::string success(const AuditDetail& audit) {
  if (!audit.accuracy) return {};
  Page page;
  page.add("<p>The best attacker guesses the right value for {} of the records", rate(*audit.accuracy));
  if (audit.prior_accuracy)
    page.add("; without the release, guessing alone is right for {}", percent(*audit.prior_accuracy));
  page.raw(".");
  for (const AttackerDetail& attacker : audit.attackers) {
    if (!attacker.won) continue;
    if (attacker.balanced_accuracy)
      page.add(" With all values weighted equally it is right for {}.", rate(*attacker.balanced_accuracy));
    if (attacker.auc)
      page.add(
          " Of two records with different values it puts them in the right order for {} (area under the ROC "
          "curve; 50&nbsp;% by chance).",
          rate(*attacker.auc));
  }
  page.raw("</p>");
  return page.take();
}

std::string learning_curves(const AuditDetail& audit) {
  Figure figure{.title = "Learning curves of the attackers",
                .x = {.label = "rows the attacker was trained on", .logarithmic = true},
                .y = {.label = "lower bound found [nats]", .low = 0},
                .width = 460,
                .height = 240};
  constexpr std::array kRoles{SeriesRole::kLearned,   SeriesRole::kLearned2,   SeriesRole::kLearned3,
                              SeriesRole::kReference, SeriesRole::kReference2, SeriesRole::kConventional};
  for (const AttackerDetail& attacker : audit.attackers) {
    if (attacker.learning_curve.empty()) continue;
    FigureSeries series{.name = attacker.name, .role = kRoles[figure.series.size() % kRoles.size()]};
    for (const LearningStep& step : attacker.learning_curve)
      series.points.push_back(
          {.x = static_cast<double>(step.rows), .y = step.nats, .interval = step.interval95});
    figure.series.push_back(std::move(series));
  }
  if (figure.series.empty()) return {};
  return "<figure class=\"figure half\">" + to_svg(figure, SvgUse::kInline) +
         "<figcaption>What each attacker found on held-out records, against the rows it learned from. A "
         "curve that still rises "
         "means that more data would find more.</figcaption></figure>";
}

std::string measures_table(const std::vector<MeasureDetail>& measures) {
  if (measures.empty()) return {};
  const auto text = [](const MeasureDetail& m, double value) {
    return m.unit == "probability" ? fmt::format("{:.1f}&nbsp;%", 100 * value) : fmt::format("{:.3f}", value);
  };
  Page page;
  page.raw(
      "<div class=\"scroll\"><table><thead><tr><th>other measures of the same</th><th class=\"r\">value</th>"
      "<th class=\"r\">95&nbsp;% interval</th><th>direction</th></tr></thead><tbody>");
  for (const MeasureDetail& m : measures) {
    const Interval interval = m.estimate.interval95.value_or(Interval{m.estimate.nats, m.estimate.nats});
    const bool plain = m.unit == "probability" || m.unit == "ratio";
    page.add(
        "<tr><td title=\"{}\">{}</td><td class=\"r\">{}{}</td><td class=\"r\">{} to {}</td><td>{}</td></tr>",
        escape(m.estimate.method), escape(m.title), text(m, m.estimate.nats),
        plain ? std::string() : " " + escape(m.unit), text(m, interval.low), text(m, interval.high),
        to_string(m.estimate.bound));
  }
  page.raw("</tbody></table></div>");
  return page.take();
}

std::string audit_section(const AuditDetail& audit) {
  Page page;
  page.add("<h3>What an attacker gains about {}</h3>", escape(audit.target));
  if (audit.inconclusive) {
    page.raw(
        "<p class=\"warn\">Inconclusive: the best attacker was still improving with more training rows, so "
        "more "
        "may leak than is shown here.</p>");
  }
  if (audit.leakage) page.add("<p>{}.</p>", sentence(*audit.leakage));
  if (audit.upper_bound) page.add("<p>{}.</p>", sentence(*audit.upper_bound));
  page.raw(success(audit));
  if (!audit.note.empty()) page.add("<p class=\"note\">{}</p>", escape(audit.note));
  const auto side = [&](const std::string& left, const std::string& right) {
    if (!left.empty() || !right.empty())
      page.add("<div class=\"side\"><div>{}</div><div>{}</div></div>", left, right);
  };
  side(attackers_table(audit.attackers), learning_curves(audit));
  page.raw(measures_table(audit.measures));
  side(groups_table(audit.classes, "class"), groups_table(audit.groups, "group"));
  return page.take();
}

Figure column_figure(const ColumnDetail& column) {
  Figure figure{.title = column.name, .width = 260, .height = 130};
  FigureSeries before{.role = SeriesRole::kBefore};
  FigureSeries after{.role = SeriesRole::kAfter};
  if (column.histogram) {
    before.kind = after.kind = SeriesKind::kSteps;
    const HistogramPair& pair = *column.histogram;
    for (std::size_t i = 0; i < pair.edges.size(); ++i) {
      const bool last = i + 1 == pair.edges.size();
      before.points.push_back({.x = pair.edges[i], .y = last ? 0 : pair.before[i]});
      after.points.push_back({.x = pair.edges[i], .y = last ? 0 : pair.after[i]});
    }
  } else {
    before.kind = after.kind = SeriesKind::kBars;
    figure.height = 170;
    const CategoryPair& pair = *column.categories;
    std::vector<std::size_t> order(pair.levels.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return pair.before[a] > pair.before[b]; });
    double rest_before = 0;
    double rest_after = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      if (k + 1 >= kMostLevels && order.size() > kMostLevels) {
        rest_before += pair.before[order[k]];
        rest_after += pair.after[order[k]];
        continue;
      }
      const auto x = static_cast<double>(figure.x.categories.size());
      figure.x.categories.push_back(pair.levels[order[k]]);
      before.points.push_back({.x = x, .y = pair.before[order[k]]});
      after.points.push_back({.x = x, .y = pair.after[order[k]]});
    }
    if (order.size() > kMostLevels) {
      const auto x = static_cast<double>(figure.x.categories.size());
      figure.x.categories.push_back(fmt::format("{} others", order.size() - kMostLevels + 1));
      before.points.push_back({.x = x, .y = rest_before});
      after.points.push_back({.x = x, .y = rest_after});
    }
  }
  figure.series = {std::move(before), std::move(after)};
  return figure;
}

// A sample of each of the two looks, for the line above the panels.
constexpr std::string_view kBeforeAfterKey =
    "<p class=\"key\"><span><svg viewBox=\"0 0 22 12\" class=\"ppan-figure\" aria-hidden=\"true\"><g "
    "class=\"s-before\"><path class=\"k b\" "
    "d=\"M2 1h18v10h-18z\"/></g></svg>original</span><span><svg viewBox=\"0 0 22 12\" class=\"ppan-figure\" "
    "aria-hidden=\"true\"><g "
    "class=\"s-after\"><path class=\"k b\" d=\"M2 1h18v10h-18z\"/></g></svg>released</span></p>";

std::string columns_section(const std::vector<ColumnDetail>& columns, std::size_t points) {
  Page page;
  if (std::any_of(columns.begin(), columns.end(), [](const auto& c) { return c.distortion.has_value(); })) {
    page.raw(
        "<h3>Distortion by column</h3><div class=\"scroll\"><table><thead><tr><th>column</th><th "
        "class=\"r\">distortion</th><th>meaning"
        "</th></tr></thead><tbody>");
    for (const ColumnDetail& column : columns) {
      if (!column.distortion) continue;
      page.add("<tr><td>{}</td><td class=\"r\">{}</td><td>{}</td></tr>", escape(column.name),
               number(*column.distortion), escape(column.distortion_meaning));
    }
    page.raw("</tbody></table></div>");
  }
  std::vector<const ColumnDetail*> drawn;
  for (const ColumnDetail& column : columns) {
    if (column.histogram || column.categories) drawn.push_back(&column);
  }
  if (drawn.empty()) return page.take();
  page.raw("<h3>Distributions before and after</h3>");
  page.raw(kBeforeAfterKey);
  const std::size_t most =
      std::clamp(kDrawingsInPage / std::max<std::size_t>(1, points), kFewestDrawings, kMostDrawings);
  if (drawn.size() > most) {
    std::stable_sort(drawn.begin(), drawn.end(), [](const ColumnDetail* a, const ColumnDetail* b) {
      return a->distortion.value_or(0) > b->distortion.value_or(0);
    });
    page.add(
        "<p class=\"note\">The {} of {} columns that change most; the run\u2019s files have all of them.</p>",
        most, drawn.size());
    drawn.resize(most);
  }
  page.raw("<div class=\"panels\">");
  for (const ColumnDetail* column : drawn) {
    page.add("<div><h4 title=\"{0}\">{0}</h4>{1}</div>", escape(column->name),
             to_svg(column_figure(*column), SvgUse::kInline));
  }
  page.raw("</div>");
  return page.take();
}

// Hinton diagram: the area of a square is the strength, filled positive, hollow negative, so that grey print
// and colour-blind readers lose nothing.
std::string hinton(const std::vector<std::string>& names, const std::vector<std::vector<double>>& matrix,
                   std::string_view title) {
  const auto at = [](double value) { return fmt::format("{:.4g}", std::round(value * 10) / 10); };
  // The drawing is stretched to its column: a least width keeps the letters of a small one from growing.
  constexpr double kLeastWidth = 340;
  double margin = 0;
  for (const std::string& name : names) margin = std::max(margin, std::min(text_width(name), 10.0) * 10 + 6);
  const double cell = std::clamp((kLeastWidth - margin - 2) / static_cast<double>(names.size()), 14.0, 44.0);
  const double size = cell * static_cast<double>(names.size());
  std::string positive;
  std::string negative;
  for (std::size_t i = 0; i < names.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const double value = matrix[i][j];
      if (!std::isfinite(value)) continue;
      const double side = (cell - 2) * std::sqrt(std::min(1.0, std::abs(value)));
      if (side < 0.6) continue;
      const double x = margin + cell * (static_cast<double>(j) + 0.5) - side / 2;
      const double y = cell * (static_cast<double>(i) + 0.5) - side / 2;
      (value > 0 ? positive : negative) +=
          fmt::format("M{} {}h{}v{}h-{}z", at(x), at(y), at(side), at(side), at(side));
    }
  }
  Page page;
  page.add(
      "<figure class=\"figure half\"><svg class=\"hinton\" viewBox=\"0 0 {} {}\" role=\"img\" "
      "aria-label=\"{}\" font-size=\"10\">",
      at(std::max(kLeastWidth, margin + size + 2)), at(size + margin), title);
  page.add(
      "<path class=\"o\" d=\"M{} 0h{}v{}h-{}z\"/><path class=\"p\" d=\"{}\"/><path class=\"q\" d=\"{}\"/>",
      at(margin), at(size), at(size), at(size), positive, negative);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double middle = cell * (static_cast<double>(i) + 0.5);
    const std::string name = escape(cut_to_width(names[i], 10));
    page.add("<text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>", at(margin - 4), at(middle + 3.5), name);
    page.add("<text transform=\"translate({} {}) rotate(-90)\" text-anchor=\"end\">{}</text>",
             at(margin + middle + 3.5), at(size + 4), name);
  }
  page.add("</svg><figcaption>{}</figcaption></figure>", title);
  return page.take();
}

std::string correlation_section(const CorrelationDetail& detail) {
  if (detail.names.empty()) return {};
  std::vector<std::string> names = detail.names;
  std::string note =
      "Area of a square: strength of the correlation of two columns. Filled: positive. Hollow: negative.";
  if (names.size() > kMostCorrelated) {
    note += fmt::format(" The first {} of {} columns; the run\u2019s files have all of them.",
                        kMostCorrelated, names.size());
    names.resize(kMostCorrelated);
  }
  return fmt::format(
      "<h3>Correlations before and after</h3><p class=\"note\">{}</p><div class=\"side\">{}{}</div>", note,
      hinton(names, detail.before, "original"), hinton(names, detail.after, "released"));
}

std::string examples_section(const ExampleTable& table) {
  if (table.released.empty()) return {};
  Page page;
  page.raw("<h3>Example records</h3>");
  page.raw(table.original.empty()
               ? "<p class=\"note\">Released values. The job does not allow showing originals.</p>"
               : "<p class=\"note\">Released values, with the useful original above each. Sensitive values "
                 "are never shown.</p>");
  page.raw("<div class=\"scroll\"><table><thead><tr>");
  for (const std::string& name : table.columns) page.add("<th>{}</th>", escape(name));
  page.raw("</tr></thead><tbody>");
  for (std::size_t i = 0; i < std::min(table.released.size(), kMostExamples); ++i) {
    page.raw("<tr>");
    for (std::size_t c = 0; c < table.columns.size(); ++c) {
      page.raw("<td>");
      if (!table.original.empty())
        page.add("<span class=\"before\">{}</span><br>", escape(table.original[i][c]));
      page.add("{}</td>", escape(table.released[i][c]));
    }
    page.raw("</tr>");
  }
  page.raw("</tbody></table></div>");
  return page.take();
}

std::string training_section(const RunFiles& run, const std::string& series, int number) {
  std::vector<const MetricsLine*> lines;
  for (const MetricsLine& line : run.metrics) {
    if (line.series == series && line.number == number) lines.push_back(&line);
  }
  if (lines.empty()) return {};
  const std::size_t every = (lines.size() + kMostEpochsDrawn - 1) / kMostEpochsDrawn;
  struct Wanted {
    const char* title;
    std::optional<double> MetricsLine::*value;
    SeriesRole role;
  };
  const std::array wanted{
      Wanted{"distortion", &MetricsLine::distortion, SeriesRole::kLearned},
      Wanted{"adversary\u2019s belief [nats]", &MetricsLine::leakage, SeriesRole::kLearned2},
      Wanted{"mechanism\u2019s loss", &MetricsLine::loss, SeriesRole::kLearned3},
      Wanted{"multiplier of the budget", &MetricsLine::multiplier, SeriesRole::kReference2}};
  std::string panels;
  for (const Wanted& what : wanted) {
    Figure figure{.title = what.title, .x = {.label = "epoch"}, .width = 260, .height = 150};
    FigureSeries curve{.kind = SeriesKind::kLine, .role = what.role};
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (i % every != 0 && i + 1 != lines.size()) continue;
      const auto& value = lines[i]->*what.value;
      if (value) curve.points.push_back({.x = static_cast<double>(lines[i]->epoch), .y = *value});
    }
    const auto moves = [&](const FigurePoint& p) { return p.y != curve.points.front().y; };
    if (curve.points.empty() || (what.value == &MetricsLine::multiplier &&
                                 std::none_of(curve.points.begin(), curve.points.end(), moves))) {
      continue;
    }
    figure.series.push_back(std::move(curve));
    panels += fmt::format("<div><h4>{}</h4>{}</div>", what.title, to_svg(figure, SvgUse::kInline));
  }
  return "<h3>Training, epoch by epoch</h3><div class=\"panels\">" + panels + "</div>";
}

}  // namespace

std::string point_brief(const RunFiles& run, std::size_t index, bool is_dominated) {
  const CurveRow& row = run.curve.rows[index];
  const int number_in_series = point_numbers(run.curve)[index];
  const PointSummary* summary = find_summary(run, row.series, number_in_series);
  Page page;
  const std::string name = fmt::format("{}, point {}", series_title(row.series), number_in_series);
  page.add("<div class=\"brief\" data-point=\"{}\" data-name=\"{}\"><h3>{}</h3><dl class=\"numbers\">", index,
           escape(name), escape(name));
  if (row.budget) entry(page, "budget", number(*row.budget));
  if (row.weight) entry(page, "weight \u03bb", number(*row.weight));
  // Of an audited release no distortion is known, only the share of cells that were changed.
  page.add("<dt>{}</dt><dd><span class=\"big\" data-tip=\"distortion\">{}</span> {}</dd>",
           row.series.starts_with("audit/") ? escape(run.summary.distortion_name) : std::string("distortion"),
           number(row.distortion), escape(run.summary.distortion_unit));
  if (const auto leakage = row.leakage_estimate()) {
    page.add(
        "<dt>leakage</dt><dd data-tip=\"leakage\"><span class=\"big\">{}</span> <span "
        "class=\"note\">({})</span></dd>",
        not_seen(*leakage) ? std::string("not seen") : number(leakage->nats) + " nats",
        not_seen(*leakage) ? fmt::format("found {} nats; {}", number(leakage->nats), provenance(*leakage))
                           : provenance(*leakage));
    if (const auto upper_end = row.number(curve_column::kUpperEnd)) {
      const auto power = row.number(curve_column::kPower);
      entry(page, "upper end",
            fmt::format(
                "<strong>{} nats</strong>{}", number(*upper_end),
                power ? fmt::format(" <span class=\"note\">(power: leaks of {} nats and more are found with "
                                    "probability 0.9)</span>",
                                    number(*power))
                      : std::string()));
    }
    if (const auto later = row.number(curve_column::kForecast)) {
      entry(page, "with ten times the rows",
            fmt::format(
                "{} nats <span class=\"note\">(estimate, 95&nbsp;% interval {} to {}, learning curve)</span>",
                number(*later), number(row.number(curve_column::kForecastLow).value_or(0)),
                number(row.number(curve_column::kForecastHigh).value_or(0))));
    }
    if (row.text(curve_column::kInconclusive) == "yes")
      entry(page, "audit", "<span class=\"badge alert\">INCONCLUSIVE</span> more rows are needed");
    const auto& ceiling = run.summary.leakage_ceiling;
    if (ceiling && *ceiling > 0 && std::isfinite(*ceiling)) {
      entry(page, "share",
            fmt::format("{} of the {} nats that could leak", percent(std::max(0.0, leakage->nats) / *ceiling),
                        number(*ceiling, 3)));
    }
  } else {
    entry(page, "leakage", "<span class=\"badge alert\">UNAUDITED</span>");
  }
  if (row.optimum) page.add("<dt>optimum</dt><dd data-tip=\"optimum\">{} nats</dd>", number(*row.optimum));
  if (row.excess) page.add("<dt>excess</dt><dd>{} nats</dd>", number(*row.excess));
  const auto is_upper = [](const NamedEstimate& e) { return e.estimate.bound == Bound::kUpper; };
  const bool told =
      summary != nullptr && std::any_of(summary->estimates.begin(), summary->estimates.end(), is_upper);
  if (const auto upper = row.number(curve_column::kUpperBound); upper && !told)
    entry(page, "upper bound", number(*upper) + " nats");
  if (summary != nullptr) {
    for (const auto& [what, value] : summary->estimates) entry(page, escape(what), estimate(value));
  }
  const auto believed = row.number(curve_column::kTrainingBelief);
  if (believed)
    entry(page, "training\u2019s own belief",
          number(*believed) + " nats <span class=\"note\">(not evidence)</span>");
  if (summary != nullptr && !summary->model.empty())
    entry(page, "model file", "<code>" + escape(summary->model) + "</code>");
  page.raw("</dl>");
  if (is_dominated) {
    page.raw(
        "<p class=\"warn\">Dominated: choosing at random between two other points of this series gives the "
        "same distortion with less "
        "leakage.</p>");
  }
  if (summary != nullptr) {
    for (const std::string& warning : summary->warnings)
      page.add("<p class=\"warn\">{}</p>", escape(warning));
  }
  page.raw("</div>");
  return page.take();
}

std::string point_details(const RunFiles& run, std::size_t index) {
  const CurveRow& row = run.curve.rows[index];
  const int number_in_series = point_numbers(run.curve)[index];
  const PointDetails* details = details_of(run, row.series, number_in_series);
  const PointSummary* summary = find_summary(run, row.series, number_in_series);
  Page page;
  page.add("<div data-point=\"{}\"><p class=\"note\">{}, point {}.", index, escape(series_title(row.series)),
           number_in_series);
  if (summary != nullptr) {
    const std::string why = summary->message.empty() ? summary->stop : summary->message;
    if (!why.empty()) page.add(" Training stopped: {}.", escape(why));
    if (summary->epochs > 0) {
      page.add(" {} epochs, {} iterations, {}.", summary->epochs, summary->iterations,
               duration(summary->seconds));
    }
  }
  page.raw("</p>");
  if (details != nullptr) {
    for (const AuditDetail& audit : details->audits) page.raw(audit_section(audit));
    page.raw(columns_section(details->columns, run.curve.rows.size()));
    if (details->correlation) page.raw(correlation_section(*details->correlation));
    if (details->examples) page.raw(examples_section(*details->examples));
    for (const ImageDetail& image : details->images) page.raw(image_figure(image, run));
  }
  page.raw(training_section(run, row.series, number_in_series));
  page.raw("</div>");
  return page.take();
}

}  // namespace ppan::html
