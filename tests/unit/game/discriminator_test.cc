#include "ppan/game/discriminator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/game/softmax.h"
#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::flatten;
using testing::random_matrix;
using testing::random_vector;
using testing::unflatten;

constexpr Index kRecords = 4;
constexpr Index kDraws = 3;
constexpr Index kWidth = 2;
constexpr double kGamma = 1.7;

class DiscriminatorTest : public ::testing::Test {
 protected:
  DiscriminatorTest() : discriminator_({.weight = kGamma, .hidden = {5}}, kWidth) {
    SeededRandom random(51);
    discriminator_.initialise(random);
    discriminator_.parameters() += 0.3 * random_vector(random, discriminator_.parameters().size());
    useful_ = random_matrix(random, kRecords, kWidth);
    draws_.records = kRecords;
    draws_.per_record = kDraws;
    draws_.weights_learned = true;
    draws_.released = random_matrix(random, kRecords * kDraws, kWidth);
    softmax_rows(random_matrix(random, kRecords, kDraws), draws_.weight);
  }

  Discriminator<double> discriminator_;
  Matrix<double> useful_;
  Draws<double> draws_;
};

TEST(Discriminator, ObjectiveByHand) {
  // D(v) = sigmoid(v): one input, no hidden layer, weight 1, bias 0.
  Discriminator<double> discriminator({.weight = 2}, 1);
  discriminator.parameters() << 1, 0;
  Draws<double> draws;
  draws.set_equal_weights(2, 1);
  draws.released.resize(2, 1);
  draws.released << 0.5, -1;
  Matrix<double> useful(2, 1);
  useful << 3, 0;
  const auto log_d = [](double v) { return -std::log1p(std::exp(-v)); };
  Vector<double> gradient;
  EXPECT_NEAR(discriminator.evaluate(draws, useful, gradient),
              2 * ((log_d(0.5) + log_d(-1)) / 2 + (log_d(-3) + log_d(0)) / 2), 1e-14);
  DrawsGradient<double> draws_gradient;
  EXPECT_NEAR(discriminator.evaluate_release(draws, draws_gradient), 2 * (log_d(0.5) + log_d(-1)) / 2, 1e-14);
}

TEST_F(DiscriminatorTest, ParameterGradientMatchesDifferences) {
  Vector<double> gradient;
  discriminator_.evaluate(draws_, useful_, gradient);
  const Vector<double> point = discriminator_.parameters();
  Vector<double> unused;
  testing::expect_gradient_matches(
      [&](const Vector<double>& p) {
        discriminator_.parameters() = p;
        return discriminator_.evaluate(draws_, useful_, unused);
      },
      gradient, point);
}

TEST_F(DiscriminatorTest, GradientInTheReleaseMatchesDifferences) {
  DrawsGradient<double> gradient;
  discriminator_.evaluate_release(draws_, gradient);
  ASSERT_TRUE(gradient.has_released);
  const Matrix<double> alone = gradient.released;
  const Matrix<double> point = draws_.released;
  const auto f = [&](const Vector<double>& p) {
    draws_.released = unflatten(p, point.rows(), point.cols());
    DrawsGradient<double> unused;
    return discriminator_.evaluate_release(draws_, unused);
  };
  testing::expect_gradient_matches(f, flatten(alone), flatten(point));
  draws_.released = point;
  discriminator_.evaluate_release(draws_, gradient);  // adds to what is there
  EXPECT_LT((gradient.released - 2 * alone).cwiseAbs().maxCoeff(), 1e-14);
}

TEST_F(DiscriminatorTest, GradientInTheWeightsMatchesDifferences) {
  DrawsGradient<double> gradient;
  discriminator_.evaluate_release(draws_, gradient);
  gradient.weight = Matrix<double>::Constant(kRecords, kDraws, 0.25);  // what others left there
  discriminator_.add_weight_gradient(gradient);
  const Matrix<double> point = draws_.weight;
  const auto f = [&](const Vector<double>& p) {
    draws_.weight = unflatten(p, kRecords, kDraws);
    DrawsGradient<double> unused;
    return discriminator_.evaluate_release(draws_, unused);
  };
  testing::expect_gradient_matches(f, flatten((gradient.weight.array() - 0.25).matrix()), flatten(point));
}

TEST(Discriminator, StaysFiniteWhenItIsCertain) {
  Discriminator<float> discriminator({.weight = 1}, 1);
  discriminator.parameters() << 1, 0;
  Draws<float> draws;
  draws.set_equal_weights(1, 1);
  draws.released = Matrix<float>::Constant(1, 1, -500.0F);
  Vector<float> gradient;
  const Matrix<float> useful = Matrix<float>::Constant(1, 1, 500.0F);
  EXPECT_FLOAT_EQ(static_cast<float>(discriminator.evaluate(draws, useful, gradient)), -1000.0F);
  EXPECT_TRUE(gradient.allFinite());
}

TEST(Discriminator, EveryProblemIsListed) {
  const DiscriminatorOptions bad{.weight = -1, .hidden = {0}};
  std::vector<std::string> fields;
  for (const Problem& p : bad.check()) fields.push_back(p.field);
  EXPECT_THAT(fields, ::testing::ElementsAre("weight", "hidden"));
  EXPECT_THROW(Discriminator<double>(bad, 1), Error);
}

}  // namespace
}  // namespace ppan
