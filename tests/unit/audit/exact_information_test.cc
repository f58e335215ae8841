#include "ppan/audit/exact_information.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/worlds/symmetric_pair_world.h"

namespace ppan {
namespace {

TEST(ExactInformation, SaysThatItIsExact) {
  const Estimate estimate = exact_information((Matrix<double>(2, 2) << 0.45, 0.05, 0.05, 0.45).finished());
  EXPECT_NEAR(estimate.nats, 0.368064207168497070, 1e-15);  // mpmath: log 2 - h2(0.1)
  EXPECT_EQ(estimate.bound, Bound::kExact);
  EXPECT_FALSE(estimate.interval95);
  EXPECT_EQ(estimate.samples, 0);
}

TEST(ExactInformation, ScoresAMechanism) {
  const SymmetricPairWorld world{{5, 0.3}, Observation::kUsefulOnly};
  Matrix<double> flip = Matrix<double>::Constant(5, 5, 0.2 / 4);
  flip.diagonal().setConstant(0.8);
  EXPECT_NEAR(exact_information(world.distribution().wx, flip).nats, world.optimum(0.2), 1e-14);
  EXPECT_NEAR(exact_information(world.distribution().wx, Matrix<double>::Constant(5, 2, 0.5)).nats, 0, 1e-15);
}

TEST(ExactInformation, RefusesWhatIsNotAPmf) {
  const Matrix<double> half = Matrix<double>::Constant(2, 2, 0.25);
  EXPECT_THROW(exact_information(half * 0.9), Error);
  EXPECT_THROW(exact_information((Matrix<double>(1, 2) << 1.5, -0.5).finished()), Error);
  EXPECT_THROW(exact_information((Matrix<double>(1, 2) << 1, NAN).finished()), Error);
  EXPECT_THROW(exact_information(Matrix<double>()), Error);
  EXPECT_THROW(exact_information(half, half), Error);                            // rows sum to 1/2
  EXPECT_THROW(exact_information(half, Matrix<double>::Identity(3, 3)), Error);  // rows do not fit
}

}  // namespace
}  // namespace ppan
