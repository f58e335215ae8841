#include "ppan/theory/cell_shrinkage.h"

#include <gtest/gtest.h>

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/core/random.h"

namespace ppan::theory {
namespace {

// Counts of independent draws from `cells`, laid out as they are.
Matrix<double> counts_of(const Matrix<double>& cells, int draws, std::uint64_t seed) {
  SeededRandom random(seed);
  Matrix<double> out = Matrix<double>::Zero(cells.rows(), cells.cols());
  for (int i = 0; i < draws; ++i) {
    double u = random.uniform() * cells.sum();
    Index c = 0;
    while (c + 1 < cells.size() && (u -= cells(c)) >= 0) ++c;
    out(c) += 1;
  }
  return out;
}

// Two kinds of cells, as in a symmetric pair.
Matrix<double> two_kinds() {
  Matrix<double> cells = Matrix<double>::Constant(10, 10, 0.4 / 90);
  cells.diagonal().setConstant(0.06);
  return cells;
}

double error_of(const Matrix<double>& counts, const Matrix<double>& truth) {
  const Matrix<double> p = counts / counts.sum();
  return ((p - truth).array().square() / truth.array()).sum();
}

TEST(CellShrinkage, CellsOfOneKindShareTheirRecords) {
  // Relative frequencies have an expected error of 99 / 1000 in this measure; that of two shares known to be
  // shared would be 1 / 1000.
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Matrix<double> counts = counts_of(two_kinds(), 1000, seed);
    const double plain = error_of(counts, two_kinds());
    EXPECT_GT(plain, 0.05);
    EXPECT_LT(error_of(shrunken_counts(counts), two_kinds()), 0.25 * plain) << seed;
  }
}

TEST(CellShrinkage, CellsThatDifferBeyondChanceStayAsTheyAre) {
  Matrix<double> counts(1, 6);
  counts << 10, 100, 400, 900, 1600, 2500;
  const Matrix<double> shrunken = shrunken_counts(counts);
  for (Index c = 0; c < counts.size(); ++c)
    EXPECT_NEAR(shrunken(c), counts(c), 1.5 * std::sqrt(counts(c))) << c;
}

TEST(CellShrinkage, KeepsSumShapeAndOrder) {
  const Matrix<double> counts = counts_of(two_kinds(), 300, 4);
  const Matrix<double> shrunken = shrunken_counts(counts);
  ASSERT_EQ(shrunken.rows(), 10);
  ASSERT_EQ(shrunken.cols(), 10);
  EXPECT_NEAR(shrunken.sum(), counts.sum(), 1e-9);
  EXPECT_GT(shrunken.minCoeff(), 0);  // a cell that was not seen may yet come
  for (Index a = 0; a < counts.size(); ++a) {
    for (Index b = 0; b < counts.size(); ++b) {
      if (counts(a) < counts(b)) {
        EXPECT_LE(shrunken(a), shrunken(b) + 1e-12);
      }
      if (counts(a) == counts(b)) {
        EXPECT_NEAR(shrunken(a), shrunken(b), 1e-12);
      }
    }
  }
}

TEST(CellShrinkage, NothingComesOfNothingAndBadCountsAreRefused) {
  EXPECT_EQ(shrunken_counts(Matrix<double>::Zero(2, 3)), Matrix<double>::Zero(2, 3));
  EXPECT_THROW(shrunken_counts(Matrix<double>::Constant(2, 2, -1)), Error);
  EXPECT_THROW(shrunken_counts(Matrix<double>::Constant(2, 2, NAN)), Error);
}

}  // namespace
}  // namespace ppan::theory
