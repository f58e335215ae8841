#include "ppan/trade_off/row_order.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "ppan/core/random.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Schema secret() {
  Schema schema;
  schema.sensitive = {"x"};
  schema.useful = {"y"};
  return schema;
}

Table with_category(std::int64_t rows, std::uint64_t seed, double drift) {
  SeededRandom random(seed);
  Table table;
  table.rows = rows;
  TableColumn column;
  column.name = "x";
  column.level = {"no", "yes", "perhaps"};
  for (std::int64_t i = 0; i < rows; ++i) {
    const double late = drift * (static_cast<double>(i) / static_cast<double>(rows) - 0.5);
    const double u = random.uniform();
    column.code.push_back(u < 0.5 + late ? 1 : u < 0.9 ? 0 : 2);
  }
  table.columns.push_back(column);
  return table;
}

Table with_number(std::int64_t rows, std::uint64_t seed, bool sorted) {
  SeededRandom random(seed);
  Table table;
  table.rows = rows;
  TableColumn column;
  column.name = "x";
  column.type = ColumnType::kInteger;
  for (std::int64_t i = 0; i < rows; ++i) column.number.push_back(static_cast<double>(random.index(30)));
  if (sorted) std::sort(column.number.begin(), column.number.end());
  table.columns.push_back(column);
  return table;
}

TEST(RowOrder, ASortedTableIsNamed) {
  const auto found = row_order_notices(with_number(2000, 1, true), secret());
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_THAT(found[0], HasSubstr("the order of the rows is informative about \"x\""));
  EXPECT_THAT(row_order_notices(with_category(4000, 1, 0.5), secret()), SizeIs(1));
}

TEST(RowOrder, AShuffledTableIsNot) {
  int accused = 0;
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    accused += static_cast<int>(row_order_notices(with_category(1200, seed, 0), secret()).size());
    accused += static_cast<int>(row_order_notices(with_number(600, seed, false), secret()).size());
  }
  EXPECT_LE(accused, 1);  // 1,000 tables at less than 1 in 10,000
}

TEST(RowOrder, FewRowsSayNothing) {
  EXPECT_THAT(row_order_notices(with_number(12, 1, true), secret()), IsEmpty());
}

}  // namespace
}  // namespace ppan
