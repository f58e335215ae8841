#include "ppan/game/distortion.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/gradient_check.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using testing::flatten;
using testing::random_finite;
using testing::random_matrix;
using testing::random_real;
using testing::random_vector;
using testing::unflatten;

constexpr Index kRecords = 4;
constexpr Index kDraws = 3;

Draws<double> draws_of(const Matrix<double>& released) {
  Draws<double> draws;
  draws.set_equal_weights(kRecords, kDraws);
  draws.released = released;
  return draws;
}

Draws<double> draws_of_logits(const Matrix<double>& logit) {
  Draws<double> draws = draws_of(logit.array().logistic().matrix());
  draws.has_logit = true;
  draws.logit = logit;
  return draws;
}

// The gradient in what is released, once on its own and once on top of what another part left there.
void expect_released_gradient(Distortion<double>& distortion, const Attribute<double>& useful,
                              const Matrix<double>& released) {
  SeededRandom random(41);
  const Matrix<double> d_value = random_matrix(random, kRecords, kDraws);
  Matrix<double> value;
  const auto f = [&](const Vector<double>& p) {
    distortion.evaluate(draws_of(unflatten(p, released.rows(), released.cols())), useful, value);
    return value.cwiseProduct(d_value).sum();
  };
  const Draws<double> draws = draws_of(released);
  distortion.evaluate(draws, useful, value);
  DrawsGradient<double> gradient;
  distortion.backward(draws, useful, d_value, gradient);
  ASSERT_TRUE(gradient.has_released);
  EXPECT_FALSE(gradient.has_seen);
  const Matrix<double> alone = gradient.released;
  testing::expect_gradient_matches(f, flatten(alone), flatten(released));

  const Matrix<double> before = random_matrix(random, released.rows(), released.cols());
  gradient.clear();
  gradient.add_released(before);
  distortion.evaluate(draws, useful, value);
  distortion.backward(draws, useful, d_value, gradient);
  EXPECT_LT((gradient.released - before - alone).cwiseAbs().maxCoeff(), 1e-13);
}

TEST(SquaredDistortion, SumsOverComponents) {
  const auto distortion = make_distortion<double>(DistortionKind::kSquared, {}, 2, {});
  Attribute<double> useful;
  useful.value = Matrix<double>::Zero(kRecords, 2);
  useful.value(1, 0) = 1;
  useful.value(1, 1) = -2;
  Matrix<double> released = Matrix<double>::Zero(kRecords * kDraws, 2);
  released.row(2 * kRecords + 1) << 4, 2;  // draw 2 of record 1
  Matrix<double> value;
  distortion->evaluate(draws_of(released), useful, value);
  EXPECT_EQ(value(0, 0), 0);
  EXPECT_DOUBLE_EQ(value(1, 0), 1 + 4);
  EXPECT_DOUBLE_EQ(value(1, 2), 9 + 16);
}

TEST(SquaredDistortion, GradientMatchesDifferences) {
  SeededRandom random(42);
  const auto distortion = make_distortion<double>(DistortionKind::kSquared, {}, 2, {});
  expect_released_gradient(*distortion, random_real(random, kRecords, 2),
                           random_matrix(random, kRecords * kDraws, 2));
}

TEST(ErrorDistortion, OfAnAlphabetIsOneExceptAtTheSymbol) {
  const auto distortion = make_distortion<double>(DistortionKind::kError, {}, 3, {});
  const Attribute<double> useful{.code = {2, 0, 1, 1}, .levels = 3};
  Draws<double> draws;
  draws.records = kRecords;
  draws.per_record = 3;
  draws.shared = true;
  draws.released.setIdentity(3, 3);
  Matrix<double> value;
  distortion->evaluate(draws, useful, value);
  Matrix<double> expected(kRecords, 3);
  expected << 1, 1, 0, 0, 1, 1, 1, 0, 1, 1, 0, 1;
  EXPECT_EQ(value, expected);
  DrawsGradient<double> gradient;
  distortion->backward(draws, useful, value, gradient);
  EXPECT_FALSE(gradient.has_released);
}

TEST(ErrorDistortion, GradientOfSoftSymbolsMatchesDifferences) {
  SeededRandom random(43);
  const auto distortion = make_distortion<double>(DistortionKind::kError, {}, 3, {});
  expect_released_gradient(*distortion, random_finite(random, kRecords, 3),
                           random_matrix(random, kRecords * kDraws, 3));
}

TEST(MatrixDistortion, LooksUpSymbolsAndWeighsSoftOnes) {
  SeededRandom random(47);
  Matrix<double> matrix(3, 4);
  matrix << 0, 1, 2, 3, 1, 0, 1, 2, 5, 4, 3, 2;
  const auto distortion = make_matrix_distortion<double>(matrix);
  const auto useful = random_finite(random, kRecords, 3);
  Draws<double> draws;
  draws.records = kRecords;
  draws.per_record = 4;
  draws.shared = true;
  draws.released.setIdentity(4, 4);
  Matrix<double> value;
  distortion->evaluate(draws, useful, value);
  for (Index i = 0; i < kRecords; ++i)
    EXPECT_EQ(value.row(i), matrix.row(useful.code[static_cast<std::size_t>(i)]));
  expect_released_gradient(*distortion, useful, random_matrix(random, kRecords * kDraws, 4));
}

TEST(PixelCrossEntropy, IsTheMeanOverPixels) {
  const auto distortion = make_distortion<double>(DistortionKind::kPixelCrossEntropy, {}, 2, {});
  SeededRandom random(44);
  Attribute<double> useful;
  useful.value.resize(kRecords, 2);
  useful.value << 0, 1, 0.25, 0.5, 1, 1, 0.1, 0.9;
  const Matrix<double> logit = random_matrix(random, kRecords * kDraws, 2);
  const Draws<double> draws = draws_of_logits(logit);
  Matrix<double> value;
  distortion->evaluate(draws, useful, value);
  for (Index i = 0; i < kRecords; ++i) {
    for (Index k = 0; k < kDraws; ++k) {
      double sum = 0;
      for (Index c = 0; c < 2; ++c) {
        const double y = useful.value(i, c);
        const double z = draws.released(k * kRecords + i, c);
        sum -= y * std::log(z) + (1 - y) * std::log(1 - z);
      }
      EXPECT_NEAR(value(i, k), sum / 2, 1e-13);
    }
  }
}

TEST(Distortion, UnchangedCostsTheEntropyOfTheImageAndNothingElsewhere) {
  Attribute<float> useful;
  useful.value.resize(2, 2);
  useful.value << 0, 1, 0.25, 0.5;
  Vector<float> value;
  make_distortion<float>(DistortionKind::kPixelCrossEntropy, {}, 2, {})->unchanged(useful, value);
  EXPECT_EQ(value[0], 0);
  EXPECT_NEAR(value[1], (0.25 * std::log(4.0) + 0.75 * std::log(4.0 / 3) + std::log(2.0)) / 2, 1e-6);
  make_distortion<float>(DistortionKind::kSquared, {}, 2, {})->unchanged(useful, value);
  EXPECT_EQ(value, Vector<float>::Zero(2));
}

TEST(PixelCrossEntropy, StaysFiniteOnSaturatedPixels) {
  const auto distortion = make_distortion<float>(DistortionKind::kPixelCrossEntropy, {}, 1, {});
  Attribute<float> useful;
  useful.value.resize(2, 1);
  useful.value << 0, 1;
  Draws<float> draws;
  draws.set_equal_weights(2, 1);
  draws.has_logit = true;
  draws.logit.resize(2, 1);
  draws.logit << 200, -300;  // sigmoid is exactly 1 and 0 in float
  draws.released = draws.logit.array().logistic().matrix();
  Matrix<float> value;
  distortion->evaluate(draws, useful, value);
  EXPECT_FLOAT_EQ(value(0, 0), 200);
  EXPECT_FLOAT_EQ(value(1, 0), 300);
}

TEST(PixelCrossEntropy, GradientInTheLogitsMatchesDifferences) {
  const auto distortion = make_distortion<double>(DistortionKind::kPixelCrossEntropy, {}, 3, {});
  SeededRandom random(45);
  Attribute<double> useful;
  useful.value = random_matrix(random, kRecords, 3).array().logistic().matrix();
  const Matrix<double> logit = 2 * random_matrix(random, kRecords * kDraws, 3);
  const Matrix<double> d_value = random_matrix(random, kRecords, kDraws);
  Matrix<double> value;
  const auto f = [&](const Vector<double>& p) {
    distortion->evaluate(draws_of_logits(unflatten(p, logit.rows(), logit.cols())), useful, value);
    return value.cwiseProduct(d_value).sum();
  };
  DrawsGradient<double> gradient;
  const Draws<double> draws = draws_of_logits(logit);
  distortion->evaluate(draws, useful, value);
  distortion->backward(draws, useful, d_value, gradient);
  ASSERT_TRUE(gradient.has_logit);
  EXPECT_FALSE(gradient.has_released);
  testing::expect_gradient_matches(f, flatten(gradient.logit), flatten(logit));
}

class InformationDistortion : public ::testing::TestWithParam<bool> {};  // finite Y?

TEST_P(InformationDistortion, IsMinusTheLearnersScore) {
  SeededRandom random(46);
  const auto useful = GetParam() ? random_finite(random, kRecords, 3) : random_real(random, kRecords, 2);
  const PosteriorOptions options{.hidden = {4}, .activation = Activation::kTanh};
  const auto distortion = make_distortion<double>(DistortionKind::kInformation, options, 2, useful);
  ASSERT_NE(distortion->learner(), nullptr);
  distortion->learner()->initialise(random);
  const Matrix<double> released = random_matrix(random, kRecords * kDraws, 2);
  Matrix<double> value;
  distortion->evaluate(draws_of(released), useful, value);
  EXPECT_EQ(value, -distortion->learner()->score(released, false, kDraws, {useful}));
}

TEST_P(InformationDistortion, GradientsMatchDifferences) {
  SeededRandom random(47);
  const auto useful = GetParam() ? random_finite(random, kRecords, 3) : random_real(random, kRecords, 2);
  const PosteriorOptions options{.hidden = {4}, .activation = Activation::kTanh};
  const auto distortion = make_distortion<double>(DistortionKind::kInformation, options, 2, useful);
  Vector<double>& parameters = distortion->learner()->parameters();
  parameters = 0.5 * random_vector(random, parameters.size());
  const Matrix<double> released = random_matrix(random, kRecords * kDraws, 2);
  expect_released_gradient(*distortion, useful, released);

  const Matrix<double> d_value = random_matrix(random, kRecords, kDraws);
  const Draws<double> draws = draws_of(released);
  Matrix<double> value;
  distortion->evaluate(draws, useful, value);
  Vector<double> gradient;
  distortion->learner_backward(draws, useful, d_value, gradient);
  const Vector<double> point = parameters;
  testing::expect_gradient_matches(
      [&](const Vector<double>& p) {
        parameters = p;
        distortion->evaluate(draws, useful, value);
        return value.cwiseProduct(d_value).sum();
      },
      gradient, point);
}

INSTANTIATE_TEST_SUITE_P(FiniteAndReal, InformationDistortion, ::testing::Bool());

TEST(Distortion, OnlyTheLearnedOneHasALearner) {
  for (const auto kind :
       {DistortionKind::kError, DistortionKind::kSquared, DistortionKind::kPixelCrossEntropy}) {
    EXPECT_EQ(make_distortion<double>(kind, {}, 2, {})->learner(), nullptr) << to_string(kind);
  }
}

}  // namespace
}  // namespace ppan
