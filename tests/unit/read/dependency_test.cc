#include "ppan/read/dependency.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ppan/core/random.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv_source.h"

namespace ppan {
namespace {

Table table_of(const std::string& csv, const std::vector<ColumnSpec>& specs) {
  CsvSource reader(memory_source(csv));
  return read_table(reader, specs);
}

TEST(Dependency, FindsWhatFollows) {
  SeededRandom random(3);
  std::string csv = "education,years,colour,nearly,same\n";
  const std::vector<std::string> names{"school", "college", "university", "none"};
  for (int r = 0; r < 2000; ++r) {
    const auto level = static_cast<std::size_t>(random.index(4));
    // `nearly` follows but for 2 rows of 2,000, `colour` is unrelated.
    csv += fmt::format("{},{},{},{},{}\n", names[level], 3 * level + 5, random.index(3),
                       r < 2 ? 9 : static_cast<int>(level % 2), names[level]);
  }
  const std::vector<ColumnSpec> specs{{.name = "education"},
                                      {.name = "years", .type = ColumnType::kInteger},
                                      {.name = "colour"},
                                      {.name = "nearly", .type = ColumnType::kInteger},
                                      {.name = "same"}};
  const std::vector<Dependency> found = find_dependencies(table_of(csv, specs));
  std::vector<std::string> columns;
  for (const Dependency& one : found) {
    columns.push_back(one.column);
    EXPECT_GT(one.share, one.without);
  }
  EXPECT_EQ(std::count(columns.begin(), columns.end(), "years"), 1);
  EXPECT_EQ(std::count(columns.begin(), columns.end(), "nearly"), 1);
  EXPECT_EQ(std::count(columns.begin(), columns.end(), "colour"), 0);
  // education and same are one thing: one of them is derived, not both.
  EXPECT_EQ(std::count(columns.begin(), columns.end(), "same") +
                std::count(columns.begin(), columns.end(), "education"),
            1);
}

TEST(Dependency, FollowsFromNumbers) {
  SeededRandom random(5);
  std::string csv = "age_group,age,square,alone\n";
  for (int r = 0; r < 1500; ++r) {
    const auto age = 17 + random.index(70);
    // `alone` differs in nearly every row: its values explain nothing, though each has but one square.
    csv += fmt::format("{},{},{},{}\n", age < 25 ? "young" : "old", age, age * age, random.index(1000000));
  }
  const std::vector<ColumnSpec> specs{{.name = "age_group"},
                                      {.name = "age", .type = ColumnType::kInteger},
                                      {.name = "square", .type = ColumnType::kInteger},
                                      {.name = "alone", .type = ColumnType::kInteger}};
  DependencyOptions options;
  options.most_levels = 2000;
  const std::vector<Dependency> found = find_dependencies(table_of(csv, specs), options);
  ASSERT_EQ(found.size(), 2U);
  for (const Dependency& one : found) {
    EXPECT_EQ(one.source, "age") << one.column << ": the earlier of two columns that say the same";
    EXPECT_EQ(one.share, 1);
  }
}

}  // namespace
}  // namespace ppan
