#include "ppan/job/job.h"

#include <gmock/gmock.h>

#include <cmath>
#include <filesystem>
#include <map>
#include <string>

#include "ppan/core/file.h"
#include "ppan/job/settings.h"

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
  EXPECT_EQ(job.table.source, "people.csv");
  EXPECT_THAT(job.table.schema.sensitive, ElementsAre("marital"));
  EXPECT_THAT(job.table.schema.useful, ElementsAre("age", "job"));
  EXPECT_THAT(job.table.schema.keep, ElementsAre("region"));
  EXPECT_EQ(job.table.schema.group, "person");
  ASSERT_EQ(job.table.schema.columns.size(), 4U);
  EXPECT_EQ(job.table.schema.columns[0].name, "job");  // as written, not as sorted
  const ColumnSpec& age = *job.table.schema.find("age");
  EXPECT_EQ(age.type, ColumnType::kInteger);
  EXPECT_EQ(age.encoding, NumericEncoding::kRank);
  EXPECT_EQ(age.weight, 2);
  EXPECT_THAT(age.missing, ElementsAre("-1"));
  EXPECT_EQ(job.table.curve.training.epochs, 30);
  EXPECT_EQ(job.table.curve.training.rate, 0.01);
  EXPECT_THAT(job.table.curve.budgets, ElementsAre(0, 0.1, 0.25));
  EXPECT_EQ(job.table.unknown, UnknownRow::kNearest);
  EXPECT_EQ(job.given.at("train.epochs"), 14);
  EXPECT_FALSE(job.given.contains("train.batch"));
}

TEST(Job, EverythingObserved) {
  const JobFile job = parse_job(
      "[data]\nsource = 'a.csv'\n[roles]\nsensitive = 'everything observed'\nuseful = ['x']\n[columns]\nx = "
      "'real'\n");
  EXPECT_TRUE(job.table.schema.everything_observed);
  EXPECT_THAT(job.table.schema.hidden_columns(), ElementsAre("x"));
}

TEST(Job, OrderOfTheLoss) {
  EXPECT_EQ(JobFile{}.table.curve.training.alpha, 1);
  const std::string text =
      "[data]\nsource = 'a.csv'\n[roles]\nsensitive = ['s']\nuseful = ['x']\n[columns]\n"
      "x = 'real'\ns = 'category'\n[privacy]\nalpha = ";
  const auto alpha_of = [&](const char* value) { return parse_job(text + value).table.curve.training.alpha; };
  EXPECT_EQ(alpha_of("2.5\n"), 2.5);
  EXPECT_TRUE(std::isinf(alpha_of("'inf'\n")));
  EXPECT_TRUE(std::isinf(alpha_of("inf\n")));
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
  EXPECT_THAT(job.table.schema.sensitive, ElementsAre("\u00e9"));
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
  EXPECT_EQ(again.table.schema, job.table.schema);
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
  job.table.source = "-";
  job.directory = "/data";
  EXPECT_EQ(job.source_path(), "-");
}

TEST(Job, SingleValuesCanBeSetByName) {
  JobFile job = parse_job(kGood);
  set_job_value(job, "train.epochs", "7");
  set_job_value(job, "release.unknown", "reject");
  set_job_value(job, "read.missing", "['x', 'y']");
  EXPECT_EQ(job.table.curve.training.epochs, 7);
  EXPECT_EQ(job.table.unknown, UnknownRow::kReject);
  EXPECT_THAT(job.table.csv.missing, ElementsAre("x", "y"));
  EXPECT_THAT(
      [&] { set_job_value(job, "train.epoch", "7"); },
      testing::ThrowsMessage<Error>(HasSubstr("unknown setting 'train.epoch' (did you mean 'train.epochs'")));
  EXPECT_THAT([&] { set_job_value(job, "train.epochs", "-7"); },
              testing::ThrowsMessage<Error>("train.epochs: -7 is not allowed; it must be 1 to 1000000"));
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
  EXPECT_EQ(job.image.images, "i-idx3-ubyte");
  EXPECT_EQ(job.image.labels, "l-idx1-ubyte");
  EXPECT_EQ(job.image.columns.file, "file");
  EXPECT_EQ(parse_job(write_job(job)).image.labels, job.image.labels);
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
              ::testing::AllOf(HasSubstr("data.task_labels: is for images"),
                               HasSubstr("data.task_column: is for images")));
}

const std::string kTable =
    "[data]\nsource = 'a.csv'\n[roles]\nsensitive = ['s']\nuseful = ['x']\n[columns]\nx = 'real'\ns = "
    "'category'\n";
const std::string kImages = "[data]\nimages = 'i'\nlabels = 'l'\n";

// A key says what no options in use have a member for.
TEST(Job, KeysOfOtherFamiliesAreRefused) {
  const auto refused = [](const std::string& family, const std::string& section, const std::string& line) {
    const std::string in_family = section == "mechanism" ? line + "\n" : "";
    const std::string own = section == "mechanism" ? "" : "[" + section + "]\n" + line + "\n";
    return error_of(kTable + "[mechanism]\nfamily = '" + family + "'\n" + in_family + own);
  };
  EXPECT_THAT(refused("auto", "mechanism", "codewords = 8"),
              HasSubstr("mechanism.codewords: is for mechanism.family = \"codebook\" only"));
  EXPECT_THAT(refused("noisy-code", "privacy", "task_weight = 2"),
              HasSubstr("privacy.task_weight: is for mechanism.family = \"codebook\" or \"heads\" only"));
  EXPECT_THAT(refused("codebook", "privacy", "row_weight = 2"),
              HasSubstr("privacy.row_weight: is for mechanism.family = \"heads\" only"));
  EXPECT_THAT(refused("heads", "mechanism", "code_size = 8"),
              HasSubstr("mechanism.code_size: is not for mechanism.family = \"heads\""));
  EXPECT_THAT(refused("codebook", "train", "restarts = 2"),
              HasSubstr("train.restarts: is not for mechanism.family = \"codebook\""));
  EXPECT_THAT(refused("heads", "privacy", "alpha = 2"),
              HasSubstr("privacy.alpha: is not for mechanism.family = \"heads\""));
  EXPECT_THAT(refused("codebook", "train", "batch = 8"),
              HasSubstr("train.batch: is not for mechanism.family = \"codebook\""));
  EXPECT_EQ(refused("heads", "train", "batch = 8"), "no error");
  EXPECT_EQ(refused("heads", "train", "restarts = 2"), "no error");
  // Auto may become heads or a network.
  EXPECT_EQ(refused("auto", "privacy", "row_weight = 2"), "no error");
  EXPECT_EQ(refused("auto", "privacy", "alpha = 2"), "no error");
  EXPECT_EQ(refused("codebook", "train", "epochs = 8"), "no error");
  EXPECT_THAT(refused("auto", "data2", "x = 1"), HasSubstr("unknown section"));
}

TEST(Job, KeysOfTheOtherKindOfDataAreRefused) {
  EXPECT_THAT(error_of(kImages + "[privacy]\nrow_weight = 1\n"),
              HasSubstr("privacy.row_weight: is for tables, but data.images makes this a job about images"));
  std::string text = kTable;
  text.insert(text.find("[roles]"), "images = ''\nlabel_column = 'y'\n");
  EXPECT_EQ(error_of(text),
            "job.toml has 1 problem\n  line 4, data.label_column: is for images; data.images is missing");
}

// Whatever the family is, a value goes into its options.
TEST(Job, ValuesGoIntoTheOptionsOfEveryFamily) {
  const JobFile job =
      parse_job(kTable + "[mechanism]\nfamily = 'heads'\nhidden = [7]\n[train]\nepochs = 9\nbatch = 33\n");
  const TableCurveOptions options = curve_options(job.table);
  EXPECT_EQ(options.training.family, MechanismFamily::kHeads);
  EXPECT_THAT(options.heads.hidden, ElementsAre(7));
  EXPECT_THAT(options.training.hidden, ElementsAre(7));
  EXPECT_EQ(options.heads.epochs, 9);
  EXPECT_EQ(options.codebook.epochs, 9);
  EXPECT_EQ(options.heads.batch, 33);
  EXPECT_EQ(options.codebook.batch, CodebookOptions{}.batch);
}

TEST(Job, OptionsFollowTheOtherPartsOfTheJob) {
  TableJob job;
  job.encoding.min_rows = 17;
  job.csv.missing = {"?"};
  job.curve.heads.task_weight = 3;
  EXPECT_EQ(curve_options(job).heads.least_rows, 17);
  EXPECT_EQ(curve_options(job).codebook.least_rows, 17);
  EXPECT_THAT(encoding_options(job).missing, ElementsAre("?"));
  EXPECT_EQ(curve_options(job).heads.task_weight, 3);
  job.usefulness = Usefulness::kColumns;
  EXPECT_EQ(curve_options(job).heads.task_weight, 0);
  EXPECT_EQ(curve_options(job).codebook.task_weight, 0);
  EXPECT_EQ(curve_options(job).codebook.column_weight, 1);
  job.usefulness = Usefulness::kTask;
  EXPECT_EQ(curve_options(job).codebook.column_weight, 0);
}

// What a report of images says was used, is what was used.
TEST(Job, ImagesShowTheirOwnSettings) {
  const JobFile job = parse_job(kImages + "[train]\nepochs = 3\n");
  std::map<std::string, std::string> shown;
  for (const ShownSetting& setting : shown_settings(job)) {
    shown[setting.key] = setting.value;
    EXPECT_EQ(setting.given,
              setting.key == "data.images" || setting.key == "data.labels" || setting.key == "train.epochs")
        << setting.key;
  }
  const CodeImageOptions code;
  EXPECT_EQ(shown.at("train.batch"), std::to_string(code.batch));
  EXPECT_EQ(shown.at("train.adversary_steps"), std::to_string(code.adversary_steps));
  EXPECT_EQ(shown.at("mechanism.hidden"), "[400, 400]");
  EXPECT_EQ(shown.at("privacy.points"), "8");
  EXPECT_EQ(shown.at("train.epochs"), "3");
  for (const char* key :
       {"data.source", "read.header", "roles.useful", "encode.other", "train.restarts", "privacy.alpha"})
    EXPECT_FALSE(shown.contains(key)) << key;
  const std::string text = write_job(job);
  EXPECT_THAT(text, testing::Not(HasSubstr("[roles]")));
  EXPECT_THAT(text, HasSubstr("\n# batch = 100\n"));
}

TEST(Job, ATaskOfImagesIsAnotherLabelThanTheHiddenOne) {
  const std::string images = "[data]\nimages = \"i\"\nlabels = \"l\"\n";
  const JobFile job =
      parse_job(images + "task_labels = \"t\"\n[privacy]\nusefulness = \"both\"\ntask_weight = 2\n");
  EXPECT_TRUE(job.image.has_task());
  EXPECT_EQ(job.image.task_weight, 2);
  EXPECT_FALSE(parse_job(images).image.has_task());
  EXPECT_NO_THROW(parse_job(images + "task_column = \"smile\"\n[privacy]\nusefulness = \"task\"\n"));
  EXPECT_NO_THROW(parse_job(images + "[privacy]\nusefulness = \"columns\"\n"));
  EXPECT_EQ(error_of(images + "[privacy]\nusefulness = \"task\"\ntask_weight = 2\n"),
            "job.toml has 2 problems\n"
            "  line 5, privacy.usefulness: needs a task: name its labels with data.task_labels or "
            "data.task_column\n"
            "  line 6, privacy.task_weight: needs a task: name its labels with data.task_labels or "
            "data.task_column");
  for (const std::string task : {"task_labels = \"l\"\n", "task_column = \"label\"\n",
                                 "task_labels = \"l\"\ntask_column = \"label\"\n"})
    EXPECT_THAT(error_of(images + task), HasSubstr("names the label that is hidden")) << task;
  EXPECT_NO_THROW(parse_job(images + "task_labels = \"other\"\ntask_column = \"label\"\n"));
  EXPECT_THAT(error_of(images + "task_labels = \"t\"\n[privacy]\nusefulness = \"task\"\ntask_weight = 2\n"),
              HasSubstr("privacy.task_weight: is for privacy.usefulness = \"both\" only"));
}

}  // namespace
}  // namespace ppan
