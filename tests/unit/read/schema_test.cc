#include "ppan/read/schema.h"

#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/read/profile.h"
#include "ppan/read/schema_json.h"
#include "ppan/read/table.h"
#include "ppan/source/csv_source.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Schema bank() {
  return {.columns = {{.name = "age", .type = ColumnType::kInteger},
                      {.name = "job"},
                      {.name = "marital"},
                      {.name = "id", .type = ColumnType::kIdentifier}},
          .sensitive = {"marital"},
          .useful = {"age", "job"},
          .keep = {"region"}};
}

CsvSource reader_of(std::string text, CsvOptions options = {}) {
  return CsvSource(memory_source(std::move(text), "t.csv"), std::move(options));
}

TableProfile profile_of(std::string text) {
  auto reader = reader_of(std::move(text));
  return profile_table(reader);
}

TEST(Schema, RolesGiveTheParts) {
  Schema s = bank();
  EXPECT_TRUE(s.check().empty());
  EXPECT_THAT(s.observed_columns(), ElementsAre("age", "job"));
  EXPECT_THAT(s.hidden_columns(), ElementsAre("marital"));
  EXPECT_THAT(s.modelled_columns(), ElementsAre("age", "job", "marital"));
  EXPECT_THAT(s.dropped_columns(std::vector<std::string>{"id", "age", "region", "x"}),
              ElementsAre("id", "x"));
  s.observed = {"age", "marital"};
  EXPECT_THAT(s.observed_columns(), ElementsAre("age", "marital"));
  s.sensitive.clear();
  s.everything_observed = true;
  EXPECT_TRUE(s.check().empty());
  EXPECT_THAT(s.hidden_columns(), ElementsAre("age", "marital"));
}

TEST(Schema, OrderFollowsTheTable) {
  const Schema s = bank().in_order_of(std::vector<std::string>{"marital", "job", "age"});
  EXPECT_EQ(s.columns[0].name, "marital");
  EXPECT_EQ(s.columns[3].name, "id");
  EXPECT_THAT(s.useful, ElementsAre("job", "age"));
}

TEST(Schema, EveryContradictionIsFound) {
  Schema s = bank();
  s.columns.push_back({.name = "job"});
  s.columns[0].weight = -1;
  s.columns[1].encoding = NumericEncoding::kRank;
  s.useful = {"age", "age", "marital", "jbo", "id"};
  s.keep = {"marital", "age"};
  s.side = {"marital"};
  s.surrogate = {"marital"};
  const std::string conflict = "'marital' is also sensitive: ";
  std::vector<std::string> found;
  for (const Problem& p : s.check()) found.push_back(p.field + ": " + p.what);
  const std::string hidden = "a column cannot be hidden and released";
  const std::string kept = "a kept column is copied into the release, which would reveal the attribute";
  const std::string known = "an attacker who knows the attribute has nothing left to learn";
  const std::string once = "a column is released either changed or unchanged";
  EXPECT_THAT(
      found,
      testing::UnorderedElementsAre(
          "columns.job: is described twice",
          "columns.age.weight: -1 is not allowed; it must be greater than 0",
          "columns.job.encoding: a column of type category has no numeric encoding",
          "roles.useful: 'age' is listed twice",
          "roles.useful: unknown column 'jbo' (did you mean 'job'?); its type belongs under [columns]",
          "roles.useful: 'id' is an identifier, which can only be kept or group rows",
          "roles.useful: 'marital' is also sensitive: " + hidden +
              "; to hide all that is released, write sensitive = \"everything observed\"",
          "roles.keep: 'marital' is also sensitive: " + kept,
          "roles.side: 'marital' is also sensitive: " + known,
          "roles.surrogate: 'marital' is also sensitive: a surrogate stands for an attribute that no column "
          "holds",
          "roles.useful: 'marital' is also surrogate: " + hidden,
          "roles.keep: 'marital' is also surrogate: " + kept,
          "roles.side: 'marital' is also surrogate: " + known, "roles.keep: 'age' is also useful: " + once,
          "roles.keep: 'marital' is also useful: " + once));
}

TEST(Schema, SomethingMustBeHiddenAndSomethingReleased) {
  EXPECT_THAT(Schema{}.check(),
              testing::UnorderedElementsAre(testing::Field(&Problem::field, "roles.sensitive"),
                                            testing::Field(&Problem::field, "roles.useful")));
}

TEST(Schema, ColumnsThatTheTableLacksAreNamed) {
  const std::vector<std::string> names{"age", "job", "maritl", "region", "id"};
  EXPECT_THAT(bank().check_names(names),
              ElementsAre(Problem{
                  "roles.sensitive",
                  "the table has no such column: unknown column 'marital' (did you mean 'maritl'?)"}));
}

TEST(Schema, DataShowWhetherThereIsSomethingToHide) {
  Schema s = bank();
  EXPECT_THAT(check_data(s, profile_of("marital,age,job,region,id\nm,1,a,r,1\nm,2,a,r,2\n")),
              ElementsAre(Problem{"roles.sensitive",
                                  "'marital' has one value in every row, so there is nothing to hide"}));
  EXPECT_THAT(check_data(s, profile_of("marital,age,job\na,1,a\nb,2,a\nc,2,a\n")), testing::SizeIs(1));
  EXPECT_TRUE(check_data(s, profile_of("marital,age,job\na,1,a\nb,2,a\na,2,a\n")).empty());
  EXPECT_TRUE(check_data(s, profile_of("marital,age,job\na,1,a\n,2,a\na,2,a\n")).empty());
  EXPECT_THAT(check_data(s, profile_of("marital,age,job\n")), testing::SizeIs(2));
  EXPECT_THAT(
      notices(s, profile_of("marital,age,job,x\na,1,a,1\nb,2,a,1\n")),
      ElementsAre("dropped, because no role names it: x", "useful column 'job' has one value in every row"));
}

TEST(Schema, SurvivesJson) {
  Schema s = bank();
  s.group = "id";
  s.columns[0].missing = {"-1"};
  s.columns[1].max_levels = 10;
  EXPECT_EQ(schema_from_json(nlohmann::json::parse(to_json(s).dump())), s);
  auto broken = to_json(s);
  broken["columns"][0]["type"] = "number";
  EXPECT_THROW(schema_from_json(broken), Error);
  broken = to_json(s);
  broken.erase("useful");
  EXPECT_THROW(schema_from_json(broken), Error);
  broken = to_json(s);
  broken["keep"] = {"marital"};
  EXPECT_THROW(schema_from_json(broken), Error);
}

TEST(Profile, CountsWhatItSees) {
  const TableProfile table = profile_of("a,b,when\n1,x,2024-01-31\n2.50,NA,2024-02-01\n3,x,\n");
  EXPECT_EQ(table.rows, 3);
  const ColumnProfile& a = *table.find("a");
  EXPECT_EQ(a.numbers, 3);
  EXPECT_EQ(a.whole, 2);
  EXPECT_EQ(a.least, 1);
  EXPECT_EQ(a.most, 3);
  EXPECT_EQ(a.format.decimals, 2);
  EXPECT_FALSE(a.format.fixed);
  EXPECT_EQ(table.find("b")->missing, 1);
  EXPECT_EQ(table.find("b")->distinct, 1);
  EXPECT_EQ(table.find("when")->dates, 2);
  EXPECT_EQ(table.find("c"), nullptr);
}

TEST(Profile, TypesThatNeedAPerson) {
  std::string text = "big,when,many\n";
  for (int i = 0; i < 400; ++i)
    text += "90071992547409930" + std::to_string(i % 9) + "," + std::to_string(10 + i % 20) + ".01.2024,v" +
            std::to_string(i % 100) + "\n";
  const TableProfile table = profile_of(text);
  for (const char* name : {"big", "when", "many"}) {
    const TypeGuess guess = guess_type(*table.find(name));
    EXPECT_EQ(guess.type, ColumnType::kCategory) << name;
    EXPECT_FALSE(guess.sure) << name;
  }
  EXPECT_THAT(guess_type(*table.find("when")).reason, HasSubstr("dates by the look of them"));
}

// The dates and times that a release writes; others are for a person to look at.
TEST(Profile, IsoDatesAndTimes) {
  std::string text = "born,seen,iso,some,odd,wrong\n";
  for (int i = 0; i < 400; ++i) {
    const std::string day = "2024-01-" + std::to_string(10 + i % 20);
    text += day + "," + day + " 12:30:00," + day + "T12:30Z," + (i % 40 == 0 ? "unknown" : day) + "," +
            (i % 4 == 0 ? "word" : day) + ",2024-02-3" + std::to_string(i % 2) + "\n";
  }
  const TableProfile table = profile_of(text);
  const auto guess = [&](const char* name) { return guess_type(*table.find(name)); };
  EXPECT_EQ(guess("born").type, ColumnType::kDate);
  EXPECT_TRUE(guess("born").sure);
  EXPECT_EQ(guess("seen").type, ColumnType::kTimestamp);
  EXPECT_TRUE(guess("seen").sure);
  EXPECT_EQ(guess("iso").type, ColumnType::kTimestamp);
  EXPECT_FALSE(guess("iso").sure);
  EXPECT_THAT(guess("iso").reason, HasSubstr("released as"));
  EXPECT_EQ(guess("some").type, ColumnType::kDate);
  EXPECT_EQ(guess("some").missing, std::vector<std::string>{"unknown"});
  EXPECT_EQ(guess("odd").type, ColumnType::kCategory);
  EXPECT_EQ(guess("wrong").type, ColumnType::kCategory);  // no such day
}

TEST(Table, TypedColumns) {
  auto reader = reader_of("id,age,job,pay\n1,30,a,1.50\n2,?,b,2.25\n3,41,,NA\n4,?,a,0.00\n5,,b,1.00\n");
  const std::vector<ColumnSpec> specs{{.name = "pay", .type = ColumnType::kReal},
                                      {.name = "age", .type = ColumnType::kInteger},
                                      {.name = "job"}};
  const Table table = read_table(reader, specs);
  EXPECT_EQ(table.rows, 5);
  const TableColumn& pay = table.at("pay");
  EXPECT_EQ(pay.number[1], 2.25);
  EXPECT_TRUE(std::isnan(pay.number[2]));
  EXPECT_EQ(pay.format, (NumberFormat{.decimals = 2, .fixed = true}));
  EXPECT_EQ(table.at("age").missing, 3);
  EXPECT_EQ(table.at("age").missing_text, "?");
  EXPECT_THAT(table.at("job").code, ElementsAre(0, 1, kMissingCode, 0, 1));
  EXPECT_THAT(table.at("job").level, ElementsAre("a", "b"));
  EXPECT_THAT([&] { (void)table.at("jbo"); },
              testing::ThrowsMessage<Error>("unknown column 'jbo' (did you mean 'job'?)"));
}

std::string table_error(std::string text, ColumnType type) {
  auto reader = reader_of(std::move(text));
  try {
    read_table(reader, std::vector<ColumnSpec>{{.name = "age", .type = type}});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    return error.what_with_values() + "\n  fix: " + error.fix_with_values();
  }
  return "no error";
}

TEST(Table, CellsThatDoNotFitAreNamed) {
  EXPECT_EQ(table_error("age\n1\n\nhello\n", ColumnType::kReal),
            "t.csv line 4, column \"age\": \"hello\" is not a number\n"
            "  fix: add \"hello\" to read.missing if it stands for no value, or write age = \"category\" "
            "under [columns]");
  EXPECT_THAT(table_error("age\n1.5\n", ColumnType::kInteger), HasSubstr("\"1.5\" is not a whole number"));
  EXPECT_THAT(table_error("age\n-inf\n", ColumnType::kReal), HasSubstr("\"-inf\" is not a finite number"));
  EXPECT_THAT(table_error("age\n1e999\n", ColumnType::kReal),
              HasSubstr("\"1e999\" is too large for a number"));
  EXPECT_THAT(table_error("aeg\n1\n", ColumnType::kReal),
              HasSubstr("t.csv lacks columns\n  columns: unknown column 'age' (did you mean 'aeg'?)"));
  EXPECT_EQ(table_error("age\n3.0\n", ColumnType::kInteger), "no error");
}

}  // namespace
}  // namespace ppan
