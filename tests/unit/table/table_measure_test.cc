#include "ppan/table/table_measure.h"

#include <gtest/gtest.h>

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

TEST(TableLeakage, FindsAPlantedLeakAndNothingElsewhere) {
  const LeakageOptions options{.epochs = 10, .trees = 60, .training_releases = 1};
  const EncodedTable leaky = encoded(testing::mixed_csv(3000, 0.0, 7), testing::mixed_schema());
  const auto unchanged = [](const EncodedTable& table) {
    return [&table](std::int64_t) { return useful_of(table); };
  };
  const LeakageReport found =
      measure_leakage(leaky.rows, leaky.schema, leaky.encoding, unchanged(leaky), options);
  EXPECT_GT(found.joint.nats, 0.65);  // the colour is the secret: ln 2 = 0.693
  ASSERT_EQ(found.names, std::vector<std::string>{"x"});

  const EncodedTable clean = encoded(testing::mixed_csv(3000, 1.0, 7), testing::mixed_schema());
  const LeakageReport nothing =
      measure_leakage(clean.rows, clean.schema, clean.encoding, unchanged(clean), options);
  // A lower bound that holds in expectation; above 0.02 with 1,200 test rows only if an attacker learned
  // noise that happened to repeat, less than once in a thousand seeds.
  EXPECT_LT(nothing.joint.nats, 0.02);
}

TEST(TableLeakage, OfAConstantIsNothing) {
  const EncodedTable table = encoded(testing::mixed_csv(500, 0.0, 7), testing::mixed_schema());
  const auto columns = table.encoding.indices_of(table.schema.useful);
  const LeakageReport found = measure_leakage(
      table.rows, table.schema, table.encoding,
      [&](std::int64_t) { return drop_columns(table.rows, columns, columns, table.encoding); }, {});
  EXPECT_EQ(found.joint.nats, 0);
  EXPECT_EQ(found.each.size(), 1U);
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
  const LeakageReport found =
      measure_leakage(table.rows, schema, table.encoding, [&](std::int64_t) { return useful_of(table); },
                      {.epochs = 20, .trees = 100, .training_releases = 1});
  ASSERT_EQ(found.each.size(), 2U);
  EXPECT_LT(found.each[0].nats, 0.02);
  EXPECT_LT(found.each[1].nats, 0.02);
  EXPECT_GT(found.joint.nats, 0.6);  // ln 2
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
  const LeakageReport found =
      measure_leakage(table.rows, schema, table.encoding, [&](std::int64_t) { return useful_of(table); },
                      {.epochs = 20, .trees = 100, .training_releases = 1});
  EXPECT_EQ(found.joint.bound, Bound::kEstimate);
  EXPECT_NEAR(found.joint.nats, std::log(12), 0.1);
}

TEST(TableLeakage, NeedsRows) {
  const EncodedTable table = encoded(testing::mixed_csv(10, 0.0, 7), testing::mixed_schema());
  EXPECT_THROW(measure_leakage(table.rows, table.schema, table.encoding,
                               [&](std::int64_t) { return useful_of(table); }, {}),
               Error);
}

}  // namespace
}  // namespace ppan
