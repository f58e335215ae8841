#include "ppan/job/draft.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <string>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/job/job.h"

namespace ppan {
namespace {

using testing::HasSubstr;

// A name in a column of numbers is one person's, and stays out of the job.
TEST(Draft, AWordOfAFewRowsIsNotWritten) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_draft_words_test.csv";
  std::string text = "age,income,sex\n";
  for (int i = 0; i < 300; ++i) {
    text += (i == 7 ? "Alice Smith" : std::to_string(20 + i % 60)) + ',' +
            (i % 50 == 3 ? "withheld" : std::to_string(900 + i * 37 % 800)) + ',' + (i % 2 == 0 ? "f" : "m") +
            '\n';
  }
  write_file(path, text);
  const std::string draft = draft_job(path);
  EXPECT_THAT(draft, testing::Not(HasSubstr("Alice")));
  EXPECT_THAT(draft, testing::ContainsRegex(
                         "\nage = \"integer\" +# UNSURE: all numbers but for words in a few rows; correct"));
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
  EXPECT_EQ(parse_job(draft).table.schema.find("amount")->type, ColumnType::kReal);
  std::filesystem::remove(path);
  EXPECT_THROW(draft_job("-"), Error);
}

// What tells much of the secret is said by its share: of what is released as it is also at the top.
TEST(Draft, WarnsOfColumnsThatTellTheSecret) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_draft_revealing_test.csv";
  std::string text = "secret,\"re\ncoded\",outcome,age\n";
  for (int i = 0; i < 400; ++i) {
    const bool secret = i * 7919 % 13 < 6;
    const bool outcome = i % 10 == 0 ? !secret : secret;
    text += std::string(secret ? "ill" : "well") + ',' + (secret ? "i" : "w") + ',' +
            (outcome ? "yes" : "no") + ',' + std::to_string(20 + i * 31 % 50) + '\n';
  }
  write_file(path, text);
  const std::string draft = draft_job(path, {.sensitive = {"secret"}, .task = {"outcome"}});
  EXPECT_THAT(draft, testing::ContainsRegex(
                         "\n# WARNING: outcome is released unchanged and reveals at least [45][0-9] % "
                         "of the information about secret .0[.][0-9]+ nats; lower bound, 95 "
                         "% interval 0[.][0-9]+ to 0[.][0-9]+, frequencies"));
  EXPECT_THAT(draft,
              testing::ContainsRegex("coded\" = [^\n]*; reveals at least (100|9[0-9]) % of the information "
                                     "about secret on its own\n"));
  EXPECT_THAT(draft, testing::Not(testing::ContainsRegex("age = [^\n]*reveals")));
  EXPECT_NO_THROW(parse_job(draft));
  EXPECT_THAT(draft_job(path), testing::Not(HasSubstr("of the information about")));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace ppan
