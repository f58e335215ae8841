#include "ppan/table/feature_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ppan/core/random.h"
#include "ppan/model/codebook.h"
#include "ppan/table/codebook_training.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

// A category, a number at a spike in half of the rows, and one that is missing in some and far out in one.
EncodedTable mixed_table() {
  SeededRandom random(4);
  std::string csv = "x,colour,hours,pay\n";
  const std::vector<std::string> colours{"red", "green", "blue"};
  for (int r = 0; r < 300; ++r) {
    const Index hours = random.uniform() < 0.5 ? 40 : 10 + random.index(60);
    const std::string pay = r == 7                   ? "99999"
                            : random.uniform() < 0.1 ? ""
                                                     : fmt::format("{:.2f}", 100 * random.uniform());
    csv += fmt::format("{},{},{},{}\n", r % 2 == 0 ? "yes" : "no",
                       colours[static_cast<std::size_t>(random.index(3))], hours, pay);
  }
  Schema schema;
  schema.columns = {testing::category("x"),
                    testing::category("colour"),
                    {.name = "hours", .type = ColumnType::kInteger},
                    testing::real("pay")};
  schema.sensitive = {"x"};
  schema.useful = {"colour", "hours", "pay"};
  return encoded(csv, schema);
}

TEST(FeatureRows, AreTheFeaturesOfTheRowsAskedFor) {
  const EncodedTable table = mixed_table();
  const Layout layout =
      make_layout(table.encoding, table.encoding.indices_of(table.schema.observed_columns()));
  const CodebookShape shape = coded_shape(table.rows, table.schema, table.encoding, LevelOptions{}, 5);
  Matrix<float> plain;
  codebook_features(table.rows, table.encoding, layout, shape.observed, plain);
  ASSERT_GT(plain.cols(), layout.width);          // there is a spike,
  ASSERT_EQ(plain.maxCoeff(), kFarthestFeature);  // something to clip,
  ASSERT_EQ(layout.width, 6);                     // and a column of what is missing
  const FeatureRows rows(table.rows, table.encoding, layout, shape.observed);
  EXPECT_EQ(rows.rows(), 300);
  EXPECT_EQ(rows.cols(), plain.cols());
  EXPECT_EQ(rows.all(), plain);
  const std::vector<std::int32_t> which{7, 0, 299, 7};
  Matrix<float> some = Matrix<float>::Constant(9, 9, 3);  // what was there goes
  rows.gather(which, some);
  ASSERT_EQ(some.rows(), 4);
  for (std::size_t i = 0; i < which.size(); ++i)
    EXPECT_EQ(some.row(static_cast<Index>(i)), plain.row(which[i]));
}

TEST(FeatureRows, NoneHaveNone) {
  const FeatureRows none;
  EXPECT_EQ(none.rows(), 0);
  EXPECT_EQ(none.all().size(), 0);
}

}  // namespace
}  // namespace ppan
