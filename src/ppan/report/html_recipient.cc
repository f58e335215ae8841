#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ppan/report/figure.h"
#include "ppan/report/html_parts.h"
#include "ppan/report/not_seen.h"
#include "ppan/report/text.h"
#include "ppan/report/trade_off.h"

namespace ppan::html {
namespace {

using text::escape;

// Noise is no alternative that anybody weighs column by column: its rows are folded away.
bool is_alternative(const CurveRow& row) {
  constexpr std::array<std::string_view, 2> kWeighed{"reference/unchanged", "reference/dropped"};
  return row.series.starts_with("ppan/") ||
         std::find(kWeighed.begin(), kWeighed.end(), row.series) != kWeighed.end();
}

// Among what is weighed the label says enough; of the rest the series is needed too.
std::string release_name(const CurveRow& row) {
  const std::string label(row.text("label"));
  if (row.series == "reference/unchanged" || label.empty()) return series_title(row.series);
  return is_alternative(row) ? label : series_title(row.series) + ": " + label;
}

// "income: AUC" where all rows have the same.
std::string common_metric(const CurveTable& curve) {
  std::string common;
  for (const CurveRow& row : curve.rows) {
    const std::string_view metric = row.text(curve_column::kTaskMetric);
    if (metric.empty()) continue;
    if (!common.empty() && common != metric) return "task";
    common = metric;
  }
  return common;
}

std::string cell(const std::optional<double>& value) {
  return value ? number(*value, 3) : std::string();
}

// The leakage with its interval and the upper end of the audit; its direction is in the head of the table.
std::string leakage_cells(const CurveRow& row) {
  const auto leakage = row.leakage_estimate();
  if (!leakage) return "<td class=\"r\"></td><td class=\"r\"></td>";
  const auto& interval = leakage->interval95;
  return fmt::format("<td class=\"r\">{}{}</td><td class=\"r\">{}</td>",
                     not_seen(*leakage) ? std::string("not seen") : number(leakage->nats, 3),
                     interval
                         ? fmt::format(" ({} to {})", number(interval->low, 2), number(interval->high, 2))
                         : std::string(),
                     cell(row.number(curve_column::kUpperEnd)));
}

// What the released rows are like.
std::string row_cells(const CurveRow& row) {
  const auto share = [&](std::string_view column) {
    const auto value = row.number(column);
    return value ? fmt::format("{:.2f}&nbsp;%", 100 * *value) : std::string();
  };
  const std::string original = share("copied_original");
  return fmt::format(
      "<td class=\"r\">{}</td><td class=\"r\">{}</td><td class=\"r\">{}</td><td class=\"r\">{}{}</td>",
      share("changed"), cell(row.number("associations")), share("spikes"), share("copied"),
      original.empty() ? std::string() : fmt::format(" ({})", original));
}

void add_table(Page& page, const RunFiles& run, bool images, bool alternatives) {
  const char* records = images ? "images" : "rows";
  page.add(
      "<div class=\"scroll\"><table class=\"recipient\"><thead><tr><th>release</th><th "
      "class=\"r\">{3} on original {0} (95&nbsp;% interval)</th><th class=\"r\">on released {0}</th><th "
      "class=\"r\">loss</th><th class=\"r\">leakage{1} (95&nbsp;% interval)</th><th class=\"r\">upper "
      "end</th>{2}</tr></thead><tbody>",
      records, common_kind(run.curve).empty() ? std::string() : ", " + escape(common_kind(run.curve)),
      images ? ""
             : "<th class=\"r\">cells changed</th><th class=\"r\">associations</th><th "
               "class=\"r\">spikes</th><th class=\"r\">rows of others</th>",
      escape(common_metric(run.curve)));
  for (const CurveRow& row : run.curve.rows) {
    if (!has_task_score(row) || is_alternative(row) != alternatives) continue;
    page.add(
        "<tr><td>{}</td><td class=\"r\">{} ({} to {})</td><td class=\"r\">{}</td><td "
        "class=\"r\">{}</td>{}{}</tr>",
        escape(release_name(row)), cell(row.number(curve_column::kTaskScore)),
        cell(row.number(curve_column::kTaskLow)), cell(row.number(curve_column::kTaskHigh)),
        cell(row.number(curve_column::kTaskReleased)), cell(row.number(curve_column::kTaskLoss)),
        leakage_cells(row), images ? std::string() : row_cells(row));
  }
  page.raw("</tbody></table></div>");
}

void add_explanation(Page& page, bool images) {
  page.add(
      "<p class=\"note\">{0} learn the task from released {1}. Tested on original {1}: does what was learned "
      "hold for original data? Tested on released {1}: what would a recipient report?",
      images ? "New networks" : "Boosted trees", images ? "images" : "rows");
  if (!images) {
    page.raw(
        " Of several tasks the first is shown; the loss is the largest of all. Associations: the mean "
        "absolute difference of Cramer's V over all pairs of columns. Spikes: the largest change in the "
        "share of a frequent value of a number. Rows of others: released rows that equal a training row in "
        "every column; in brackets the same for the original held-out rows.");
  }
  page.raw("</p>");
}

}  // namespace

// Of images there are no columns and cells.
void add_recipient(Page& page, const RunFiles& run) {
  const auto figure = task_figure(run.curve, run.summary);
  if (!figure) return;
  const auto any = [&](const auto& test) { return std::ranges::any_of(run.curve.rows, test); };
  const bool images = any([](const CurveRow& row) { return row.series == "ppan/images"; });
  page.raw("<section aria-labelledby=\"recipient\"><h2 id=\"recipient\">What a recipient loses</h2>");
  page.raw(
      "<p class=\"note\">Further up: more useful. Further left: less leaks. Bars are 95&nbsp;% intervals of "
      "the score.</p>");
  page.add("<div class=\"figure small plot\">{}</div>", to_svg(*figure, SvgUse::kInline));
  add_explanation(page, images);
  add_table(page, run, images, true);
  if (any([](const CurveRow& row) { return has_task_score(row) && !is_alternative(row); })) {
    page.raw("<details data-print><summary>The other references</summary>");
    add_table(page, run, images, false);
    page.raw("</details>");
  }
  page.raw("</section>");
}

}  // namespace ppan::html
