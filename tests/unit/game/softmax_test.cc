#include "ppan/game/softmax.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::flatten;
using testing::random_matrix;
using testing::unflatten;

TEST(Softmax, MatchesTheFormulaInBlocksOfRows) {
  SeededRandom random(61);
  for (const Index rows : {1, 7, 63, 64, 65, 200}) {  // rows are handled 64 at a time
    const Matrix<double> logits = 3 * random_matrix(random, rows, 5);
    Matrix<double> p;
    Matrix<double> log_p;
    softmax_rows(logits, p);
    log_softmax_rows(logits, log_p);
    for (Index i = 0; i < rows; ++i) {
      double total = 0;
      for (Index k = 0; k < 5; ++k) total += std::exp(logits(i, k));
      for (Index k = 0; k < 5; ++k) {
        ASSERT_NEAR(p(i, k), std::exp(logits(i, k)) / total, 1e-14) << i << ", " << k << " of " << rows;
        ASSERT_NEAR(log_p(i, k), logits(i, k) - std::log(total), 1e-13) << i << ", " << k << " of " << rows;
      }
    }
  }
}

TEST(Softmax, MayWriteOverItsInput) {
  SeededRandom random(62);
  Matrix<double> logits = random_matrix(random, 70, 4);
  Matrix<double> apart;
  softmax_rows(logits, apart);
  softmax_rows(logits, logits);
  EXPECT_EQ(logits, apart);
}

TEST(Softmax, IsStableForLargeLogits) {
  Matrix<float> logits(2, 3);
  logits << 1e4F, 1e4F, -1e4F, -3e4F, -2e4F, -2e4F;
  Matrix<float> p;
  softmax_rows(logits, p);
  EXPECT_FLOAT_EQ(p(0, 0), 0.5F);
  EXPECT_EQ(p(0, 2), 0.0F);
  EXPECT_FLOAT_EQ(p(1, 1), 0.5F);
  Matrix<float> log_p;
  log_softmax_rows(logits, log_p);
  EXPECT_FLOAT_EQ(log_p(0, 2), -2e4F - std::log(2.0F));
  EXPECT_TRUE(log_p.allFinite());
}

TEST(Softmax, BackwardMatchesDifferences) {
  SeededRandom random(63);
  const Matrix<double> logits = random_matrix(random, 66, 3);
  const Matrix<double> d_p = random_matrix(random, 66, 3);
  Matrix<double> p;
  softmax_rows(logits, p);
  Matrix<double> d_logits;
  softmax_rows_backward(p, d_p, d_logits);
  const auto f = [&](const Vector<double>& at) {
    Matrix<double> q;
    softmax_rows(unflatten(at, 66, 3), q);
    return q.cwiseProduct(d_p).sum();
  };
  testing::expect_gradient_matches(f, flatten(d_logits), flatten(logits));
}

}  // namespace
}  // namespace ppan
