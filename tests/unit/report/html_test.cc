#include "ppan/report/html.h"

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <regex>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/report/html_parts.h"
#include "ppan/report/recommend.h"
#include "ppan/report/trade_off.h"
#include "unit/report/sample_run.h"
#include "unit/report/xml_check.h"

namespace ppan {
namespace {

using test::count_of;
using test::sample_run;
using test::xml_fault;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string page_fault(const std::string& page) {
  return xml_fault(page, {"meta", "br", "img"}, {"style", "script"});
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t from = text.find(begin) + begin.size();
  return text.substr(from, text.find(end, from) - from);
}

class TemporaryDirectory {
 public:
  TemporaryDirectory()
      : path_(std::filesystem::temp_directory_path() / ("ppan-report-test-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path_); }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_run(const RunFiles& run, const std::filesystem::path& directory) {
  write_file(directory / "curve.csv", to_csv(run.curve));
  write_file(directory / "summary.json", to_json(run.summary));
  write_file(directory / "details.json", to_json(run.details));
  std::string metrics;
  for (const MetricsLine& line : run.metrics) metrics += to_json_line(line);
  write_file(directory / "metrics.jsonl", metrics);
}

// The page without every <name>...</name>. (std::regex recurses per character and overflows the stack on a
// page.)
std::string without_element(std::string page, const std::string& name) {
  const std::string end = "</" + name + ">";
  for (auto from = page.find("<" + name + ">"); from != std::string::npos;
       from = page.find("<" + name + ">")) {
    page.erase(from, page.find(end, from) + end.size() - from);
  }
  return page;
}

TEST(Report, IsWellFormedWithEveryPart) {
  EXPECT_EQ(page_fault(to_html(sample_run())), "");
}

TEST(Report, CountsTrainedPointsAndNothingElse) {
  RunFiles run = sample_run({.points = 5});
  ASSERT_GT(run.curve.rows.size(), 5U);  // references too
  run.curve.rows.push_back(run.curve.rows.front());
  run.curve.rows.back().series = "ppan/hull";
  EXPECT_THAT(to_html(run), HasSubstr(">5 points<"));
}

TEST(Report, IsWellFormedForOddCurves) {
  EXPECT_EQ(page_fault(to_html({})), "");
  EXPECT_EQ(page_fault(to_html(sample_run({.points = 1, .columns = 2}))), "");
  EXPECT_EQ(page_fault(to_html(sample_run({.points = 5, .columns = 0, .epochs = 0}))), "");
  RunFiles run = sample_run({.points = 3, .columns = 2});
  run.curve.rows[0].distortion.reset();
  run.curve.rows[1].leakage.reset();
  run.summary.points.clear();
  run.summary.missing = {{"ppan/table", 9, 0.5, "diverged at epoch 3"}};
  run.summary.status = RunStatus::kInterrupted;
  const std::string page = to_html(run);
  EXPECT_EQ(page_fault(page), "");
  EXPECT_THAT(page,
              AllOf(HasSubstr("UNAUDITED"), HasSubstr("diverged at epoch 3"), HasSubstr("interrupted")));
}

TEST(Report, TwentyPointsAndColumnsStayBelowOneAndAHalfMegabytes) {
  EXPECT_LT(to_html(sample_run()).size(), 1'500'000U);
}

TEST(Report, ManyPointsOrColumnsStayReadable) {
  EXPECT_LT(to_html(sample_run({.points = 200, .columns = 20, .epochs = 20})).size(), 9'000'000U);
  const std::string wide = to_html(sample_run({.points = 5, .columns = 200, .epochs = 20}));
  EXPECT_LT(wide.size(), 1'500'000U);
  EXPECT_THAT(wide, HasSubstr("The 24 of 200 columns that change most"));
  EXPECT_EQ(page_fault(wide), "");
}

TEST(Report, EscapesEveryTextOfTheUser) {
  const std::string& evil = test::kEvilName;
  RunFiles run = sample_run({.points = 2, .columns = 5});
  RunSummary& s = run.summary;
  for (std::string* text : {&s.program, &s.version, &s.command, &s.name, &s.description, &s.hidden,
                            &s.observed, &s.useful, &s.distortion_name, &s.distortion_unit, &s.job_file}) {
    *text = evil;
  }
  s.settings = {{evil, evil, evil}};
  s.facts = {{evil, evil}};
  s.warnings = s.claimed = s.not_claimed = {evil};
  s.missing = {{evil, 1, 0.5, evil}};
  PointSummary& point = s.points[0];
  point.message = point.stop = point.model = evil;
  point.warnings = {evil};
  point.estimates[0].name = point.estimates[0].estimate.method = evil;
  run.curve.rows.back().series = evil;
  run.curve.rows[0].set(curve_column::kLeakageMethod, evil);
  run.curve.rows[0].set(evil, evil);
  PointDetails& details = run.details.points[0];
  AuditDetail& audit = details.audits[0];
  audit.target = audit.note = audit.attackers[0].name = audit.classes[0].name = audit.groups[0].name = evil;
  audit.leakage->method = audit.attackers[0].leakage.method = evil;
  details.columns[1].categories->levels[0] = evil;
  details.columns[0].distortion_meaning = evil;
  details.correlation->names[0] = evil;
  details.images = {{evil, evil, evil}, {evil, "a.png", evil}};
  run.images["a.png"] = "\x89PNG" + evil;
  run.files = {evil};
  const std::string page = to_html(run);
  EXPECT_EQ(page_fault(page), "");
  EXPECT_EQ(count_of(page, "<script"), 1);
  EXPECT_THAT(page, Not(HasSubstr("alert('x')")));
}

TEST(Report, PolicyAllowsItsOwnStyleAndScriptAndNothingElse) {
  const std::string page = to_html(sample_run({.points = 3, .columns = 2}));
  const auto hash = [](const std::string& text) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    EVP_Digest(text.data(), text.size(), digest.data(), &size, EVP_sha256(), nullptr);
    std::array<unsigned char, 100> encoded{};
    const int length = EVP_EncodeBlock(encoded.data(), digest.data(), static_cast<int>(size));
    return std::string(encoded.begin(), encoded.begin() + length);
  };
  const std::string policy = between(page, "Content-Security-Policy\" content=\"", "\"");
  EXPECT_THAT(policy, HasSubstr("default-src &#39;none&#39;"));
  EXPECT_THAT(policy, HasSubstr("style-src &#39;sha256-" + hash(between(page, "<style>", "</style>"))));
  EXPECT_THAT(policy, HasSubstr("script-src &#39;sha256-" + hash(between(page, "<script>", "</script>"))));
  EXPECT_THAT(policy, Not(HasSubstr("unsafe")));
  // Inline styles and handlers would be refused by that policy.
  EXPECT_EQ(count_of(page, " style=\""), 0);
  EXPECT_FALSE(std::regex_search(page, std::regex("<[^>]* on[a-z]+=\"")));
  EXPECT_EQ(count_of(page, "http:"), 0);
  EXPECT_EQ(count_of(page, "https:"), 0);
}

// The shown number may be rounded, but its element holds the value of curve.csv to the last digit.
TEST(Report, ShowsTheNumbersOfTheCurve) {
  const RunFiles run = sample_run({.points = 4, .columns = 2});
  const std::string page = to_html(run);
  for (std::size_t i = 0; i < run.curve.rows.size(); ++i) {
    const std::string brief =
        between(page, "<div class=\"brief\" data-point=\"" + std::to_string(i) + "\"", "</dl>");
    EXPECT_THAT(brief, HasSubstr("<data value=\"" + shortest(*run.curve.rows[i].distortion) + "\">"));
    EXPECT_THAT(brief, HasSubstr("<data value=\"" + shortest(*run.curve.rows[i].leakage) + "\">"));
    EXPECT_THAT(brief, AllOf(HasSubstr("lower bound"), HasSubstr("95&nbsp;% interval"),
                             HasSubstr("best of 3 attackers")));
  }
  EXPECT_EQ(count_of(page, "<tr data-row="), static_cast<int>(run.curve.rows.size()));
}

TEST(Report, ShowsWhatARecipientLosesOfRowsAndOfImages) {
  for (const bool images : {false, true}) {
    RunFiles run = sample_run({.points = 2, .columns = 1});
    EXPECT_THAT(to_html(run), Not(HasSubstr("What a recipient loses")));
    CurveRow& row = run.curve.rows.front();
    row.series = images ? "ppan/images" : "ppan/table";
    row.set(curve_column::kTaskMetric, "smile: AUC");
    row.set(curve_column::kTaskScore, 0.875);
    row.set(curve_column::kTaskLow, 0.8125);
    row.set(curve_column::kTaskHigh, 0.9375);
    const std::string page = to_html(run);
    EXPECT_EQ(page_fault(page), "");
    EXPECT_THAT(page,
                AllOf(HasSubstr("What a recipient loses"), HasSubstr("smile: AUC"), HasSubstr("0.875")));
    EXPECT_THAT(page, HasSubstr(images ? "New networks learn the task from released images"
                                       : "Boosted trees learn the task from released rows"));
    // What leaks stands beside it with its direction and what the audit allows for.
    EXPECT_THAT(between(page, "<table class=\"recipient\">", "</thead>"),
                AllOf(HasSubstr("leakage, lower bound (95&nbsp;% interval)"), HasSubstr("allows for up to")));
    // Images have neither cells nor associations.
    EXPECT_EQ(page.find("associations</th>") == std::string::npos, images);
  }
}

TEST(Report, DrawsTheTaskAgainstTheLeakageAndFoldsNoiseAway) {
  RunFiles run = sample_run({.points = 4, .columns = 1});
  EXPECT_FALSE(task_figure(run.curve, run.summary));
  const std::array series{"ppan/table", "reference/noise", "reference/constant", "ppan/hull"};
  ASSERT_GE(run.curve.rows.size(), series.size());
  for (std::size_t i = 0; i < series.size(); ++i) {
    run.curve.rows[i].series = series[i];
    run.curve.rows[i].set(curve_column::kTaskMetric, "smile: AUC");
    run.curve.rows[i].set(curve_column::kTaskScore, 0.75);
  }
  run.curve.rows.resize(series.size());
  const auto figure = task_figure(run.curve, run.summary);
  ASSERT_TRUE(figure);
  // The completed curve is measured nowhere, and rows that depend on nobody would take the scale.
  ASSERT_EQ(figure->series.size(), 2U);
  EXPECT_EQ(figure->series[0].points.at(0).y, 0.75);
  EXPECT_EQ(figure->series[0].points.at(0).x, *run.curve.rows[0].leakage);
  EXPECT_NE(figure->series[0].role, figure->series[1].role);
  const std::string page = to_html(run);
  EXPECT_EQ(page_fault(page), "");
  const std::string folded = between(page, "<summary>The other references</summary>", "</details>");
  EXPECT_THAT(folded, AllOf(HasSubstr("independent noise"), HasSubstr("the same row for everybody")));
}

TEST(Report, SaysWhatIsNotClaimedAndNeverPromises) {
  for (const RunFiles& run : {sample_run({.points = 3, .columns = 2}), RunFiles{}}) {
    const std::string page = to_html(run);
    EXPECT_THAT(page, AllOf(HasSubstr("What is not claimed"), HasSubstr("Leakage is an average over records"),
                            HasSubstr("lower bound")));
    const std::string text = without_element(without_element(page, "style"), "script");
    EXPECT_FALSE(std::regex_search(text, std::regex("anonym|\\bsafe\\b", std::regex::icase)));
  }
}

TEST(Report, IsAPureFunctionOfTheFiles) {
  const TemporaryDirectory directory;
  const RunFiles run = sample_run({.points = 4, .columns = 3});
  write_run(run, directory.path());
  const std::string first = to_html(read_run(directory.path()));
  EXPECT_EQ(first, to_html(read_run(directory.path())));
  write_file(directory.path() / "report.html", first);
  EXPECT_EQ(first, to_html(read_run(directory.path())));
  for (const CurveRow& row : run.curve.rows) EXPECT_THAT(first, HasSubstr(shortest(*row.distortion)));
  EXPECT_THAT(first, HasSubstr("What an attacker gains about marital status"));
}

TEST(Report, ImagesStayInsideTheRun) {
  const TemporaryDirectory directory;
  const std::filesystem::path inside = directory.path() / "run";
  std::filesystem::create_directory(inside);
  RunFiles run = sample_run({.points = 2, .columns = 2});
  run.details.images = {{"ok", "grid.png", ""},
                        {"out", "../secret.png", ""},
                        {"other", "curve.csv", ""},
                        {"gone", "none.png", ""}};
  write_run(run, inside);
  write_file(inside / "grid.png", "\x89PNG inside");
  write_file(inside / "scatter.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  write_file(directory.path() / "secret.png", "\x89PNG outside");
  const RunFiles read = read_run(inside);
  EXPECT_THAT(read.images,
              testing::UnorderedElementsAre(testing::Key("grid.png"), testing::Key("scatter.svg")));
  const std::string page = to_html(read);
  EXPECT_EQ(count_of(page, "<img "), 2);
  EXPECT_THAT(page, HasSubstr("The image none.png is not in the run directory."));
  EXPECT_EQ(page_fault(page), "");
}

TEST(Report, RefusesADirectoryWithoutACurve) {
  const TemporaryDirectory directory;
  try {
    read_run(directory.path());
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("curve.csv"));
    EXPECT_NE(error.fix(), "");
  }
}

TEST(Details, ReadBackWhatWasWritten) {
  const RunDetails details = sample_run({.points = 2, .columns = 8}).details;
  EXPECT_EQ(to_json(run_details_from_json(to_json(details))), to_json(details));
}

TEST(Details, SizesThatDisagreeAreRefused) {
  for (
      const char* text :
      {R"({"points": [{"columns": [{"histogram": {"edges": [0, 1], "before": [1, 2], "after": [1, 2]}}]}]})",
       R"({"points": [{"columns": [{"categories": {"levels": ["a"], "before": [1], "after": []}}]}]})",
       R"({"points": [{"correlation": {"names": ["a", "b"], "before": [[1, 0]], "after": [[1, 0], [0, 1]]}}]})",
       R"({"points": [{"examples": {"columns": ["a"], "released": [["1", "2"]]}}]})",
       R"({"points": [{"examples": {"columns": ["a"], "released": [["1"]], "original": [["1"], ["2"]]}}]})",
       R"({"points": [{"audits": [{"attackers": [{"name": "x"}]}]}]})", "{"}) {
    EXPECT_THROW(run_details_from_json(text), Error) << text;
  }
}

TEST(Details, FilesAddUp) {
  RunDetails all;
  RunDetails audit;
  audit.points = {{.series = "s", .number = 2, .audits = {{.target = "t"}}}};
  RunDetails columns;
  columns.points = {{.series = "s", .number = 2, .columns = {{.name = "c"}}}, {.series = "s", .number = 1}};
  merge(all, audit);
  merge(all, columns);
  ASSERT_EQ(all.points.size(), 2U);
  EXPECT_EQ(all.points[0].audits.size(), 1U);
  EXPECT_EQ(all.points[0].columns.size(), 1U);
}

CurveTable curve_of(const std::vector<std::pair<double, double>>& points, const char* series = "ppan/table") {
  CurveTable table;
  for (const auto& [distortion, leakage] : points) {
    CurveRow& row = table.rows.emplace_back();
    row.series = series;
    row.distortion = distortion;
    row.leakage = leakage;
  }
  return table;
}

TEST(Recommend, FindsKneeHalfAndLeast) {
  const auto picks = recommend(curve_of({{0, 1}, {0.1, 0.6}, {0.2, 0.3}, {0.6, 0.1}, {1, 0}}));
  ASSERT_EQ(picks.size(), 2U);  // the knee is also where half is left
  EXPECT_EQ(picks[0].title, "Knee of the curve");
  EXPECT_EQ(picks[0].row, 2U);
  EXPECT_EQ(picks[1].title, "Least leakage");
  EXPECT_EQ(picks[1].row, 4U);
}

TEST(Recommend, JudgesByTheUpperEndOfTheInterval) {
  CurveTable table = curve_of({{0, 1}, {0.4, 0.45}, {0.5, 0.4}, {1, 0}});
  table.rows[1].set(curve_column::kLeakageLow, 0.3);
  table.rows[1].set(curve_column::kLeakageHigh, 0.6);
  const auto picks = recommend(table);
  EXPECT_THAT(picks, testing::Contains(testing::Field(&Recommendation::row, 2U)));
  for (const Recommendation& pick : picks) EXPECT_NE(pick.row, 1U);
}

// A point whose attackers were still learning is judged by the forecast of what they would find; without one
// it is not recommended.
TEST(Recommend, AnInconclusivePointNeedsAForecast) {
  CurveTable table = curve_of({{0, 1}, {0.1, 0.2}, {0.8, 0.15}});
  table.rows[1].set(curve_column::kInconclusive, "yes");
  const auto half = [&] {
    for (const Recommendation& found : recommend(table))
      if (found.title == "Half the leakage") return found.row;
    return table.rows.size();
  };
  const auto knee = [&] { return recommend(table).front(); };
  EXPECT_EQ(half(), 2U);
  table.rows[1].set(curve_column::kForecast, 0.22);
  table.rows[1].set(curve_column::kUpperEnd, 0.3);
  EXPECT_EQ(knee().title, "Knee of the curve");
  EXPECT_EQ(knee().row, 1U);
  table.rows[1].set(curve_column::kUpperEnd, 0.99);  // for all that is known it is no better than the first
  EXPECT_EQ(half(), 2U);
}

TEST(Recommend, HasNothingToSayAboutReferencesOrAnEmptyCurve) {
  EXPECT_TRUE(recommend({}).empty());
  EXPECT_TRUE(recommend(curve_of({{0, 1}, {1, 0}}, "reference/noise")).empty());
  EXPECT_EQ(recommend(curve_of({{0.3, 0.5}})).size(), 1U);
  EXPECT_EQ(recommend(curve_of({{0.3, 0.5}, {0.3, 0.5}, {0.3, 0.5}})).size(), 1U);
}

TEST(Recommend, SeesPointsAboveTheHullOfTheOthers) {
  EXPECT_THAT(dominated(curve_of({{0, 1}, {0.5, 0.8}, {1, 0}})), testing::ElementsAre(false, true, false));
  EXPECT_THAT(dominated(curve_of({{0, 1}, {0.5, 0.3}, {1, 0}})), testing::ElementsAre(false, false, false));
  CurveTable table = curve_of({{0, 1}, {0.5, 0.6}, {1, 0}});
  table.rows[1].set(curve_column::kLeakageLow, 0.45);  // the interval explains it
  table.rows[1].set(curve_column::kLeakageHigh, 0.75);
  EXPECT_THAT(dominated(table), testing::ElementsAre(false, false, false));
}

TEST(Sentence, DoesNotCallWhatWasNotSeenALeak) {
  Estimate found{.nats = 0.0002,
                 .interval95 = Interval{0, 0.01},
                 .bound = Bound::kLower,
                 .method = "trees",
                 .samples = 9};
  EXPECT_THAT(html::sentence(found), testing::StartsWith("No leak was seen"));
  EXPECT_THAT(html::sentence(found), testing::HasSubstr("lower bound, 95&nbsp;% interval"));
  found.interval95->low = 0.0001;
  EXPECT_THAT(html::sentence(found), testing::StartsWith("At least"));
  found = {.nats = 0, .bound = Bound::kExact};
  EXPECT_THAT(html::sentence(found), testing::StartsWith("Exactly"));
}

}  // namespace
}  // namespace ppan
