#include "ppan/model/row_rules.h"
#include "ppan/model/model_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ppan/model/table_model.h"
#include "ppan/table/table_references.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

EncodedTable stays(int rows) {
  SeededRandom random(4);
  std::string csv = "x,ward,floor,start,end\n";
  const std::vector<std::string> wards{"a", "b", "c"};
  for (int r = 0; r < rows; ++r) {
    const auto ward = static_cast<std::size_t>(random.index(3));
    const auto start = random.index(50);
    csv += fmt::format("{},{},{},{},{}\n", random.index(2), wards[ward], 10 * (ward + 1), start,
                       start + random.index(20));
  }
  Schema schema;
  schema.columns = {testing::category("x"),
                    testing::category("ward"),
                    {.name = "floor", .type = ColumnType::kInteger, .derived_from = "ward"},
                    {.name = "start", .type = ColumnType::kInteger},
                    {.name = "end", .type = ColumnType::kInteger}};
  schema.sensitive = {"x"};
  schema.useful = {"ward", "floor", "start", "end"};
  schema.constraints = {"end >= start", "start > 4", "end <= 60"};
  return encoded(csv, schema);
}

TEST(RowRules, HoldInEveryRow) {
  EncodedTable table = stays(500);
  ASSERT_TRUE(table.schema.check().empty());
  const RowRules rules(table.schema, table.encoding);
  SeededRandom random(2);
  const auto columns = table.encoding.indices_of(table.schema.useful);
  EncodedRows noisy = add_noise(table.rows, columns, table.encoding, 0.8, random);
  const ConstraintCount before = count_constraints(noisy, table.schema, table.encoding);
  EXPECT_LT(before.all, before.rows);  // the noise broke some
  rules.apply(noisy);
  const ConstraintCount after = count_constraints(noisy, table.schema, table.encoding);
  EXPECT_EQ(after.all, after.rows);
  const ColumnEncoding& floor = table.encoding.columns[2];
  const ColumnEncoding& ward = table.encoding.columns[1];
  for (std::size_t r = 0; r < noisy.columns[0].code.size(); ++r) {
    const std::string& name = ward.levels[static_cast<std::size_t>(noisy.columns[0].code[r])];
    EXPECT_EQ(floor.decode(noisy.columns[1].value[r]), 10.0 * (name[0] - 'a' + 1));
  }
}

TEST(RowRules, ModelsKeepThem) {
  const EncodedTable table = stays(300);
  const TableModel model = constant_model(table.schema, table.encoding, table.rows);
  const TableModel again = TableModel::from_parts(model.to_parts());
  TableReleaser releaser(again);
  SeededRandom random(1);
  EncodedRows out;
  releaser.release(table.rows, random, out);
  const ConstraintCount count = count_constraints(out, table.schema, table.encoding);
  EXPECT_EQ(count.all, count.rows);
}

TEST(RowRules, BadRulesAreAllReported) {
  Schema schema = stays(50).schema;
  schema.constraints = {"end >> start", "ward >= 3", "end >= nothing"};
  schema.columns[4].derived_from = "nothing";
  EXPECT_EQ(schema.check().size(), 5U);  // the derived column has no source, which is not useful either
  // What follows from a number cannot be moved by itself.
  schema.constraints = {"end >= 3"};
  schema.columns[4].derived_from = "start";
  EXPECT_EQ(schema.check().size(), 1U);
  schema.columns[4].derived_from = "end";
  EXPECT_FALSE(schema.check().empty());
}

// What follows from a number is looked up again, also where a constraint moved the number; a value that too
// few people have is none of the model's.
TEST(RowRules, FollowFromNumbers) {
  SeededRandom random(6);
  std::string csv = "x,age,group,square\n";
  for (int r = 0; r < 600; ++r) {
    const auto age = r == 0 ? 97 : 20 + random.index(40);
    csv += fmt::format("{},{},{},{}\n", random.index(2), age, age < 35 ? "young" : "old", age * age);
  }
  Schema schema;
  schema.columns = {testing::category("x"),
                    {.name = "age", .type = ColumnType::kInteger},
                    {.name = "group", .derived_from = "age"},
                    {.name = "square", .type = ColumnType::kInteger, .derived_from = "age"}};
  schema.sensitive = {"x"};
  schema.useful = {"age", "group", "square"};
  schema.constraints = {"age >= 30"};
  ASSERT_TRUE(schema.check().empty());
  const Table plain = testing::table_of(csv, schema);
  EncodedTable table{schema, fit_encoding(plain, schema.columns, {.min_rows = 5, .grid_cost = 0}), {}};
  const std::vector<std::int32_t> every{0, 1, 2, 3};
  Encoder(table.encoding).encode(plain, every, UnknownRow::kNearest, table.rows);
  const ColumnEncoding& age = table.encoding.columns[1];
  const ColumnEncoding& group = table.encoding.columns[2];
  const ColumnEncoding& square = table.encoding.columns[3];
  EXPECT_EQ(square.derived_at.size(), 40U);
  EXPECT_LT(square.derived_at.back(), 97);
  EncodedRows noisy =
      add_noise(table.rows, table.encoding.indices_of(schema.useful), table.encoding, 0.8, random);
  RowRules(schema, table.encoding).apply(noisy);
  for (std::size_t r = 0; r < noisy.columns[0].code.size(); ++r) {
    const double x = age.decode(noisy.columns[0].value[r]);
    EXPECT_GE(x, 30);
    EXPECT_EQ(group.levels[static_cast<std::size_t>(noisy.columns[1].code[r])], x < 35 ? "young" : "old");
    EXPECT_NEAR(square.decode(noisy.columns[2].value[r]), std::min(x, 59.0) * std::min(x, 59.0), square.grid);
  }
  const TableModel model = constant_model(schema, table.encoding, table.rows);
  EXPECT_EQ(TableModel::from_parts(model.to_parts()).encoding(), table.encoding);
}

// Every column that does not follow from what the job says is named at once.
TEST(RowRules, WhatDoesNotFollowIsRefused) {
  SeededRandom random(6);
  std::string csv = "x,a,b,c,d\n";
  for (int r = 0; r < 300; ++r)
    csv += fmt::format("{},{},{},{},{}\n", random.index(2), random.index(3), random.index(3), random.index(9),
                       random.index(1000000000));
  Schema schema;
  schema.columns = {testing::category("x"),
                    {.name = "a", .derived_from = "c"},
                    {.name = "b", .derived_from = "d"},
                    {.name = "c", .type = ColumnType::kInteger},
                    {.name = "d", .type = ColumnType::kInteger}};
  schema.sensitive = {"x"};
  schema.useful = {"a", "b", "c", "d"};
  ASSERT_TRUE(schema.check().empty());
  try {
    (void)fit_encoding(testing::table_of(csv, schema), schema.columns, {.min_rows = 5, .grid_cost = 0});
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("columns.a.derived_from: follows from 'c' in"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("columns.b.derived_from"));
  }
}

TEST(RowRules, ConstraintsAreParsed) {
  const auto one = parse_constraint("  age at entry >= 17.5 ");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->left, "age at entry");
  EXPECT_EQ(one->comparison, Comparison::kAtLeast);
  EXPECT_EQ(one->number, 17.5);
  const auto two = parse_constraint("end>start");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->right, "start");
  EXPECT_FALSE(two->number);
  for (const char* bad : {"", "age", ">= 3", "age >=", "a >= b >= c", "a => b"})
    EXPECT_FALSE(parse_constraint(bad)) << bad;
}

}  // namespace
}  // namespace ppan
