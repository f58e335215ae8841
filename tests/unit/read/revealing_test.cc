#include "ppan/read/revealing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "ppan/core/random.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv_source.h"

namespace ppan {
namespace {

std::map<std::string, RevealingColumn> revealing_columns(const std::string& csv,
                                                         const std::vector<ColumnSpec>& specs,
                                                         const std::string& about) {
  CsvSource reader(memory_source(csv));
  const Table table = read_table(reader, specs);
  std::vector<std::string> names;
  for (const ColumnSpec& spec : specs) names.push_back(spec.name);
  std::map<std::string, RevealingColumn> out;
  for (const RevealingColumn& one : find_revealing_columns(table, about, names)) out[one.column] = one;
  return out;
}

// A recoding tells everything, a coin nothing, and a symmetric channel with an error of 0.1 tells
// log 2 - h(0.1) = 0.3681 nats (53 %): one standard error of that from 4,000 rows is 0.011 nats. `many` has a
// level for nearly every row, which tells everything of the rows it was learned from and nothing of others.
TEST(RevealingColumns, IsWhatOtherRowsConfirm) {
  SeededRandom random(7);
  std::string csv = "secret,recoded,channel,number,coin,many\n";
  for (int r = 0; r < 4000; ++r) {
    const bool secret = r % 2 == 0;  // turns of two rows must not mislead
    const bool other = random.uniform() < 0.1 ? !secret : secret;
    csv += fmt::format("{},{},{},{:.4f},{},{}\n", secret ? "a" : "b", secret ? 7 : 3, other ? "x" : "y",
                       random.uniform() + (other ? 1 : 0), random.index(2), random.index(100000));
  }
  const auto found = revealing_columns(csv,
                                       {{.name = "secret"},
                                        {.name = "recoded"},
                                        {.name = "channel"},
                                        {.name = "number", .type = ColumnType::kReal},
                                        {.name = "coin"},
                                        {.name = "many"}},
                                       "secret");
  EXPECT_FALSE(found.contains("secret"));
  EXPECT_GT(found.at("recoded").share, 0.99);
  EXPECT_NEAR(found.at("channel").nats, 0.3681, 0.044);
  EXPECT_NEAR(found.at("number").nats, 0.3681, 0.05);  // a bin across 1 and few rows a bin cost a little
  EXPECT_LT(found.at("coin").share, 0.005);
  EXPECT_LT(found.at("many").share, 0.005);
}

// A number that is told about, with cells missing, and identifiers.
TEST(RevealingColumns, AboutNumbers) {
  SeededRandom random(8);
  std::string csv = "id,income,tax,age\n";
  for (int r = 0; r < 2000; ++r) {
    const double income = random.uniform();
    csv += fmt::format("p{},{:.5f},{},{:.3f}\n", r, income,
                       r % 10 == 0 ? "" : fmt::format("{:.6f}", income / 5), random.uniform());
  }
  const auto found = revealing_columns(csv,
                                       {{.name = "id", .type = ColumnType::kIdentifier},
                                        {.name = "income", .type = ColumnType::kReal},
                                        {.name = "tax", .type = ColumnType::kReal},
                                        {.name = "age", .type = ColumnType::kReal}},
                                       "income");
  EXPECT_FALSE(found.contains("id"));
  EXPECT_GT(found.at("tax").share, 0.7);
  EXPECT_LT(found.at("tax").share, 0.92);  // a tenth is missing
  EXPECT_LT(found.at("age").share, 0.005);
}

TEST(RevealingColumns, OfNextToNothing) {
  EXPECT_TRUE(find_revealing_columns({}, "x", {}).empty());
  const auto found = revealing_columns("a,b\n1,2\n1,3\n", {{.name = "a"}, {.name = "b"}}, "a");
  EXPECT_EQ(found.at("b").share, 0);  // a says the same of everybody
}

}  // namespace
}  // namespace ppan
