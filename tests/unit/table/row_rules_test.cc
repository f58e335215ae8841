#include "ppan/model/row_rules.h"
#include "ppan/model/model_parts.h"

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
  schema.columns[4].derived_from = "start";
  EXPECT_EQ(schema.check().size(), 4U);
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
