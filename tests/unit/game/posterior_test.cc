#include "ppan/game/posterior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <numbers>
#include <string>

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

constexpr Index kRecords = 5;
constexpr Index kSeenWidth = 3;

double log_normal(double x, double mean, double log_variance) {
  return -0.5 *
         (std::log(2 * std::numbers::pi) + log_variance + (x - mean) * (x - mean) / std::exp(log_variance));
}

enum class Attributes { kFinite, kReal, kFiniteThenReal, kRealThenFiniteThenFinite, kRealOfThree };

std::vector<Attribute<double>> make_attributes(Attributes which, RandomSource& random) {
  switch (which) {
    case Attributes::kFinite:
      return {random_finite(random, kRecords, 4)};
    case Attributes::kReal:
      return {random_real(random, kRecords, 2)};
    case Attributes::kFiniteThenReal:
      return {random_finite(random, kRecords, 3), random_real(random, kRecords, 2)};
    case Attributes::kRealThenFiniteThenFinite:
      return {random_real(random, kRecords, 1), random_finite(random, kRecords, 3),
              random_finite(random, kRecords, 2)};
    case Attributes::kRealOfThree:
      return {random_real(random, kRecords, 3)};
  }
  return {};
}

// attributes, shared, draws, hidden layers; with a direct path, standardised inputs and full covariances
using Case = std::tuple<Attributes, bool, Index, int, bool>;
class PosteriorGradient : public ::testing::TestWithParam<Case> {};

TEST_P(PosteriorGradient, MatchesDifferences) {
  const auto [which, shared, draws, layers, refined] = GetParam();
  SeededRandom random(31);
  const auto attributes = make_attributes(which, random);
  const PosteriorOptions options{.hidden = std::vector<Index>(static_cast<std::size_t>(layers), 4),
                                 .activation = Activation::kTanh,
                                 .bias = layers != 2,
                                 .skip = refined,
                                 .standardise = refined,
                                 .full_covariance = refined};
  Posterior<double> posterior(options, kSeenWidth, attributes);
  posterior.initialise(random);
  const Matrix<double> seen = random_matrix(random, shared ? draws : draws * kRecords, kSeenWidth);
  const Index weights = posterior.parameters().size() - (refined ? 2 * kSeenWidth : 0);
  posterior.parameters().head(weights) += 0.3 * random_vector(random, weights);
  posterior.observe(random_matrix(random, 50, kSeenWidth) * 3);
  const Matrix<double> d_score = random_matrix(random, kRecords, draws);
  const auto value = [&, shared = shared, draws = draws](const Matrix<double>& at) {
    return posterior.score(at, shared, draws, attributes).cwiseProduct(d_score).sum();
  };

  value(seen);
  Vector<double> d_parameters;
  Matrix<double> d_seen;
  posterior.backward(seen, shared, draws, attributes, d_score, &d_parameters, shared ? nullptr : &d_seen);
  const Vector<double> point = posterior.parameters();
  testing::expect_gradient_matches(
      [&](const Vector<double>& p) {
        posterior.parameters().head(weights) = p;
        return value(seen);
      },
      d_parameters.head(weights), point.head(weights));
  // Running averages are no parameters to learn.
  EXPECT_EQ(d_parameters.tail(d_parameters.size() - weights).squaredNorm(), 0);
  posterior.parameters() = point;
  if (!shared) {
    testing::expect_gradient_matches(
        [&](const Vector<double>& p) { return value(unflatten(p, seen.rows(), seen.cols())); },
        flatten(d_seen), flatten(seen));
    value(seen);
    Matrix<double> alone;
    posterior.backward(seen, shared, draws, attributes, d_score, nullptr, &alone);
    EXPECT_EQ(alone, d_seen);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Every, PosteriorGradient,
    ::testing::Combine(::testing::Values(Attributes::kFinite, Attributes::kReal, Attributes::kFiniteThenReal,
                                         Attributes::kRealThenFiniteThenFinite, Attributes::kRealOfThree),
                       ::testing::Bool(), ::testing::Values(1, 3), ::testing::Values(0, 1, 2),
                       ::testing::Bool()));

TEST(Posterior, StandardisingMakesScaleAndOriginIrrelevant) {
  SeededRandom random(34);
  const std::vector<Attribute<double>> x{random_real(random, kRecords, 1)};
  const Matrix<double> seen = random_matrix(random, kRecords, kSeenWidth);
  const Matrix<double> moved = (seen.array() * 1e-3 + 7).matrix();
  for (const bool standardise : {true, false}) {
    const auto score_of = [&](const Matrix<double>& z) -> Matrix<double> {
      Posterior<double> posterior({.hidden = {4}, .standardise = standardise}, kSeenWidth, x);
      SeededRandom start(35);
      posterior.initialise(start);
      posterior.observe(z);  // the first look counts in full
      return posterior.score(z, false, 1, x);
    };
    const double difference = (score_of(seen) - score_of(moved)).cwiseAbs().maxCoeff();
    if (standardise) {
      EXPECT_LT(difference, 1e-9);
    } else {
      EXPECT_GT(difference, 1e-2);
    }
  }
}

TEST(Posterior, RunningAveragesFollowWhatIsSeen) {
  const std::vector<Attribute<double>> x{{.value = Matrix<double>::Zero(4, 1)}};
  Posterior<double> posterior({.standardise = true}, 1, x);
  const auto averages = [&] { return posterior.parameters().tail(2); };
  EXPECT_EQ(averages()[0], 0);
  EXPECT_EQ(averages()[1], 1);
  Matrix<double> seen(4, 1);
  seen << 1, 3, 5, 7;
  posterior.observe(seen);
  EXPECT_DOUBLE_EQ(averages()[0], 4);
  EXPECT_DOUBLE_EQ(averages()[1], 5);
  // Later ones come closer step by step and get there.
  seen.array() += 10;
  posterior.observe(seen);
  EXPECT_GT(averages()[0], 4);
  EXPECT_LT(averages()[0], 14);
  for (int t = 0; t < 1000; ++t) posterior.observe(seen);
  EXPECT_NEAR(averages()[0], 14, 1e-9);
  EXPECT_NEAR(averages()[1], 5, 1e-9);
}

TEST(Posterior, AConstantInputIsHarmlessWhenStandardised) {
  const std::vector<Attribute<double>> x{{.value = Matrix<double>::Ones(4, 1)}};
  Posterior<double> posterior({.standardise = true}, 1, x);
  SeededRandom random(36);
  posterior.initialise(random);
  const Matrix<double> seen = Matrix<double>::Constant(4, 1, 2.5);
  posterior.observe(seen);
  EXPECT_TRUE(posterior.score(seen, false, 1, x).allFinite());
}

// An alphabet given once for all records, or written out for each: the same scores.
TEST(Posterior, SharedSymbolsScoreAsIfWrittenOut) {
  constexpr Index kSymbols = 3;
  for (const auto which : {Attributes::kFinite, Attributes::kReal, Attributes::kFiniteThenReal,
                           Attributes::kRealThenFiniteThenFinite, Attributes::kRealOfThree}) {
    SeededRandom random(32);
    const auto attributes = make_attributes(which, random);
    Posterior<double> posterior({.hidden = {4}, .full_covariance = true}, kSeenWidth, attributes);
    posterior.initialise(random);
    const Matrix<double> seen = random_matrix(random, kSymbols, kSeenWidth);
    Matrix<double> written(kSymbols * kRecords, kSeenWidth);
    for (Index k = 0; k < kSymbols; ++k) written.middleRows(k * kRecords, kRecords).rowwise() = seen.row(k);
    const Matrix<double> once = posterior.score(seen, true, kSymbols, attributes);
    const Matrix<double> out = posterior.score(written, false, kSymbols, attributes);
    EXPECT_LT((once - out).cwiseAbs().maxCoeff(), 1e-13);
  }
}

TEST(Posterior, ScoresByHand) {
  // Linear links: x1 in {0, 1, 2} with logits z * (1, 0, -1) + (0, 0.5, 0); x2 real with
  // mean 2 z + (1, -1, 0.5)[x1] + 0.1 and log variance 0.3 z + (0, 0.2, 0.4)[x1] - 0.7.
  Attribute<double> x1{.code = {0, 2}, .levels = 3};
  Attribute<double> x2;
  x2.value.resize(2, 1);
  x2.value << 0.4, -1.2;
  Posterior<double> posterior({}, 1, {x1, x2});
  ASSERT_EQ(posterior.parameters().size(), (1 * 3 + 3) + (4 * 2 + 2));
  posterior.parameters() << 1, 0, -1, 0, 0.5, 0, /* mean */ 2, 1, -1, 0.5, /* log variance */ 0.3, 0, 0.2,
      0.4,
      /* biases */ 0.1, -0.7;
  Matrix<double> seen(2, 1);
  seen << 0.8, -0.3;
  const Matrix<double>& score = posterior.score(seen, false, 1, {x1, x2});
  const auto by_hand = [](double z, int code, double x) {
    const double logit[3] = {z, 0.5, -z};
    const double total = std::exp(logit[0]) + std::exp(logit[1]) + std::exp(logit[2]);
    const double shift[3] = {1, -1, 0.5};
    const double spread[3] = {0, 0.2, 0.4};
    return logit[code] - std::log(total) +
           log_normal(x, 2 * z + shift[code] + 0.1, 0.3 * z + spread[code] - 0.7);
  };
  EXPECT_NEAR(score(0, 0), by_hand(0.8, 0, 0.4), 1e-14);
  EXPECT_NEAR(score(1, 0), by_hand(-0.3, 2, -1.2), 1e-14);
}

// Three correlated Gaussians: the chain over the components gives their density, which a diagonal one cannot.
TEST(Posterior, FullCovarianceIsTheDensityOfAGaussian) {
  const Matrix<double> covariance =
      (Matrix<double>(3, 3) << 2, 0.6, -0.4, 0.6, 1, 0.3, -0.4, 0.3, 1.5).finished();
  const Vector<double> centre = (Vector<double>(3) << 0.5, -1, 2).finished();
  SeededRandom random(37);
  const std::vector<Attribute<double>> x{random_real(random, kRecords, 3)};
  Posterior<double> posterior({.full_covariance = true}, 1, x);
  // A linear link of one input: nine weights, left at 0, and nine biases: means, log variances, couplings.
  ASSERT_EQ(posterior.parameters().size(), 18);
  posterior.parameters().setZero();
  auto bias = posterior.parameters().tail(9);
  for (Index d = 0; d < 3; ++d) {
    const Vector<double> slope = covariance.topLeftCorner(d, d).inverse() * covariance.col(d).head(d);
    bias[d] = centre[d] - slope.dot(centre.head(d));
    bias[3 + d] = std::log(covariance(d, d) - slope.dot(covariance.col(d).head(d)));
    for (Index j = 0; j < d; ++j) bias[6 + d * (d - 1) / 2 + j] = slope[j];
  }
  const Matrix<double>& score = posterior.score(Matrix<double>::Zero(kRecords, 1), false, 1, x);
  for (Index i = 0; i < kRecords; ++i) {
    const Vector<double> off = x[0].value.row(i).transpose() - centre;
    const double expected = -0.5 * (3 * std::log(2 * std::numbers::pi) + std::log(covariance.determinant()) +
                                    off.dot(covariance.inverse() * off));
    EXPECT_NEAR(score(i, 0), expected, 1e-12);
  }
}

TEST(Posterior, ProbabilitiesOfAllOutcomesSumToOne) {
  // The chain over two finite attributes is a joint distribution.
  SeededRandom random(33);
  const Matrix<double> seen = random_matrix(random, 1, kSeenWidth);
  Attribute<double> a{.code = {0}, .levels = 3};
  Attribute<double> b{.code = {0}, .levels = 2};
  Posterior<double> posterior({.hidden = {4}}, kSeenWidth, {a, b});
  posterior.initialise(random);
  double total = 0;
  for (a.code[0] = 0; a.code[0] < 3; ++a.code[0]) {
    for (b.code[0] = 0; b.code[0] < 2; ++b.code[0])
      total += std::exp(posterior.score(seen, false, 1, {a, b})(0, 0));
  }
  EXPECT_NEAR(total, 1, 1e-14);
}

TEST(Posterior, ExtremeVariancesAreHeldAndDoNotMove) {
  const Attribute<double> x{.value = Matrix<double>::Constant(1, 1, 0.5)};
  Posterior<double> posterior({}, 1, {x});
  posterior.parameters() << 0, 0, /* biases: mean, log variance */ 0.25, 100;
  const Matrix<double> seen = Matrix<double>::Zero(1, 1);
  EXPECT_NEAR(posterior.score(seen, false, 1, {x})(0, 0), log_normal(0.5, 0.25, 30), 1e-12);
  Vector<double> gradient;
  posterior.backward(seen, false, 1, {x}, Matrix<double>::Ones(1, 1), &gradient, nullptr);
  EXPECT_EQ(gradient[3], 0);
  posterior.parameters()[3] = -1e6;
  EXPECT_TRUE(std::isfinite(posterior.score(seen, false, 1, {x})(0, 0)));
}

TEST(Posterior, RefusesBadShapes) {
  const Attribute<double> x{.code = {0}, .levels = 2};
  const PosteriorOptions bad{.hidden = {0, 3, -2}};
  EXPECT_EQ(bad.check().size(), 2U);
  EXPECT_THROW(Posterior<double>(bad, 1, {x}), Error);
  EXPECT_THROW(Posterior<double>({}, 1, {}), Error);
}

}  // namespace
}  // namespace ppan
