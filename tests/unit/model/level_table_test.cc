#include "ppan/model/level_table.h"

#include <gtest/gtest.h>

namespace ppan {
namespace {

// A column of numbers on a grid of 0.5 from 0 to 50.
Encoding one_number(bool may_be_missing) {
  ColumnEncoding column;
  column.name = "x";
  column.type = ColumnType::kReal;
  column.mean = 20;
  column.scale = 7;
  column.least = 0;
  column.most = 50;
  column.grid = 0.5;
  column.format.decimals = 1;
  column.may_be_missing = may_be_missing;
  Encoding encoding;
  encoding.columns.push_back(column);
  return encoding;
}

ColumnLevels levels_with(std::vector<double> spike, std::vector<std::vector<double>> bin, bool listed,
                         bool missing) {
  return {.column = 0,
          .numeric = true,
          .may_be_missing = missing,
          .spike = std::move(spike),
          .bin = std::move(bin),
          .listed = listed};
}

// Every number of the grid, and missing ones: levels, and what is drawn from each of them.
void expect_same(const ColumnLevels& levels) {
  const Encoding encoding = one_number(levels.may_be_missing);
  EncodedRows rows;
  rows.which = {0};
  rows.columns.resize(1);
  for (int i = 0; i <= 100; ++i) {
    rows.columns[0].value.push_back(encoding.columns[0].encode(0.5 * i));
    rows.columns[0].code.push_back(levels.may_be_missing && i % 7 == 0 ? 1 : 0);
  }
  rows.rows = 101;
  LevelTable table(levels, encoding);
  Symbols found;
  table.find(rows.columns[0], found);
  EXPECT_EQ(found, levels_of(rows, levels, encoding));
  SeededRandom one(3);
  SeededRandom other(3);
  for (int i = 0; i < 40; ++i) {
    for (std::int32_t level = 0; level < levels.levels(); ++level) {
      const DrawnCell drawn = table.draw(level, one);
      const DrawnCell expected = draw_cell(levels, level, encoding, other);
      EXPECT_EQ(drawn.value, expected.value);
      EXPECT_EQ(drawn.code, expected.code);
    }
  }
}

TEST(LevelTable, FindsAndDrawsAsTheLevelsDo) {
  for (const bool missing : {false, true}) {
    expect_same(levels_with({3, 10, 10.5, 40}, {{1, 5}, {6, 9, 10}, {11, 30}, {31, 49}}, false, missing));
    expect_same(levels_with({3, 10, 40}, {{1, 5}, {6, 9, 9, 12}, {31, 49}}, true, missing));
    expect_same(levels_with({}, {{1, 5}, {5, 9}}, false, missing));
    expect_same(levels_with({}, {{1, 5, 9}}, true, missing));
    expect_same(levels_with({2, 4, 30.5}, {}, true, missing));  // the nearest one
    expect_same(levels_with({7}, {}, false, missing));
    // So many that they are looked for in buckets, and so close that they are not.
    const std::vector<std::vector<double>> bins{{1, 5}, {6, 9, 10}, {11, 20}, {20, 30}, {31, 45}, {46, 49}};
    expect_same(levels_with({0, 3, 10, 10.5, 11, 27, 30, 40, 50}, bins, true, missing));
    expect_same(levels_with({0, 3, 10, 10.5, 11, 27, 30, 40, 50}, {}, true, missing));
    expect_same(levels_with({3, 3.5, 4, 4 + 1e-3, 4 + 2e-3, 4 + 3e-3, 4 + 4e-3, 30}, bins, false, missing));
  }
}

}  // namespace
}  // namespace ppan
