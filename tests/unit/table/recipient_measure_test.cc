#include "ppan/table/recipient_measure.h"

#include <gtest/gtest.h>

#include "ppan/table/table_measure.h"
#include "ppan/table/table_optimum.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::EncodedTable;

// Two colours that go together, and hours with a favourite 40; a row for each number is its own person.
std::string rows_csv(int rows, std::uint64_t seed) {
  SeededRandom random(seed);
  std::string csv = "x,a,b,hours\n";
  for (int r = 0; r < rows; ++r) {
    const bool first = random.uniform() < 0.5;
    const bool x = random.uniform() < (first ? 0.8 : 0.3);
    csv += fmt::format("{},{},{},{}\n", x ? "yes" : "no", first ? "red" : "green", first ? "warm" : "cold",
                       random.uniform() < 0.5 ? 40.0 : 10 + 60 * random.uniform());
  }
  return csv;
}

Schema rows_schema() {
  Schema schema;
  schema.columns = {testing::category("x"), testing::category("a"), testing::category("b"),
                    testing::real("hours")};
  schema.sensitive = {"x"};
  schema.useful = {"a", "b", "hours"};
  return schema;
}

EncodedRows part(const EncodedTable& table, std::int32_t first, std::int32_t count) {
  std::vector<std::int32_t> which(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), first);
  return take_rows(table.rows, which);
}

TEST(RecipientMeasure, FindsWhatIsBroken) {
  const EncodedTable table = testing::encoded(rows_csv(2000, 1), rows_schema());
  const EncodedRows train = part(table, 0, 1000);
  const EncodedRows rows = part(table, 1000, 1000);
  const RecipientMeasure measure(train, rows, {1, 2, 3}, table.encoding);
  const RecipientView same = measure.measure(rows);
  EXPECT_EQ(same.associations, 0);
  EXPECT_EQ(same.spikes, 0);
  EXPECT_EQ(same.copied, same.copied_original);
  // The second colour by itself: the pair of colours, one of three pairs, falls from 1 to near 0.
  EncodedRows broken = rows;
  SeededRandom random(3);
  for (std::int32_t& code : broken.columns[2].code) code = static_cast<std::int32_t>(random.index(2));
  EXPECT_NEAR(measure.measure(broken).associations, 1.0 / 3, 0.05);
  // Every 40 becomes something else.
  broken = rows;
  const ColumnEncoding& hours = table.encoding.columns[3];
  for (double& v : broken.columns[3].value) {
    if (hours.decode(v) == 40) v = hours.encode(41);
  }
  EXPECT_NEAR(measure.measure(broken).spikes, 0.5, 0.05);
  // Rows of training people.
  EXPECT_EQ(measure.measure(train).copied, 1);
  EXPECT_LT(same.copied, 0.9);
}

TEST(TableOptimum, NothingLeaksLess) {
  EncodedTable table = testing::encoded(rows_csv(1500, 2), rows_schema());
  EXPECT_FALSE(TableOptimum::fit(table.rows, table.schema, table.encoding));  // a number is released
  table.schema.useful = {"a", "b"};
  const auto optimum = TableOptimum::fit(table.rows, table.schema, table.encoding);
  ASSERT_TRUE(optimum);
  const TableModel unchanged = unchanged_model(table.schema, table.encoding);
  const TableModel constant = constant_model(table.schema, table.encoding, table.rows);
  const auto first = optimum->mechanism_of(unchanged);
  const auto last = optimum->mechanism_of(constant);
  ASSERT_TRUE(first && last);
  EXPECT_NEAR(optimum->distortion(*first), 0, 1e-12);
  EXPECT_NEAR(optimum->leakage(*first), optimum->at(0).leakage, 1e-6);
  EXPECT_NEAR(optimum->leakage(*last), 0, 1e-12);
  for (const double share : {0.2, 0.5, 0.8}) {
    const auto mixed = optimum->mechanism_of(mix(unchanged, constant, share));
    ASSERT_TRUE(mixed);
    const double distortion = optimum->distortion(*mixed);
    EXPECT_NEAR(distortion, share * optimum->distortion(*last), 1e-9);
    EXPECT_LE(optimum->at(distortion).lower_bound, optimum->leakage(*mixed) + 1e-9);
    // Time-sharing is not the optimum here: the check can tell.
    EXPECT_LT(optimum->at(distortion).leakage, optimum->leakage(*mixed));
  }
}

}  // namespace
}  // namespace ppan
