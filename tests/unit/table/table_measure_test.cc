#include "ppan/table/table_measure.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "ppan/table/table_references.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

EncodedRows useful_of(const EncodedTable& table) {
  return drop_columns(table.rows, table.encoding.indices_of(table.schema.useful), {}, table.encoding);
}

TEST(TableChange, CountsCellsAndStandardDeviations) {
  EncodedTable table = encoded("x,colour,shape,size\na,red,r,1\nb,blue,r,3\na,blue,s,5\nb,blue,s,7\n",
                               testing::mixed_schema());
  table.encoding.columns[1].weight = 2;
  EncodedRows out = useful_of(table);
  out.columns[0].code[0] = 1 - out.columns[0].code[0];
  out.columns[2].value[1] = table.encoding.columns[3].encode(7);  // 4 off
  const TableChange change = measure_change(table.rows, out, table.encoding);
  const double deviation = table.encoding.columns[3].scale;
  const double squares = 16 / (deviation * deviation) / 4;
  ASSERT_EQ(change.columns.size(), 3U);
  EXPECT_DOUBLE_EQ(change.columns[0].changed, 0.25);
  EXPECT_DOUBLE_EQ(change.columns[1].distortion, 0);
  EXPECT_NEAR(change.columns[2].distortion, squares, 1e-9);
  EXPECT_NEAR(change.columns[2].rms_error, std::sqrt(squares), 1e-9);
  EXPECT_NEAR(change.changed, 0.5 / 3, 1e-12);
  EXPECT_NEAR(change.distortion, (2 * 0.25 + squares) / 4, 1e-9);
}

TEST(TableChange, ANumberThatDisappearsCostsOne) {
  const EncodedTable table =
      encoded("x,colour,shape,size\na,red,r,1\nb,blue,r,\na,blue,s,5\nb,blue,s,7\n", testing::mixed_schema());
  EncodedRows out = useful_of(table);
  out.columns[2].code[0] = 1;
  out.columns[2].code[1] = 0;
  EXPECT_DOUBLE_EQ(measure_change(table.rows, out, table.encoding).columns[2].distortion, 0.5);
}

TEST(TableChange, ValuesThatAreWrittenAlikeAreAlike) {
  const EncodedTable table = encoded("x,colour,shape,size\na,red,r,1\nb,blue,r,2\na,blue,s,5\nb,blue,s,7\n",
                                     testing::mixed_schema());
  EncodedRows out = useful_of(table);
  for (double& v : out.columns[2].value) v += 1e-3;  // the column has no decimals
  EXPECT_EQ(measure_change(table.rows, out, table.encoding).changed, 0);
}

// The audit of `release`, which is the same for every draw.
AuditReport found_in(const EncodedTable& table, const EncodedRows& release,
                     LeakageDetail detail = LeakageDetail::kNumber) {
  return measure_leakage({.rows = table.rows,
                          .schema = table.schema,
                          .encoding = table.encoding,
                          .release = [&](std::int64_t) { return release; }},
                         {.quick = true, .training_releases = 1}, detail);
}

TEST(TableLeakage, FindsAPlantedLeakAndNothingElsewhere) {
  const EncodedTable leaky = encoded(testing::mixed_csv(3000, 0.0, 7), testing::mixed_schema());
  const AuditReport found = found_in(leaky, useful_of(leaky), LeakageDetail::kWhole);
  EXPECT_GT(found.leakage().nats, 0.65);  // the colour is the secret: ln 2 = 0.693
  EXPECT_NEAR(found.entropy(), std::log(2.0), 0.01);
  ASSERT_EQ(found.attributes.size(), 1U);
  EXPECT_EQ(found.attributes[0].name, "x");
  EXPECT_FALSE(found.attributes[0].learning.empty());
  // Levels are called by their names, hidden ones and released ones.
  std::set<std::pair<std::string, std::string>> groups;
  for (const GroupLeakage& group : found.attributes[0].groups) groups.emplace(group.column, group.level);
  EXPECT_TRUE(groups.contains({"x", "yes"}));
  EXPECT_TRUE(groups.contains({"colour", "red"}));

  const EncodedTable clean = encoded(testing::mixed_csv(3000, 1.0, 7), testing::mixed_schema());
  // A lower bound that holds in expectation; above 0.02 with 900 test rows only if an attacker learned
  // noise that happened to repeat, less than once in a thousand seeds.
  const AuditReport nothing = found_in(clean, useful_of(clean));
  EXPECT_LT(nothing.leakage().nats, 0.02);
  EXPECT_TRUE(nothing.attributes[0].learning.empty());
}

TEST(TableLeakage, OfAConstantIsNothing) {
  const EncodedTable table = encoded(testing::mixed_csv(500, 0.0, 7), testing::mixed_schema());
  const auto columns = table.encoding.indices_of(table.schema.useful);
  const AuditReport found = found_in(table, drop_columns(table.rows, columns, columns, table.encoding));
  EXPECT_EQ(found.leakage().nats, 0);
  EXPECT_EQ(found.upper_bound()->nats, 0);
  EXPECT_EQ(found.attributes.size(), 1U);
}

TEST(TableLeakage, OfAKeptColumnIsPartOfTheRelease) {
  // The mechanism releases the same row for everybody; the kept column is the secret by another name.
  const EncodedTable table = encoded(testing::mixed_csv(2000, 1.0, 7), testing::mixed_schema());
  const std::int32_t x = table.encoding.index_of("x");
  TableColumn alias{.name = "alias", .type = ColumnType::kIdentifier};
  alias.code = table.rows.columns[table.rows.position_of(x)].code;
  alias.level = {"one", "two"};
  std::vector<std::int32_t> all(static_cast<std::size_t>(table.rows.rows));
  std::iota(all.begin(), all.end(), 0);
  const auto columns = table.encoding.indices_of(table.schema.useful);
  const EncodedRows constant = drop_columns(table.rows, columns, columns, table.encoding);
  const AuditReport found = measure_leakage({.rows = table.rows,
                                             .schema = table.schema,
                                             .encoding = table.encoding,
                                             .release = [&](std::int64_t) { return constant; },
                                             .kept = {audit_column(alias, all)}},
                                            {.quick = true, .training_releases = 1});
  EXPECT_GT(found.leakage().nats, 0.65);
}

TEST(TableLeakage, OfManyRowsUsesSomeOfThem) {
  const EncodedTable table = encoded(testing::mixed_csv(3000, 0.0, 7), testing::mixed_schema());
  const EncodedRows release = useful_of(table);
  Units unit;
  for (std::int32_t r = 0; r < 3000; ++r) unit.push_back(r / 3);
  const AuditReport found = measure_leakage({.rows = table.rows,
                                             .schema = table.schema,
                                             .encoding = table.encoding,
                                             .release = [&](std::int64_t) { return release; },
                                             .unit = unit},
                                            {.quick = true, .training_releases = 1, .most_rows = 900});
  EXPECT_EQ(found.rows, 900);
  EXPECT_GT(found.units, 300);
  EXPECT_GT(found.leakage().nats, 0.6);
}

TEST(TableLeakage, OfSeveralColumnsIsJoint) {
  // Two fair coins of which only the parity is released: each alone is hidden, both together are not.
  SeededRandom random(11);
  std::string csv = "a,b,parity\n";
  for (int r = 0; r < 3000; ++r) {
    const auto a = random.index(2);
    const auto b = random.index(2);
    csv += fmt::format("a{},b{},p{}\n", a, b, (a + b) % 2);
  }
  Schema schema;
  schema.columns = {testing::category("a"), testing::category("b"), testing::category("parity")};
  schema.sensitive = {"a", "b"};
  schema.useful = {"parity"};
  const EncodedTable table = encoded(csv, schema);
  const AuditReport found = found_in(table, useful_of(table));
  ASSERT_EQ(found.attributes.size(), 2U);
  EXPECT_LT(found.attributes[0].leakage.nats, 0.02);
  EXPECT_LT(found.attributes[1].leakage.nats, 0.02);
  EXPECT_GT(found.leakage().nats, 0.6);  // ln 2
}

TEST(TableLeakage, OfManyCellsIsAnEstimateAndStillAddsUp) {
  // Three independent columns of 12 levels, the first of them released: 1,728 cells, ln 12 nats.
  SeededRandom random(13);
  std::string csv = "a,b,c\n";
  for (int r = 0; r < 2000; ++r)
    csv += fmt::format("a{},b{},c{}\n", random.index(12), random.index(12), random.index(12));
  Schema schema;
  schema.columns = {testing::category("a"), testing::category("b"), testing::category("c")};
  schema.everything_observed = true;
  schema.useful = {"a"};
  schema.observed = {"a", "b", "c"};
  const EncodedTable table = encoded(csv, schema);
  const AuditReport found = found_in(table, useful_of(table));
  EXPECT_EQ(found.leakage().bound, Bound::kEstimate);
  EXPECT_NEAR(found.leakage().nats, std::log(12), 0.1);
}

TEST(TableLeakage, NeedsRows) {
  const EncodedTable table = encoded(testing::mixed_csv(10, 0.0, 7), testing::mixed_schema());
  EXPECT_THROW(found_in(table, useful_of(table)), Error);
}

}  // namespace
}  // namespace ppan
