#include "ppan/table/table_references.h"

#include <gtest/gtest.h>

#include "ppan/table/table_measure.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

struct Case {
  EncodedTable table = encoded(testing::mixed_csv(4000, 0.2, 5), testing::mixed_schema());
  std::vector<std::int32_t> columns = table.encoding.indices_of(table.schema.useful);
};

TEST(Noise, OfStrengthZeroChangesNothing) {
  const Case c;
  SeededRandom random(1);
  const EncodedRows out = add_noise(c.table.rows, c.columns, c.table.encoding, 0, random);
  EXPECT_EQ(measure_change(c.table.rows, out, c.table.encoding).changed, 0);
}

TEST(Noise, IsRandomizedResponseOfItsStrength) {
  const Case c;
  SeededRandom random(1);
  const EncodedRows out = add_noise(c.table.rows, c.columns, c.table.encoding, 0.4, random);
  const TableChange change = measure_change(c.table.rows, out, c.table.encoding);
  // Shares of 4,000 cells: 5 standard deviations are 0.04, missed once in a million seeds.
  EXPECT_NEAR(change.columns[0].changed, 0.4 * 2 / 3, 0.04);
  EXPECT_NEAR(change.columns[1].changed, 0.4 * 3 / 4, 0.04);
}

TEST(Noise, CostsWhatItWasAskedToCost) {
  const Case c;
  for (const double wanted : {0.02, 0.2, 0.5}) {
    const double strength = noise_strength(c.table.rows, c.columns, c.table.encoding, wanted, 3);
    SeededRandom random(99);
    const EncodedRows out = add_noise(c.table.rows, c.columns, c.table.encoding, strength, random);
    // Other draws than those it was calibrated on: 12,000 cells of standard deviation below 1.
    EXPECT_NEAR(measure_change(c.table.rows, out, c.table.encoding).distortion, wanted, 0.02 + 0.05 * wanted);
  }
}

TEST(Noise, OfOneKindLeavesTheOtherColumnsAlone) {
  const Case c;
  for (const bool numbers : {false, true}) {
    SeededRandom random(4);
    const EncodedRows out = add_noise(c.table.rows, c.columns, c.table.encoding, 0.5, random,
                                      numbers ? NoisyColumns::kNumbers : NoisyColumns::kCategories);
    for (const ColumnChange& change : measure_change(c.table.rows, out, c.table.encoding).columns) {
      if (change.numeric == numbers) {
        EXPECT_GT(change.changed, 0.2) << change.name;
      } else {
        EXPECT_EQ(change.changed, 0) << change.name;
      }
    }
  }
}

TEST(Dropping, TakesTheTellingColumnsFirst) {
  const Case c;
  const auto order = by_leakage(c.table.rows, c.columns, c.table.schema, c.table.encoding);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(c.table.encoding.columns[static_cast<std::size_t>(order[0])].name, "colour");
  EXPECT_EQ(c.table.encoding.columns[static_cast<std::size_t>(order[1])].name, "size");
  EXPECT_EQ(c.table.encoding.columns[static_cast<std::size_t>(order[2])].name, "shape");
}

TEST(Dropping, LeavesTheOtherColumnsAlone) {
  const Case c;
  const std::vector<std::int32_t> gone{c.columns[0]};
  const TableChange change = measure_change(
      c.table.rows, drop_columns(c.table.rows, c.columns, gone, c.table.encoding), c.table.encoding);
  const ColumnEncoding& colour = c.table.encoding.columns[static_cast<std::size_t>(c.columns[0])];
  EXPECT_NEAR(change.columns[0].changed, 1 - *std::max_element(colour.share.begin(), colour.share.end()),
              0.0005);
  EXPECT_EQ(change.columns[1].changed, 0);
  EXPECT_EQ(change.columns[2].changed, 0);
}

}  // namespace
}  // namespace ppan
