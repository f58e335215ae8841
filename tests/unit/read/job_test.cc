#include "ppan/read/job.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "ppan/core/file.h"
#include "ppan/read/settings.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kGood = R"([data]
source = "people.csv"
[roles]
sensitive = ["marital"]
useful = ["age", "job"]
keep = "region"
group = "person"
[columns]
job = "category"
marital = "category"
age = { type = "integer", encoding = "rank", weight = 2, missing = ["-1"] }
person = "identifier"
[train]
epochs = 30
learning_rate = 0.01
[privacy]
budgets = [0, 0.1, 0.25]
[release]
unknown = "nearest"
)";

std::string error_of(std::string_view text) {
  try {
    parse_job(text, "job.toml");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    return error.what();
  }
  return "no error";
}

TEST(Job, ValuesAreTakenOver) {
  const JobFile job = parse_job(kGood);
  EXPECT_EQ(job.source, "people.csv");
  EXPECT_THAT(job.schema.sensitive, ElementsAre("marital"));
  EXPECT_THAT(job.schema.useful, ElementsAre("age", "job"));
  EXPECT_THAT(job.schema.keep, ElementsAre("region"));
  EXPECT_EQ(job.schema.group, "person");
  ASSERT_EQ(job.schema.columns.size(), 4U);
  EXPECT_EQ(job.schema.columns[0].name, "job");  // as written, not as sorted
  const ColumnSpec& age = *job.schema.find("age");
  EXPECT_EQ(age.type, ColumnType::kInteger);
  EXPECT_EQ(age.encoding, NumericEncoding::kRank);
  EXPECT_EQ(age.weight, 2);
  EXPECT_THAT(age.missing, ElementsAre("-1"));
  EXPECT_EQ(job.train.epochs, 30);
  EXPECT_EQ(job.train.learning_rate, 0.01);
  EXPECT_THAT(job.privacy.budgets, ElementsAre(0, 0.1, 0.25));
  EXPECT_EQ(job.release.unknown, UnknownRow::kNearest);
  EXPECT_EQ(job.given.at("train.epochs"), 14);
  EXPECT_FALSE(job.given.contains("train.batch"));
}

TEST(Job, EverythingObserved) {
  const JobFile job = parse_job(
      "[data]\nsource = 'a.csv'\n[roles]\nsensitive = 'everything observed'\nuseful = ['x']\n[columns]\nx = "
      "'real'\n");
  EXPECT_TRUE(job.schema.everything_observed);
  EXPECT_THAT(job.schema.hidden_columns(), ElementsAre("x"));
}

TEST(Job, OrderOfTheLoss) {
  EXPECT_EQ(JobFile{}.privacy.alpha, 1);
  const std::string text = "[data]\nsource = 'a.csv'\n[roles]\nsensitive = ['s']\nuseful = ['x']\n[columns]\n"
                           "x = 'real'\ns = 'category'\n[privacy]\nalpha = ";
  EXPECT_EQ(parse_job(text + "2.5\n").privacy.alpha, 2.5);
  EXPECT_FALSE(parse_job(text + "'inf'\n").privacy.alpha);
  EXPECT_FALSE(parse_job(text + "inf\n").privacy.alpha);
  EXPECT_THAT(error_of(text + "0.5\n"), HasSubstr("privacy.alpha: 0.5 is not allowed"));
  std::string number = text + "2\n";
  number.replace(number.find("s = 'category'"), 14, "s = 'integer'");
  EXPECT_THAT(error_of(number), HasSubstr("other than 1 needs sensitive categories, but s is a number"));
}

TEST(Job, EveryProblemIsListedWithItsLine) {
  EXPECT_EQ(error_of(R"([data]
sorce = "people.csv"
[roles]
sensitive = ["maritl"]
useful = ["age", "age"]
[columns]
age = "intger"
marital = { type = "category", wieght = 2, encoding = "rank" }
[train]
epochs = 0
batch = "many"
seed = 1.5
[trian]
[privacy]
budgets = [0.2, 0.1]
[release]
unknown = "stop"
)"),
            "job.toml has 13 problems\n"
            "  data.source: is missing; name the table to learn from, or images with data.images\n"
            "  line 2, data.sorce: unknown key 'sorce' (did you mean 'source'?)\n"
            "  line 4, roles.sensitive: unknown column 'maritl' (did you mean 'marital'?); its type belongs "
            "under [columns]\n"
            "  line 5, roles.useful: 'age' is listed twice\n"
            "  line 7, columns.age: unknown value 'intger' (did you mean 'integer'?)\n"
            "  line 8, columns.marital.wieght: unknown key 'wieght' (did you mean 'weight'?)\n"
            "  line 8, columns.marital.encoding: a column of type category has no numeric encoding\n"
            "  line 10, train.epochs: 0 is not allowed; it must be 1 to 1000000\n"
            "  line 11, train.batch: \"many\" is not a whole number\n"
            "  line 12, train.seed: 1.5 is not a whole number\n"
            "  line 13, trian: unknown section 'trian' (did you mean 'train'?)\n"
            "  line 15, privacy.budgets: budgets must increase\n"
            "  line 17, release.unknown: unknown value 'stop' (known: fail, reject, nearest)");
}

TEST(Job, BrokenTomlNamesTheLine) {
  EXPECT_THAT(error_of("[data]\nsource = people.csv\n"), HasSubstr("job.toml line 2: "));
  EXPECT_THAT(error_of("[roles]\nkeep = []\nkeep = []\n"), HasSubstr("job.toml line 3: "));
}

TEST(Job, LettersBeyondAsciiNeedQuotes) {
  EXPECT_THAT(error_of("[columns]\n\"gr\u00f6\u00dfe\" = 'real' # \u00e9\nh\u00f6he = 'real'\n"),
              HasSubstr("job.toml line 3: "));
  EXPECT_THAT(error_of("in = 5[\"\"\"\u00f6"), HasSubstr("job.toml line 1: "));
  const JobFile job = parse_job(
      "[data]\nsource='t'\n[roles]\nsensitive=['\u00e9']\nuseful=['x']\n[columns]\n'\u00e9'='category'\nx='"
      "real'\n");
  EXPECT_THAT(job.schema.sensitive, ElementsAre("\u00e9"));
}

TEST(Job, SectionsMustBeSections) {
  EXPECT_THAT(error_of("train = 5\n"),
              HasSubstr("line 1, train: is a section: write [train] on a line of its own"));
  EXPECT_THAT(error_of("[columns]\na = 5\n"), HasSubstr("line 2, columns.a: must be a type in quotes"));
  EXPECT_THAT(error_of("[data]\nsource = 1979-05-27\n"), HasSubstr("line 2, data.source: must be text"));
}

TEST(Job, WrittenJobReadsBackEqual) {
  const JobFile job = parse_job(kGood);
  const JobFile again = parse_job(write_job(job));
  EXPECT_EQ(again.schema, job.schema);
  for (const Setting& s : settings()) EXPECT_EQ(s.show(again), s.show(job)) << s.key;
}

TEST(Job, SourceIsRelativeToTheJobFile) {
  const auto directory = std::filesystem::temp_directory_path() / "ppan_job_test";
  std::filesystem::create_directories(directory);
  write_file(directory / "job.toml", kGood);
  EXPECT_EQ(load_job(directory / "job.toml").source_path(), directory / "people.csv");
  std::filesystem::remove_all(directory);
  JobFile job = parse_job(kGood);
  EXPECT_EQ(job.source_path(), "people.csv");
  job.source = "-";
  job.directory = "/data";
  EXPECT_EQ(job.source_path(), "-");
}

TEST(Job, SingleValuesCanBeSetByName) {
  JobFile job = parse_job(kGood);
  set_job_value(job, "train.epochs", "7");
  set_job_value(job, "release.unknown", "reject");
  set_job_value(job, "read.missing", "['x', 'y']");
  EXPECT_EQ(job.train.epochs, 7);
  EXPECT_EQ(job.release.unknown, UnknownRow::kReject);
  EXPECT_THAT(job.csv.missing, ElementsAre("x", "y"));
  EXPECT_THAT(
      [&] { set_job_value(job, "train.epoch", "7"); },
      testing::ThrowsMessage<Error>(HasSubstr("unknown setting 'train.epoch' (did you mean 'train.epochs'")));
  EXPECT_THAT([&] { set_job_value(job, "train.epochs", "-7"); },
              testing::ThrowsMessage<Error>("train.epochs: -7 is not allowed; it must be 1 to 1000000"));
}

TEST(Settings, EachHasAnOwnKeyAndAHelpText) {
  std::set<std::string> keys;
  for (const Setting& s : settings()) {
    EXPECT_TRUE(keys.insert(s.key).second) << s.key;
    EXPECT_FALSE(s.help.empty()) << s.key;
    EXPECT_TRUE(!s.help.ends_with('.') || s.help.ends_with("...")) << s.key;
  }
}

// Writing a default and reading it back must change nothing, for every setting there is.
TEST(Settings, DefaultsAreAllowedValues) {
  for (const Setting& s : settings()) {
    JobFile job;
    EXPECT_NO_THROW(set_job_value(job, s.key, s.show(JobFile{}))) << s.key;
    EXPECT_EQ(s.show(job), s.show(JobFile{})) << s.key;
  }
}

TEST(Settings, DocumentationIsUpToDate) {
  const std::string page = read_file(std::filesystem::path(PPAN_TEST_DATA) / ".." / "docs" / "formats.md");
  EXPECT_THAT(page, HasSubstr(settings_documentation())) << "replace the tables of docs/formats.md by\n"
                                                         << settings_documentation();
}

TEST(Job, WithoutComments) {
  EXPECT_EQ(without_comments("# head\n[data]\nsource = \"a#b.csv\"  # 17 to 90\n\n[roles]\nkeep = ['#']\n"),
            "[data]\nsource = \"a#b.csv\"\n\n[roles]\nkeep = ['#']\n");
}

TEST(Job, AboutImages) {
  JobFile job = parse_job(
      "[data]\nimages = \"i-idx3-ubyte\"\nlabels = \"l-idx1-ubyte\"\n[privacy]\npoints = "
      "3\n[mechanism]\ncode_size = 8\n");
  EXPECT_TRUE(job.about_images());
  EXPECT_EQ(job.images.images, "i-idx3-ubyte");
  EXPECT_EQ(job.images.labels, "l-idx1-ubyte");
  EXPECT_EQ(job.images.file_column, "file");
  EXPECT_EQ(parse_job(write_job(job)).images.labels, job.images.labels);
}

TEST(Job, ImagesAndTablesDoNotMix) {
  EXPECT_EQ(error_of("[data]\nimages = \"d\"\nsource = \"t.csv\"\n[roles]\nsensitive = \"x\"\n[columns]\nx = "
                     "\"real\"\n[train]\nrestarts = 2\n[mechanism]\nfamily = \"finite\"\n"),
            "job.toml has 6 problems\n"
            "  data.labels: is missing; name the labels of the images\n"
            "  line 3, data.source: is for tables, but data.images makes this a job about images\n"
            "  line 5, roles.sensitive: is for tables, but data.images makes this a job about images\n"
            "  line 7, columns.x: is for tables, but data.images makes this a job about images\n"
            "  line 9, train.restarts: is for tables, but data.images makes this a job about images\n"
            "  line 11, mechanism.family: must be \"noisy-code\" or \"auto\" for images");
  EXPECT_THAT(error_of("[data]\nlabels = \"l\"\n"), HasSubstr("data.labels: is for images"));
  EXPECT_THAT(error_of("[data]\nsource = \"t.csv\"\ntask_labels = \"l\"\ntask_column = \"c\"\n"),
              ::testing::AllOf(HasSubstr("data.task_labels: is for images"), HasSubstr("data.task_column: is for images")));
}

// A name in a column of numbers is one person's, and stays out of the job.
TEST(Draft, AWordOfAFewRowsIsNotWritten) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_draft_words_test.csv";
  std::string text = "age,income,sex\n";
  for (int i = 0; i < 300; ++i) {
    text += (i == 7 ? "Alice Smith" : std::to_string(20 + i % 60)) + ',' +
            (i % 50 == 3 ? "withheld" : std::to_string(900 + i * 37 % 800)) + ',' + (i % 2 == 0 ? "f" : "m") + '\n';
  }
  write_file(path, text);
  const std::string draft = draft_job(path);
  EXPECT_THAT(draft, testing::Not(HasSubstr("Alice")));
  EXPECT_THAT(draft, testing::ContainsRegex("\nage = \"integer\" +# UNSURE: all numbers but for words in a few rows; correct"));
  EXPECT_THAT(draft, HasSubstr("missing = [\"withheld\"]"));
  std::filesystem::remove(path);
}

TEST(Draft, TypesAreGuessedAndDoubtsAreWritten) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_draft_test.csv";
  std::string text = "id;name;age;amount;flag;code;grade;same\n";
  for (int i = 0; i < 100; ++i) {
    text += std::to_string(1000 + i) + ";person" + std::to_string(i) + ';' +
            (i % 50 == 7 ? "unknown" : std::to_string(20 + i % 40)) + ';' + std::to_string(i * 37 % 91) +
            ",50;" + (i % 2 == 0 ? "yes" : "no") + ";0" + std::to_string(10 + i % 7) + ';' +
            std::to_string(i % 5) + ";x\n";
  }
  write_file(path, text);
  std::string draft = draft_job(path);
  EXPECT_THAT(draft, HasSubstr("# 100 rows, 8 columns."));
  EXPECT_THAT(draft, HasSubstr("delimiter = \";\"\n"));
  EXPECT_THAT(draft, HasSubstr("decimal = \",\"\n"));
  EXPECT_THAT(draft, HasSubstr("\nuseful = [\"age\", \"amount\", \"flag\", \"code\", \"grade\"]\n"));
  EXPECT_THAT(draft, testing::ContainsRegex(
                         "\nid = \"identifier\" +# whole numbers in increasing order, all different\n"));
  EXPECT_THAT(draft, testing::ContainsRegex("\nname = \"identifier\" +# 100 of 100 values differ\n"));
  EXPECT_THAT(draft, HasSubstr("age = { type = \"integer\", missing = [\"unknown\"] }"));
  EXPECT_THAT(draft, HasSubstr("# UNSURE: all numbers but for \"unknown\", taken for missing\n"));
  EXPECT_THAT(draft, testing::ContainsRegex("\namount = \"real\" +# numbers\n"));
  EXPECT_THAT(draft, testing::ContainsRegex("\nflag = \"category\" +# 2 levels\n"));
  EXPECT_THAT(draft, testing::ContainsRegex(
                         "\ncode = \"category\" +# UNSURE: 7 levels, but whole numbers with leading zeros"));
  EXPECT_THAT(draft,
              testing::ContainsRegex("\ngrade = \"integer\" +# UNSURE: whole numbers, only 5 different"));
  EXPECT_THAT(draft, testing::ContainsRegex("\n# same = \"category\" +# one value everywhere\n"));

  // Edited as its comment asks, the draft is a job.
  draft.replace(draft.find("sensitive = []"), 14, "sensitive = [\"flag\"]");
  draft.replace(draft.find(", \"flag\", "), 10, ", ");
  EXPECT_EQ(parse_job(draft).schema.find("amount")->type, ColumnType::kReal);
  std::filesystem::remove(path);
  EXPECT_THROW(draft_job("-"), Error);
}

TEST(Job, ATaskOfImagesIsAnotherLabelThanTheHiddenOne) {
  const std::string images = "[data]\nimages = \"i\"\nlabels = \"l\"\n";
  const JobFile job = parse_job(images + "task_labels = \"t\"\n[privacy]\nusefulness = \"both\"\ntask_weight = 2\n");
  EXPECT_TRUE(job.images.has_task());
  EXPECT_EQ(job.privacy.task_weight, 2);
  EXPECT_FALSE(parse_job(images).images.has_task());
  EXPECT_NO_THROW(parse_job(images + "task_column = \"smile\"\n[privacy]\nusefulness = \"task\"\n"));
  EXPECT_NO_THROW(parse_job(images + "[privacy]\nusefulness = \"columns\"\n"));
  EXPECT_EQ(error_of(images + "[privacy]\nusefulness = \"task\"\ntask_weight = 2\n"),
            "job.toml has 2 problems\n"
            "  line 5, privacy.usefulness: needs a task: name its labels with data.task_labels or data.task_column\n"
            "  line 6, privacy.task_weight: needs a task: name its labels with data.task_labels or data.task_column");
  for (const std::string task : {"task_labels = \"l\"\n", "task_column = \"label\"\n",
                                 "task_labels = \"l\"\ntask_column = \"label\"\n"})
    EXPECT_THAT(error_of(images + task), HasSubstr("names the label that is hidden")) << task;
  EXPECT_NO_THROW(parse_job(images + "task_labels = \"other\"\ntask_column = \"label\"\n"));
  EXPECT_THAT(error_of(images + "task_labels = \"t\"\n[privacy]\nusefulness = \"task\"\ntask_weight = 2\n"),
              HasSubstr("privacy.task_weight: is for privacy.usefulness = \"both\" only"));
}

}  // namespace
}  // namespace ppan
