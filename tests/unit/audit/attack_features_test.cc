#include "ppan/audit/attack_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ppan/core/random.h"

namespace ppan {
namespace {

const std::vector<std::string> kMarkers{"", "NA"};

bool has(const FeatureMap& map, const std::string& column, const std::string& aspect) {
  return std::find(map.source().begin(), map.source().end(), FeatureSource{column, aspect}) !=
         map.source().end();
}

TEST(AttackFeatures, ColumnOfCellsKeepsExactTextAndReadsNumbers) {
  const AuditColumn c = column_of_cells("c", std::vector<std::string>{"1.0", "1", "NA", "2"}, kMarkers);
  EXPECT_TRUE(c.numeric());
  EXPECT_EQ(c.level.size(), 4U);
  EXPECT_EQ(c.number[0], c.number[1]);
  EXPECT_TRUE(c.missing[2]);
  EXPECT_TRUE(std::isnan(c.number[2]));
  EXPECT_FALSE(column_of_cells("c", std::vector<std::string>{"1", "x", "y"}, kMarkers).numeric());
}

TEST(AttackFeatures, OnlyTracesThatVaryAreKept) {
  std::vector<std::string> same;
  std::vector<std::string> cased;
  for (int i = 0; i < 40; ++i) {
    same.emplace_back(i % 2 == 0 ? "aaaa" : "bbbb");
    cased.emplace_back(i % 4 < 2 ? "aaaa" : "Aaaa");
  }
  AuditTable table;
  table.columns = {column_of_cells("same", same, kMarkers), column_of_cells("cased", cased, kMarkers)};
  const FeatureMap map(table, {});
  EXPECT_TRUE(has(map, "same", "value"));
  EXPECT_FALSE(has(map, "same", "format"));
  EXPECT_FALSE(has(map, "same", "missing"));
  EXPECT_FALSE(has(map, "cased", "value"));  // one category, written in two ways
  EXPECT_TRUE(has(map, "cased", "format"));
  EXPECT_TRUE(has(map, "row", "position"));
  EXPECT_FALSE(has(FeatureMap(table, {.row_position = false}), "row", "position"));
}

TEST(AttackFeatures, StandardisedAndFinite) {
  SeededRandom random(2);
  Matrix<double> normal(500, 1);
  fill_normal(random, normal);
  Vector<double> huge = 1e200 * normal.col(0);
  huge[7] = std::nan("");
  AuditTable table;
  table.columns = {column_of_numbers("huge", huge)};
  const FeatureMap map(table, {});
  const AttackFeatures features = map.apply(table);
  ASSERT_GT(features.data.cols(), 0);
  EXPECT_TRUE(features.data.allFinite());
  for (Index f = 0; f < features.data.cols(); ++f) {
    EXPECT_NEAR(features.data.col(f).mean(), 0, 1e-4);
    EXPECT_LE(features.data.col(f).array().square().mean(), 1.001);
  }
}

TEST(AttackFeatures, CellsAreExactRows) {
  AuditTable table;
  table.columns = {column_of_cells("a", std::vector<std::string>{"x", "X", "x", "x"}, kMarkers),
                   column_of_cells("b", std::vector<std::string>{"1", "1", "1", "1.0"}, kMarkers)};
  const FeatureMap map(table, {});
  const AttackFeatures features = map.apply(table);
  EXPECT_EQ(features.cells, 3);
  EXPECT_EQ(features.cell[0], features.cell[2]);
  EXPECT_NE(features.cell[0], features.cell[1]);
  EXPECT_NE(features.cell[0], features.cell[3]);
  AuditTable other = table;
  other.columns[0].level = {"never", "seen"};
  EXPECT_EQ(map.apply(other).cell[0], -1);
}

// The last bit that is used: of doubles, of floats stored as doubles, and of whole numbers.
TEST(AttackFeatures, LowestUsedBit) {
  SeededRandom random(3);
  for (const char* kind : {"double", "float", "integer"}) {
    Vector<double> value(200);
    std::vector<float> secret;
    for (Index i = 0; i < 200; ++i) {
      const bool odd = random.index(2) == 1;
      secret.push_back(odd ? 1.0F : 0.0F);
      if (kind[0] == 'd') {
        const auto bits = std::bit_cast<std::uint64_t>(1 + random.uniform());
        value[i] = std::bit_cast<double>((bits & ~1ULL) | (odd ? 1U : 0U));
      } else if (kind[0] == 'f') {
        const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(1 + 0.999 * random.uniform()));
        value[i] = static_cast<double>(std::bit_cast<float>((bits & ~1U) | (odd ? 1U : 0U)));
      } else {
        value[i] = static_cast<double>(2 * random.index(1000) + (odd ? 1 : 0));
      }
    }
    AuditTable table;
    table.columns = {column_of_numbers("v", value)};
    const FeatureMap map(table, {});
    const AttackFeatures features = map.apply(table);
    const auto found = std::find(map.source().begin(), map.source().end(), FeatureSource{"v", "low bits"});
    ASSERT_NE(found, map.source().end()) << kind;
    const auto bit = features.data.col(found - map.source().begin());
    for (Index i = 0; i < 200; ++i) EXPECT_EQ(bit[i] > 0, secret[static_cast<std::size_t>(i)] > 0.5F) << kind;
  }
}

}  // namespace
}  // namespace ppan
