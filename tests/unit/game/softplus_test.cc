#include "ppan/game/softplus.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ppan {
namespace {

TEST(Softplus, MatchesTheFormulaAndDoesNotOverflow) {
  Eigen::ArrayXd values(7);
  values << -800, -30, -1, 0, 2, 30, 800;
  const Eigen::ArrayXd before = values;
  softplus(values);
  EXPECT_EQ(values[0], 0);
  for (Eigen::Index i = 1; i < 6; ++i) EXPECT_NEAR(values[i], std::log1p(std::exp(before[i])), 1e-14);
  EXPECT_EQ(values[6], 800);
}

TEST(Softplus, SlopeWrittenInTheValueIsTheSigmoid) {
  Eigen::ArrayXd values(5);
  values << -20, -1, 0, 2, 40;
  const Eigen::ArrayXd before = values;
  softplus(values);
  const Eigen::ArrayXd slope = softplus_slope(values);
  for (Eigen::Index i = 0; i < 5; ++i) EXPECT_NEAR(slope[i], 1 / (1 + std::exp(-before[i])), 1e-14);
}

}  // namespace
}  // namespace ppan
