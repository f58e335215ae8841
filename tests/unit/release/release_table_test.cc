#include "ppan/release/release_table.h"

#include <gmock/gmock.h>

#include <atomic>
#include <functional>
#include <sstream>

#include "ppan/core/error.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"
#include "unit/release/release_support.h"

namespace ppan {
namespace {

using release_test::People;
using release_test::people_csv;
using testing::ElementsAre;
using testing::HasSubstr;

class StringSink final : public ByteSink {
 public:
  void write(std::string_view bytes) override {
    if (text.size() > limit) throw Error(ErrorCode::kIo, "the disk is full");
    text += bytes;
  }
  void finish() override {}
  std::string text;
  std::size_t limit = std::string::npos;
};

struct Released {
  std::string text;
  std::string rejects;
  ReleaseSummary summary;
};

Released release(const ReleaseModel& model, const std::string& csv, const ReleaseOptions& options = {},
                 std::int64_t chunk_rows = 37) {
  CsvOptions read = csv_options(model.format);
  read.chunk_rows = chunk_rows;
  CsvSource in(memory_source(csv, "new.csv"), read);
  StringSink bytes;
  CsvSink out(bytes, in.style());
  StringSink rejects;
  Released result;
  result.summary = release_table(model, in, out, &rejects, options);
  result.text = bytes.text;
  result.rejects = rejects.text;
  return result;
}

Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kInternal, "no error"};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What the unchanged release of people_csv() must be: the columns id, age, job, pay of each row.
std::string expected_unchanged(int rows) {
  std::string out;
  for (const std::string& line : lines_of(people_csv(rows)))
    out += line.substr(0, line.rfind(',', line.rfind(',') - 1)) + "\n";
  return out;
}

TEST(ReleaseTable, WithoutAMechanismTheTableComesBackWhateverTheThreads) {
  const ReleaseModel model = People().unchanged();
  for (const int threads : {1, 2, 5}) {
    const Released result = release(model, people_csv(1000), {.threads = threads});
    EXPECT_TRUE(result.text == expected_unchanged(1000)) << threads << " threads";
    EXPECT_EQ(result.summary.rows, 1000);
    EXPECT_EQ(result.summary.released, 1000);
    EXPECT_THAT(result.summary.dropped, ElementsAre("ill", "note"));
  }
}

TEST(ReleaseTable, ColumnsAreFoundByName) {
  const ReleaseModel model = People().unchanged();
  const Released result = release(model, "extra,pay,id,job,age\n1,1200.50,p1,cook,33\n");
  EXPECT_EQ(result.text, "id,age,job,pay\np1,33,cook,1200.50\n");
  EXPECT_THAT(result.summary.dropped, ElementsAre("extra"));
  const Error error = error_of([&] { release(model, "pay,jobb,age\n1200.50,cook,33\n"); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("new.csv lacks columns that the model needs"));
  EXPECT_THAT(error.what(), HasSubstr("job: unknown column 'job' (did you mean 'jobb'?)"));
  EXPECT_THAT(error.what(), HasSubstr("id: "));
}

TEST(ReleaseTable, RowsAndTheirOrderAreKeptThroughANetwork) {
  const Released result = release(People().random(), people_csv(500), {.threads = 4});
  const auto lines = lines_of(result.text);
  ASSERT_EQ(lines.size(), 501);
  for (std::size_t i = 1; i < lines.size(); ++i)
    EXPECT_EQ(lines[i].substr(0, lines[i].find(',')), "p" + std::to_string(i - 1));
}

TEST(ReleaseTable, ReleasedNumbersLieOnTheGridOfTheirColumn) {
  // Low bits of a number could carry what its digits do not: only values that could be in the table come out.
  const ReleaseModel model = People().random();
  ReleaseOptions options;
  options.insecure_seed = 3;
  const Released result = release(model, people_csv(400), options);
  CsvReader reader(memory_source(result.text), csv_options(model.format));
  CsvChunk chunk;
  int numbers = 0;
  while (reader.next(chunk)) {
    for (std::int64_t row = 0; row < chunk.rows(); ++row) {
      EXPECT_THAT(std::string(chunk.cell(row, 1)), testing::MatchesRegex("[0-9]+"));
      if (chunk.cell(row, 3).empty()) continue;
      EXPECT_THAT(std::string(chunk.cell(row, 3)), testing::MatchesRegex("[0-9]+\\.[0-9][0-9]"));
      ++numbers;
    }
  }
  EXPECT_GT(numbers, 0);
}

TEST(ReleaseTable, SeededNoiseRepeatsAndSecureNoiseDoesNot) {
  const ReleaseModel model = People().random();
  ReleaseOptions seeded;
  seeded.insecure_seed = 11;
  seeded.threads = 1;
  const std::string once = release(model, people_csv(300), seeded).text;
  seeded.threads = 3;
  EXPECT_TRUE(release(model, people_csv(300), seeded).text == once);
  seeded.insecure_seed = 12;
  EXPECT_TRUE(release(model, people_csv(300), seeded).text != once);
  EXPECT_TRUE(release(model, people_csv(300)).text != release(model, people_csv(300)).text);
}

TEST(ReleaseTable, AMixtureServesItsShares) {
  const People people;
  const ReleaseModel model = mix_models(people.unchanged(), people.constant(), 0.3);
  const Released result = release(model, people_csv(20000));
  const auto before = lines_of(expected_unchanged(20000));
  const auto after = lines_of(result.text);
  ASSERT_EQ(after.size(), before.size());
  const std::string constant_row = [&] {
    const auto lines = lines_of(release(people.constant(), people_csv(1)).text);
    return lines.at(1).substr(lines.at(1).find(','));
  }();
  int constant = 0;
  int rows = 0;
  for (std::size_t i = 1; i < before.size(); ++i) {
    const std::string old_row = before[i].substr(before[i].find(','));
    const std::string new_row = after[i].substr(after[i].find(','));
    if (old_row == constant_row) continue;
    ++rows;
    ASSERT_TRUE(new_row == old_row || new_row == constant_row) << new_row;
    constant += new_row == constant_row ? 1 : 0;
  }
  // Binomial(20000, 0.3): beyond 6 standard deviations (0.0195) once in 5e8 runs.
  EXPECT_NEAR(static_cast<double>(constant) / rows, 0.3, 0.0195);
}

TEST(ReleaseTable, FailNamesTheFirstBadRowWhateverTheThreads) {
  const ReleaseModel model = People().unchanged();
  std::string csv = people_csv(500);
  csv += "q1,hello,cook,1200.50,no,x\n" + std::string("q2,30,pilot,1200.50,no,x\n");
  for (const int threads : {1, 4}) {
    const Error error = error_of([&] { release(model, csv, {.threads = threads}); });
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_STREQ(error.what(), "new.csv line 502, column \"age\": the cell is not a whole number");
    EXPECT_EQ(error.what_with_values(), "new.csv line 502, column \"age\": \"hello\" is not a whole number");
    EXPECT_THAT(error.fix(), HasSubstr("reject"));
  }
}

TEST(ReleaseTable, RejectListsTheRowsWithTheirReasons) {
  const ReleaseModel model = People().unchanged();
  const std::string csv =
      "id,age,job,pay,ill\np1,30,cook,1200.50,no\np2,hello,pilot,1200.50,no\n\"p,3\",,cook,1200.50,no\n";
  ReleaseOptions options;
  options.unknown = UnknownRow::kReject;
  const Released result = release(model, csv, options);
  EXPECT_EQ(lines_of(result.text).size(), 2);
  EXPECT_EQ(result.rejects,
            "id,age,job,pay,ill,reject_line,reject_reason\n"
            "p2,hello,pilot,1200.50,no,3,\"age: \"\"hello\"\" is not a whole number; job: \"\"pilot\"\" is "
            "an unknown "
            "level\"\n"
            "\"p,3\",,cook,1200.50,no,4,\"age: the value is missing, but in training none was\"\n");
  EXPECT_EQ(result.summary.rows, 3);
  EXPECT_EQ(result.summary.released, 1);
  EXPECT_EQ(result.summary.rejected, 2);
}

TEST(ReleaseTable, RejectNeedsAPlaceForTheRows) {
  const ReleaseModel model = People().unchanged();
  CsvSource in(memory_source(people_csv(3)), csv_options(model.format));
  StringSink bytes;
  CsvSink out(bytes, in.style());
  ReleaseOptions options;
  options.unknown = UnknownRow::kReject;
  EXPECT_EQ(error_of([&] { release_table(model, in, out, nullptr, options); }).code(), ErrorCode::kUsage);
}

TEST(ReleaseTable, NearestReleasesEveryRow) {
  ReleaseModel model = People().unchanged();
  model.unknown = UnknownRow::kNearest;
  const Released result = release(model, "id,age,job,pay\np1,hello,pilot,1200.50\n");
  EXPECT_EQ(result.summary.released, 1);
  EXPECT_EQ(result.summary.replaced, 2);
  EXPECT_EQ(result.rejects, "id,age,job,pay,reject_line,reject_reason\n");
}

TEST(ReleaseTable, WhatCannotBeWrittenEndsTheRelease) {
  const ReleaseModel model = People().unchanged();
  CsvOptions read = csv_options(model.format);
  read.chunk_rows = 10;
  CsvSource in(memory_source(people_csv(5000)), read);
  StringSink bytes;
  bytes.limit = 1000;
  CsvSink out(bytes, in.style());
  EXPECT_EQ(error_of([&] { release_table(model, in, out, nullptr, {.threads = 3}); }).code(), ErrorCode::kIo);
  EXPECT_LT(bytes.text.size(), 2000);
}

TEST(ReleaseTable, ARaggedRowEndsTheReleaseAfterTheRowsBeforeIt) {
  const Error error =
      error_of([] { release(People().unchanged(), people_csv(200) + "p,1\n", {.threads = 3}); });
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_THAT(error.what(), HasSubstr("line 202"));
}

TEST(ReleaseTable, InterruptionIsToldApart) {
  std::atomic<int> asked = 0;
  ReleaseOptions options;
  options.threads = 2;
  options.interrupted = [&] { return ++asked > 3; };
  const Released result = release(People().unchanged(), people_csv(1000), options);
  EXPECT_TRUE(result.summary.interrupted);
  EXPECT_EQ(result.summary.rows, 3 * 37);
}

TEST(ReleaseTable, ATableWithoutRowsGivesAHeader) {
  EXPECT_EQ(release(People().unchanged(), "id,age,job,pay\n").text, "id,age,job,pay\n");
}

TEST(ReleaseTable, DecimalMarksAndHeadersFollowTheModel) {
  ReleaseModel model = People().unchanged();
  model.format.delimiter = ';';
  model.format.decimal = ',';
  EXPECT_EQ(release(model, "id;age;job;pay\np1;33;cook;1200,50\n").text,
            "id;age;job;pay\np1;33;cook;1200,50\n");
}

TEST(ReleaseRows, RowsInMemory) {
  const ReleaseModel model = People().unchanged();
  const TextTable rows{{"job", "pay", "age", "id"},
                       {{"driver, bus", "1200.50", "44", "a\"b"}, {"pilot", "", "20", "c"}}};
  ReleaseOptions options;
  options.unknown = UnknownRow::kReject;
  const ReleasedRows result = release_rows(model, rows, options);
  EXPECT_THAT(result.table.names, ElementsAre("id", "age", "job", "pay"));
  ASSERT_EQ(result.table.rows.size(), 1);
  EXPECT_THAT(result.table.rows[0], ElementsAre("a\"b", "44", "driver, bus", "1200.50"));
  ASSERT_EQ(result.rejected.rows.size(), 1);
  EXPECT_EQ(result.rejected.rows[0].back(), "job: \"pilot\" is an unknown level");
  EXPECT_EQ(error_of([&] { release_rows(model, {{"age"}, {{"1", "2"}}}); }).code(), ErrorCode::kBadInput);
  EXPECT_EQ(error_of([&] { release_rows(model, rows); }).code(), ErrorCode::kBadInput);
}

TEST(ReleaseOptions, AreChecked) {
  EXPECT_EQ(ReleaseOptions{}.check().size(), 0);
  EXPECT_EQ((ReleaseOptions{.threads = -1}).check().size(), 1);
}

}  // namespace
}  // namespace ppan
