#include "ppan/report/html.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <set>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/report/claims.h"
#include "ppan/report/figure.h"
#include "ppan/report/html_parts.h"
#include "ppan/report/page_assets.h"
#include "ppan/report/recommend.h"
#include "ppan/report/text.h"
#include "ppan/report/trade_off.h"

namespace ppan {
namespace {

using text::escape;
using text::show_number;

using html::Page;

constexpr std::uintmax_t kLargestImage = 8U << 20U;
constexpr int kPhoneWidth =
    400;  // of the curve on narrow screens, where the wide one's labels would be too small
constexpr int kPhoneHeight = 340;

// "sha256-..." of an inline script or style, as a content-security policy names it.
std::string policy_hash(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    throw Error(ErrorCode::kInternal, "SHA-256 is not available from OpenSSL");
  }
  std::array<unsigned char, 4 * (EVP_MAX_MD_SIZE / 3 + 1) + 1> encoded{};
  const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
  return fmt::format("'sha256-{}'", std::string(encoded.begin(), encoded.begin() + length));
}

std::string title_of(const RunSummary& summary) {
  return summary.name.empty() ? "Trade-off report" : summary.name;
}

bool audited(const CurveTable& curve) {
  return std::any_of(curve.rows.begin(), curve.rows.end(),
                     [](const CurveRow& row) { return row.leakage.has_value(); });
}

void add_list(Page& page, std::string_view heading, const std::vector<std::string>& items) {
  if (items.empty()) return;
  page.add("<div><h3>{}</h3><ul>", heading);
  for (const std::string& item : items) page.add("<li>{}</li>", escape(item));
  page.raw("</ul></div>");
}

// The page of `ppan audit`: one release that somebody made, and no curve.
bool is_audit(const RunFiles& run) {
  return !run.curve.rows.empty() && std::ranges::all_of(run.curve.rows, [](const CurveRow& row) {
    return row.series.starts_with("audit/");
  });
}

void add_header(Page& page, const RunFiles& run) {
  const RunSummary& s = run.summary;
  page.add("<header><h1>{}</h1>", escape(title_of(s)));
  if (!s.description.empty()) page.add("<p class=\"lead\">{}</p>", escape(s.description));
  page.raw("<p>");
  if (!audited(run.curve)) page.raw("<span class=\"badge alert\">UNAUDITED</span>");
  if (s.status == RunStatus::kInterrupted) page.raw("<span class=\"badge alert\">interrupted</span>");
  const auto points =
      std::ranges::count_if(run.curve.rows, [](const CurveRow& row) { return learned_series(row.series); });
  if (is_audit(run))
    page.raw("<span class=\"badge\">audit of a release</span>");
  else
    page.add("<span class=\"badge\">{} {}</span>", points, points == 1 ? "point" : "points");
  if (!s.version.empty())
    page.add("<span class=\"badge\">{} {}</span>", escape(s.program), escape(s.version));
  page.raw("</p></header>");
}

void add_pick(Page& page, const RunFiles& run, const Recommendation& pick) {
  const CurveRow& row = run.curve.rows[pick.row];
  const std::string unit =
      run.summary.distortion_unit.empty() ? "" : " " + escape(run.summary.distortion_unit);
  page.add("<li><strong>{}</strong><span class=\"note\">{}</span>", escape(pick.title), escape(pick.why));
  const std::optional<double> upper_end = row.number(curve_column::kUpperEnd);
  page.add("<span>Distortion {}{}. {}.{}</span>", html::number(row.distortion), unit,
           html::sentence(*row.leakage_estimate()),
           upper_end ? fmt::format(" The upper end of its audit is {} nats.", html::number(*upper_end))
                     : std::string());
  if (has_task_score(row)) {
    page.add("<span>Task: {} {} on originals; the loss is {}.</span>",
             escape(row.text(curve_column::kTaskMetric)),
             html::number(*row.number(curve_column::kTaskScore), 3),
             html::number(row.number(curve_column::kTaskLoss)));
  }
  page.add("<button type=\"button\" data-choose=\"{}\">Choose this point</button></li>", pick.row);
}

// A list for each series, in the order of the recommendations.
void add_picks(Page& page, const RunFiles& run, const std::vector<Recommendation>& picks) {
  if (picks.empty()) return;
  page.raw("<h3>Points to consider first</h3>");
  std::set<std::string> several;
  for (const Recommendation& pick : picks) several.insert(run.curve.rows[pick.row].series);
  for (std::size_t first = 0; first < picks.size();) {
    const std::string& series = run.curve.rows[picks[first].row].series;
    if (several.size() > 1) page.add("<h4>{}</h4>", escape(series_title(series)));
    page.raw("<ul class=\"picks\">");
    for (; first < picks.size() && run.curve.rows[picks[first].row].series == series; ++first)
      add_pick(page, run, picks[first]);
    page.raw("</ul>");
  }
}

void add_summary(Page& page, const RunFiles& run, const std::vector<Recommendation>& picks) {
  const RunSummary& s = run.summary;
  page.raw("<section aria-labelledby=\"in-short\"><h2 id=\"in-short\">In short</h2><dl class=\"who\">");
  const auto who = [&](std::string_view term, const std::string& text) {
    if (!text.empty()) page.add("<div><dt>{}</dt><dd>{}</dd></div>", term, escape(text));
  };
  who("What is hidden", s.hidden);
  who("What the mechanism sees", s.observed);
  who("What stays useful", s.useful);
  who("How loss of usefulness is measured", s.distortion_name);
  page.raw("</dl>");
  for (const std::string& warning : s.warnings) page.add("<p class=\"warn\">{}</p>", escape(warning));
  for (const MissingPoint& point : s.missing) {
    page.add("<p class=\"warn\">Missing: {}, point {}{}. {}</p>", escape(series_title(point.series)),
             point.number, point.budget ? ", budget " + html::number(*point.budget) : std::string(),
             escape(point.reason));
  }
  add_picks(page, run, picks);
  std::vector<std::string> not_claimed = s.not_claimed;
  const std::vector<std::string> never = claims::not_of_any_run();
  not_claimed.insert(not_claimed.end(), never.begin(), never.end());
  page.raw("<div class=\"claims\">");
  add_list(page, "What the numbers support", s.claimed);
  add_list(page, "What is not claimed", not_claimed);
  page.raw("</div></section>");
}

void add_point_list(Page& page, const RunFiles& run, std::size_t start) {
  const std::vector<int> numbers = point_numbers(run.curve);
  page.add(
      "<div class=\"bar screen\"><label for=\"point-list\">Chosen point</label><select id=\"point-list\" "
      "data-start=\"{}\">",
      start);
  for (const std::string& series : series_of(run.curve)) {
    page.add("<optgroup label=\"{}\">", escape(series_title(series)));
    for (std::size_t i = 0; i < run.curve.rows.size(); ++i) {
      const CurveRow& row = run.curve.rows[i];
      if (row.series != series) continue;
      page.add("<option value=\"{}\">{}: ", i, numbers[i]);
      page.add("distortion {}, leakage {}</option>",
               row.distortion ? show_number(*row.distortion) : "unknown",
               row.leakage ? show_number(*row.leakage) : "unknown");
    }
    page.raw("</optgroup>");
  }
  page.raw(
      "</select><button type=\"button\" id=\"previous\">Previous</button><button type=\"button\" "
      "id=\"next\">Next</button></div>");
}

void add_curve_table(Page& page, const CurveTable& curve) {
  std::set<std::string> further;
  for (const CurveRow& row : curve.rows) {
    for (const auto& [name, text] : row.more) {
      if (!text.empty()) further.insert(name);
    }
  }
  std::vector<std::string> columns;
  for (const std::string& name : curve.more_columns) {
    if (further.erase(name) > 0) columns.push_back(name);
  }
  columns.insert(columns.end(), further.begin(), further.end());

  page.raw(
      "<details data-print><summary>All points as a table</summary><div class=\"scroll\"><table "
      "id=\"curve-table\"><thead><tr><th></th>");
  // Paper is narrow: what is empty for every point, and what is not needed to read the leakage, stays off it.
  constexpr std::array kNumbers{&CurveRow::budget,  &CurveRow::weight,  &CurveRow::distortion,
                                &CurveRow::leakage, &CurveRow::optimum, &CurveRow::excess};
  std::array<const char*, kNumbers.size()> look{};
  for (std::size_t c = 0; c < kNumbers.size(); ++c) {
    const bool any = std::any_of(curve.rows.begin(), curve.rows.end(),
                                 [&](const CurveRow& row) { return (row.*kNumbers[c]).has_value(); });
    look[c] = any ? "r" : "r more";
  }
  const auto printed = [](std::string_view name) {
    return name == curve_column::kLeakageLow || name == curve_column::kLeakageHigh ||
           name == curve_column::kLeakageKind;
  };
  page.raw("<th>series</th>");
  for (std::size_t c = 0; c < kNumbers.size(); ++c)
    page.add("<th class=\"{}\">{}</th>", look[c], kCurveColumns[c + 1]);
  for (const std::string& name : columns)
    page.add("<th{}>{}</th>", printed(name) ? "" : " class=\"more\"", escape(name));
  page.raw("</tr></thead><tbody>");
  for (std::size_t i = 0; i < curve.rows.size(); ++i) {
    const CurveRow& row = curve.rows[i];
    page.add(
        "<tr data-row=\"{0}\"><td><button type=\"button\" data-choose=\"{0}\" aria-label=\"choose row "
        "{1}\">&#9656;</button></td><td>{2}</td>",
        i, i + 1, escape(row.series));
    for (std::size_t c = 0; c < kNumbers.size(); ++c) {
      const std::optional<double>& value = row.*kNumbers[c];
      page.add("<td class=\"{}\">{}</td>", look[c], value ? html::number(*value) : std::string());
    }
    for (const std::string& name : columns) {
      const auto value = row.number(name);
      // Counts and seeds as they are written, measured values rounded.
      const bool whole = row.text(name).find_first_not_of("0123456789") == std::string_view::npos;
      page.add("<td class=\"{}{}\">{}</td>", printed(name) ? "" : "more ", value ? "r" : "",
               value && !whole ? html::number(*value) : escape(row.text(name)));
    }
    page.raw("</tr>");
  }
  page.raw("</tbody></table></div></details>");
}

void add_trade_off(Page& page, const RunFiles& run, std::size_t start) {
  page.add("<section aria-labelledby=\"trade-off\"><h2 id=\"trade-off\">{}</h2>",
           is_audit(run) ? "What was found" : "The trade-off");
  if (run.curve.rows.empty()) {
    page.raw("<p>The curve has no points.</p></section>");
    return;
  }
  const bool intervals = std::any_of(run.curve.rows.begin(), run.curve.rows.end(), [](const CurveRow& row) {
    const auto leakage = row.leakage_estimate();
    return leakage && leakage->interval95;
  });
  page.add(
      "<p class=\"note\">Further right: less useful. Further down: less leaks.{} <span "
      "class=\"screen\">Point at a mark for its "
      "numbers, choose it to see everything about it.</span></p>",
      intervals ? " Bars are 95&nbsp;% intervals." : "");
  Figure figure = trade_off_figure(run.curve, run.summary, run.optimum);
  page.add(
      "<div class=\"choose\"><div><div class=\"plot wide\">{}<div class=\"tip\" id=\"tip\" role=\"status\" "
      "hidden></div></div>",
      to_svg(figure, SvgUse::kInline));
  figure.width = kPhoneWidth;
  figure.height = kPhoneHeight;
  page.add("<div class=\"plot narrow\">{}</div>", to_svg(figure, SvgUse::kInline));
  add_point_list(page, run, start);
  page.raw("</div><div>");
  const std::vector<bool> above = dominated(run.curve);
  for (std::size_t i = 0; i < run.curve.rows.size(); ++i) page.raw(html::point_brief(run, i, above[i]));
  page.raw("</div></div>");
  add_curve_table(page, run.curve);
  page.raw("</section>");
}

void add_points(Page& page, const RunFiles& run) {
  if (run.curve.rows.empty()) return;
  page.raw("<section aria-labelledby=\"chosen\"><h2 id=\"chosen\">The chosen point</h2>");
  for (std::size_t i = 0; i < run.curve.rows.size(); ++i) page.raw(html::point_details(run, i));
  page.raw("</section>");
}

void add_images(Page& page, const RunFiles& run) {
  if (run.details.images.empty()) return;
  page.raw("<section aria-labelledby=\"images\"><h2 id=\"images\">Figures of this run</h2>");
  for (const ImageDetail& image : run.details.images) page.raw(html::image_figure(image, run));
  page.raw("</section>");
}

void add_settings(Page& page, const RunSummary& s) {
  if (s.settings.empty()) return;
  page.raw(
      "<h3>Options</h3><div "
      "class=\"scroll\"><table><thead><tr><th>option</th><th>given</th><th>used</th></tr></thead><tbody>");
  for (const RunSetting& setting : s.settings) {
    page.add("<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>", escape(setting.name),
             setting.given ? escape(*setting.given) : std::string("<span class=\"note\">default</span>"),
             escape(setting.used));
  }
  page.raw("</tbody></table></div>");
}

void add_making(Page& page, const RunFiles& run) {
  const RunSummary& s = run.summary;
  page.raw("<section aria-labelledby=\"making\"><h2 id=\"making\">How it was made</h2>");
  if (!s.command.empty()) page.add("<pre>{}</pre>", escape(s.command));
  page.raw("<dl class=\"numbers\">");
  page.add("<dt>program</dt><dd>{} {}</dd><dt>seed</dt><dd>{}</dd>", escape(s.program), escape(s.version),
           s.seed);
  if (s.seconds > 0) page.add("<dt>time</dt><dd>{}</dd>", html::duration(s.seconds));
  for (const auto& [name, value] : s.facts) page.add("<dt>{}</dt><dd>{}</dd>", escape(name), escape(value));
  page.raw("</dl>");
  add_settings(page, s);
  if (!s.points.empty()) {
    page.raw(
        "<details data-print><summary>Why each point stopped</summary><div "
        "class=\"scroll\"><table><thead><tr><th>series</th><th class=\"r\">point</th>"
        "<th class=\"r\">budget</th><th>stopped</th><th class=\"r\">epochs</th><th "
        "class=\"r\">iterations</th><th class=\"r\">time</th></tr></thead><tbody>");
    for (const PointSummary& point : s.points) {
      page.add(
          "<tr><td>{}</td><td class=\"r\">{}</td><td class=\"r\">{}</td><td>{}</td><td "
          "class=\"r\">{}</td><td class=\"r\">{}</td><td class=\"r\">{}</td></tr>",
          escape(point.series), point.number, point.budget ? html::number(*point.budget) : std::string(),
          escape(point.message.empty() ? point.stop : point.message), point.epochs, point.iterations,
          html::duration(point.seconds));
    }
    page.raw("</tbody></table></div></details>");
  }
  if (!s.job_file.empty())
    page.add("<details data-print><summary>Job file</summary><pre>{}</pre></details>", escape(s.job_file));
  if (!run.files.empty()) {
    page.raw(
        "<h3>Files</h3><p class=\"note\">Everything shown here is in the run directory as data, and every "
        "figure as a separate drawing:</p><p>");
    for (const std::string& name : run.files) page.add("<code>{}</code> ", escape(name));
    page.raw("</p>");
  }
  page.raw("</section>");
}

// A name that cannot lead out of the run directory.
bool plain_name(const std::string& name) {
  return !name.empty() && name.front() != '.' && name.find_first_of("/\\") == std::string::npos;
}

bool image_name(const std::string& name) {
  return name.ends_with(".png") || name.ends_with(".svg");
}

void read_images(const std::filesystem::path& directory, RunFiles& run) {
  std::vector<const ImageDetail*> wanted;
  for (const ImageDetail& image : run.details.images) wanted.push_back(&image);
  for (const PointDetails& point : run.details.points) {
    for (const ImageDetail& image : point.images) wanted.push_back(&image);
  }
  for (const ImageDetail* image : wanted) {
    if (!plain_name(image->file) || !image_name(image->file)) continue;
    // Where there is none, the page says so.
    if (auto bytes = read_regular_file(directory / image->file, kLargestImage))
      run.images.emplace(image->file, std::move(*bytes));
  }
}

}  // namespace

std::vector<std::string> files_of_run(const std::filesystem::path& directory) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (entry.symlink_status().type() == std::filesystem::file_type::regular && plain_name(name))
      names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

RunFiles read_run(const std::filesystem::path& directory) {
  const std::filesystem::path curve = directory / "curve.csv";
  const auto curve_text = read_regular_file(curve);
  if (!curve_text) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} is not the directory of a run: it has no curve.csv", directory.string()),
                "give the directory that ppan paper or ppan curve wrote with --out");
  }
  RunFiles run;
  run.curve = from_csv(*curve_text, curve.string());
  run.optimum = take_optimum(run.curve);
  const auto with = [&](const char* name, const auto& use) {
    const std::filesystem::path path = directory / name;
    if (const auto text = read_regular_file(path)) use(*text, path.string());
  };
  with("summary.json", [&](const std::string& text, const std::string& name) {
    run.summary = run_summary_from_json(text, name);
  });
  with("metrics.jsonl", [&](const std::string& text, const std::string& name) {
    run.metrics = metrics_from_jsonl(text, name);
  });
  for (const char* file : {"details.json", "audit.json", "columns.json", "examples.json"}) {
    with(file, [&](const std::string& text, const std::string& name) {
      merge(run.details, run_details_from_json(text, name));
    });
  }
  run.files = files_of_run(directory);
  std::erase(run.files, "report.html");
  std::erase_if(run.files, [](const std::string& name) { return name.starts_with('.'); });  // the custodian's

  std::set<std::string> named{"curve.svg", "task.svg"};
  for (const ImageDetail& image : run.details.images) named.insert(image.file);
  for (const PointDetails& point : run.details.points) {
    for (const ImageDetail& image : point.images) named.insert(image.file);
  }
  for (const std::string& name : run.files) {
    if (name.ends_with(".svg") && !named.contains(name)) {
      run.details.images.push_back(
          {.title = name.substr(0, name.size() - 4), .file = name, .description = {}});
    }
  }
  read_images(directory, run);
  return run;
}

std::filesystem::path write_report(const std::filesystem::path& directory) {
  RunFiles run = read_run(directory);
  // The directory may be a stranger's: a link in it does not lead the page elsewhere.
  const auto write_figure = [&](const std::string& name, const Figure& figure) {
    write_file(directory / name, to_svg(figure), Access::kShared, Links::kReplace);
    const auto place = std::lower_bound(run.files.begin(), run.files.end(), name);
    if (place == run.files.end() || *place != name) run.files.insert(place, name);
  };
  write_figure("curve.svg", trade_off_figure(run.curve, run.summary, run.optimum));
  if (const auto task = task_figure(run.curve, run.summary)) write_figure("task.svg", *task);
  std::filesystem::path page = directory / "report.html";
  write_file(page, to_html(run), Access::kShared, Links::kReplace);
  return page;
}

std::string to_html(const RunFiles& run) {
  const std::string style = std::string(kPageStyle) + figure_style();
  const std::vector<Recommendation> picks = recommend(run.curve);
  const std::size_t start = picks.empty() ? 0 : picks.front().row;
  Page page;
  page.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
  page.add(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;none&#39;; style-src {}; "
      "script-src {}; img-src data:; "
      "base-uri &#39;none&#39;; form-action &#39;none&#39;\">",
      escape(policy_hash(style)), escape(policy_hash(kPageScript)));
  page.add("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><title>{}</title>",
           escape(title_of(run.summary)));
  page.add("<style>{}</style></head><body>", style);
  add_header(page, run);
  page.raw("<main>");
  add_summary(page, run, picks);
  html::add_recipient(page, run);
  add_trade_off(page, run, start);
  add_points(page, run);
  add_images(page, run);
  add_making(page, run);
  page.raw("</main><footer>Information is in nats (1 bit = 0.693 nats). Made by ");
  page.add("{} {}", escape(run.summary.program), escape(run.summary.version));
  page.raw("; <code>ppan report</code> rebuilds this page from the files of the run.</footer>");
  page.add("<script>{}</script></body></html>\n", kPageScript);
  return page.take();
}

}  // namespace ppan
