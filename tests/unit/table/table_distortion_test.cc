#include "ppan/table/table_distortion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "support/random_values.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;
using testing::flatten;
using testing::random_matrix;
using testing::unflatten;

constexpr Index kRecords = 8;

struct Case {
  EncodedTable table = encoded(testing::mixed_csv(60, 0.3, 3), testing::mixed_schema());
  Layout layout;
  Attribute<double> useful;
  Case() {
    table.encoding.columns[1].weight = 3;  // columns need not weigh the same
    layout = make_layout(table.encoding, table.encoding.indices_of(table.schema.useful));
    Matrix<double> all;
    to_matrix(table.rows, layout, all);
    useful.value = all.topRows(kRecords);
    useful.value(0, layout.width - 1) = 1;  // a missing number, whatever the draw of the table
    useful.value(0, layout.width - 2) = 0;
    useful.value(1, layout.width - 1) = 0;
  }
};

Draws<double> draws_of(const Matrix<double>& released, Index per_record) {
  Draws<double> draws;
  draws.set_equal_weights(released.rows() / per_record, per_record);
  draws.released = released;
  return draws;
}

class TableDistortionGradient : public ::testing::TestWithParam<CategoryCost> {};

TEST_P(TableDistortionGradient, MatchesDifferences) {
  const Case c;
  TableDistortion<double> distortion(c.layout, GetParam());
  for (const Index per_record : {1, 2}) {
    SeededRandom random(17);
    const Matrix<double> released = random_matrix(random, kRecords * per_record, c.layout.width);
    const Matrix<double> d_value = random_matrix(random, kRecords, per_record);
    Matrix<double> value;
    const auto f = [&](const Vector<double>& p) {
      distortion.evaluate(draws_of(unflatten(p, released.rows(), released.cols()), per_record), c.useful,
                          value);
      return value.cwiseProduct(d_value).sum();
    };
    const Draws<double> draws = draws_of(released, per_record);
    distortion.evaluate(draws, c.useful, value);
    DrawsGradient<double> gradient;
    distortion.backward(draws, c.useful, d_value, gradient);
    ASSERT_TRUE(gradient.has_released);
    const Matrix<double> alone = gradient.released;
    testing::expect_gradient_matches(f, flatten(alone), flatten(released));
    distortion.evaluate(draws, c.useful, value);              // the differences have moved what it keeps
    distortion.backward(draws, c.useful, d_value, gradient);  // adds to what is there
    EXPECT_TRUE(gradient.released.isApprox(2 * alone));
  }
}

INSTANTIATE_TEST_SUITE_P(Costs, TableDistortionGradient,
                         ::testing::Values(CategoryCost::kError, CategoryCost::kCrossEntropy));

TEST(TableDistortion, IsTheWeightedMeanOfItsColumns) {
  const Case c;  // colour weighs 3, shape 1, size 1
  TableDistortion<double> distortion(c.layout);
  // Heads that are certain of the truth cost nothing.
  Matrix<double> sure = 60 * c.useful.value.array() - 30;
  sure.col(c.layout.width - 2) = c.useful.value.col(c.layout.width - 2);
  Matrix<double> value;
  distortion.evaluate(draws_of(sure, 1), c.useful, value);
  EXPECT_NEAR(value.maxCoeff(), 0, 1e-9);

  Matrix<double> wrong = sure;
  wrong.leftCols(3) = -wrong.leftCols(3);  // two wrong colours share the probability
  distortion.evaluate(draws_of(wrong, 1), c.useful, value);
  EXPECT_NEAR(value.minCoeff(), 0.6, 1e-9);

  Matrix<double> off = sure;
  off.col(c.layout.width - 2).array() += 2;  // two standard deviations
  distortion.evaluate(draws_of(off, 1), c.useful, value);
  EXPECT_NEAR(value(0, 0), 0, 1e-9);    // missing stays missing
  EXPECT_NEAR(value(1, 0), 0.8, 1e-9);  // 4 variances, a fifth of the weight

  Matrix<double> vanished = sure;
  vanished.col(c.layout.width - 1).setConstant(30);
  distortion.evaluate(draws_of(vanished, 1), c.useful, value);
  EXPECT_NEAR(value(1, 0), 0.2, 1e-9);
}

TEST(CellDistortion, CountsTheColumnsThatDiffer) {
  const Case c;
  const std::vector<std::int32_t> columns =
      c.table.encoding.indices_of(std::vector<std::string>{"colour", "shape"});
  const Matrix<double> d = cell_distortion<double>(c.table.encoding, columns);
  ASSERT_EQ(d.rows(), 12);
  for (Index y = 0; y < 12; ++y) {
    for (Index z = 0; z < 12; ++z) {
      const double colour = y / 4 != z / 4 ? 0.75 : 0;
      const double shape = y % 4 != z % 4 ? 0.25 : 0;
      EXPECT_NEAR(d(y, z), colour + shape, 1e-12);
    }
  }
  CellDistortion<double> distortion(d);
  Draws<double> draws;
  draws.records = 2;
  draws.per_record = 12;
  draws.shared = true;
  Attribute<double> y;
  y.levels = 12;
  y.code = {0, 7};
  Matrix<double> value;
  distortion.evaluate(draws, y, value);
  EXPECT_EQ(value(0, 0), 0);
  EXPECT_NEAR(value(1, 6), 0.25, 1e-12);
}

TEST(Heads, GiveTheLikeliestLevelTheValueAndMissing) {
  const Case c;
  Matrix<float> output = Matrix<float>::Zero(2, c.layout.width);
  output(0, 2) = 1;                      // colour 2
  output(1, 3) = 1;                      // shape 0
  output(0, c.layout.width - 2) = 0.5F;  // size
  output(0, c.layout.width - 1) = -0.1F;
  output(1, c.layout.width - 2) = 9;
  output(1, c.layout.width - 1) = 0.1F;  // more likely missing than not
  EncodedRows rows;
  read_heads<float>(output, c.layout, rows);
  ASSERT_EQ(rows.columns.size(), 3U);
  EXPECT_EQ(rows.columns[0].code, (Symbols{2, 0}));
  EXPECT_EQ(rows.columns[1].code, (Symbols{0, 0}));
  EXPECT_EQ(rows.columns[2].code, (Symbols{0, 1}));
  EXPECT_EQ(rows.columns[2].value, (std::vector<double>{0.5, 0}));
}

}  // namespace
}  // namespace ppan
