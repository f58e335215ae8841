// What a mechanism releases follows the distribution that its parameters say; options and names are checked.

#include "ppan/game/mechanism.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ppan/game/noisy_code_mechanism.h"
#include "support/random_values.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr Index kPerSymbol = 20'000;
constexpr Index kObserved = 3;

// Records whose observed symbol is 0, 1, 2, kPerSymbol of each.
template <typename Scalar>
Attribute<Scalar> each_symbol() {
  Attribute<Scalar> w;
  w.levels = kObserved;
  for (std::int32_t s = 0; s < kObserved; ++s) w.code.insert(w.code.end(), kPerSymbol, s);
  return w;
}

// P(z|w) = softmax of these logits, a row per w.
Matrix<double> known_logits() {
  Matrix<double> logits(kObserved, 4);
  logits << 0, 1, -1, 0.5, 2, -2, 0, 0, -3, 0.2, 0.1, 0.4;
  return logits;
}

Matrix<double> known_distribution() {
  Matrix<double> p = known_logits().array().exp().matrix();
  for (Index w = 0; w < p.rows(); ++w) p.row(w) /= p.row(w).sum();
  return p;
}

// Pearson's statistic of kObserved multinomials with 4 cells: chi-squared with 3 * 3 = 9 degrees of freedom
// if the codes follow `distribution`.
template <typename Scalar>
double chi_squared(const Attribute<Scalar>& released, const Matrix<double>& distribution) {
  Matrix<double> count = Matrix<double>::Zero(kObserved, 4);
  for (std::size_t i = 0; i < released.code.size(); ++i) {
    count(static_cast<Index>(i) / kPerSymbol, released.code[i]) += 1;
  }
  const Matrix<double> expected = distribution * static_cast<double>(kPerSymbol);
  return ((count - expected).array().square() / expected.array()).sum();
}

// P(chi-squared with 9 degrees of freedom > 60.7) = 1e-9: a failure means a defect.
constexpr double kChiSquaredLimit = 60.7;

template <typename Scalar>
std::unique_ptr<Mechanism<Scalar>> known_finite(MechanismKind kind) {
  const Attribute<Scalar> w = each_symbol<Scalar>();
  auto mechanism = make_mechanism<Scalar>({.kind = kind, .released = 4, .draws = 2}, w);
  const Matrix<double> logits = known_logits();  // a table is stored symbol of z by symbol of z
  mechanism->parameters() = Eigen::Map<const Vector<double>>(logits.data(), logits.size()).cast<Scalar>();
  return mechanism;
}

TEST(Release, FiniteFrequenciesFollowTheLaw) {
  SeededRandom random(71);
  const auto released = known_finite<double>(MechanismKind::kFinite)->release(each_symbol<double>(), random);
  ASSERT_EQ(released.levels, 4);
  EXPECT_LT(chi_squared(released, known_distribution()), kChiSquaredLimit);
  // The test sees a distribution in which two cells of one row differ by 0.02 from the truth.
  Matrix<double> other = known_distribution();
  other(0, 0) += 0.02;
  other(0, 3) -= 0.02;
  EXPECT_GT(chi_squared(released, other), kChiSquaredLimit);
}

TEST(Release, FiniteFrequenciesFollowTheLawInSinglePrecisionAndWithSecureNoise) {
  SecureRandom random;
  const auto released = known_finite<float>(MechanismKind::kFinite)->release(each_symbol<float>(), random);
  EXPECT_LT(chi_squared(released, known_distribution()), kChiSquaredLimit);
}

// The largest of logit + Gumbel noise falls on z with probability softmax(logits)_z, whatever the
// temperature.
TEST(Release, GumbelFrequenciesFollowTheLaw) {
  SeededRandom random(72);
  const auto released = known_finite<double>(MechanismKind::kGumbel)->release(each_symbol<double>(), random);
  EXPECT_LT(chi_squared(released, known_distribution()), kChiSquaredLimit);
}

struct Moments {
  Vector<double> mean;
  Matrix<double> covariance;
};

Moments moments(const Matrix<double>& z) {
  const Vector<double> mean = z.colwise().mean().transpose();
  const Matrix<double> centred = z.rowwise() - mean.transpose();
  return {mean, centred.transpose() * centred / static_cast<double>(z.rows())};
}

// r with log(1 + e^r) = scale.
double before_softplus(double scale) {
  return std::log(std::expm1(scale));
}

constexpr Index kDrawn = 200'000;

Attribute<double> constant_observed() {
  Attribute<double> w;
  w.value = Matrix<double>::Ones(kDrawn, 1);
  return w;
}

// Each mean and each covariance below is compared with a tolerance of 6.5 standard deviations of its estimate
// from 200,000 draws; normal tails make a false alarm 8e-11 each.
constexpr double kSigmas = 6.5;

TEST(Release, GaussianHasItsMeanAndCovariance) {
  // Linear network of one input that is 1, so the output is weights + biases: mu = (0.5, -1),
  // A = [[1.2, 0], [0.7, 0.6]], its diagonal through softplus.
  auto mechanism = make_mechanism<double>({.kind = MechanismKind::kGaussian, .released = 2, .draws = 3},
                                          constant_observed());
  ASSERT_EQ(mechanism->parameters().size(), 10);
  mechanism->parameters() << 0.5, -1, before_softplus(1.2), 0.7, before_softplus(0.6), 0, 0, 0, 0, 0;
  SeededRandom random(73);
  const auto released = mechanism->release(constant_observed(), random);
  ASSERT_EQ(released.value.rows(), kDrawn);
  const Moments m = moments(released.value);
  Matrix<double> a(2, 2);
  a << 1.2, 0, 0.7, 0.6;
  const Matrix<double> covariance = a * a.transpose();
  const double n = static_cast<double>(kDrawn);
  EXPECT_NEAR(m.mean[0], 0.5, kSigmas * std::sqrt(covariance(0, 0) / n));
  EXPECT_NEAR(m.mean[1], -1, kSigmas * std::sqrt(covariance(1, 1) / n));
  for (Index r = 0; r < 2; ++r) {
    for (Index c = 0; c <= r; ++c) {
      const double deviation =
          std::sqrt((covariance(r, r) * covariance(c, c) + covariance(r, c) * covariance(r, c)) / n);
      EXPECT_NEAR(m.covariance(r, c), covariance(r, c), kSigmas * deviation) << r << ", " << c;
    }
  }
}

TEST(Release, MixtureHasItsMomentsAndSharesOfComponents) {
  // Components N(-3, 0.5^2) and N(2, 1.5^2) with probabilities 0.3 and 0.7.
  auto mechanism =
      make_mechanism<double>({.kind = MechanismKind::kMixture, .components = 2}, constant_observed());
  ASSERT_EQ(mechanism->parameters().size(), 12);
  mechanism->parameters() << -3, before_softplus(0.5), 2, before_softplus(1.5), std::log(0.3), std::log(0.7),
      0, 0, 0, 0, 0, 0;
  SeededRandom random(74);
  const Matrix<double> z = mechanism->release(constant_observed(), random).value;
  ASSERT_EQ(z.rows(), kDrawn);
  const double n = static_cast<double>(kDrawn);
  const double mean = 0.3 * -3 + 0.7 * 2;
  const double variance = 0.3 * (0.25 + 9) + 0.7 * (2.25 + 4) - mean * mean;
  EXPECT_NEAR(z.mean(), mean, kSigmas * std::sqrt(variance / n));
  // P(z < -2): from the first component Phi(2) = 0.9772499, from the second Phi(-8/3) = 0.0038304.
  const double below = 0.3 * 0.9772499 + 0.7 * 0.0038304;
  const double share = static_cast<double>((z.array() < -2).count()) / n;
  EXPECT_NEAR(share, below, kSigmas * std::sqrt(below * (1 - below) / n));
  // Fourth central moments are below 60 here, so the variance has a standard deviation below sqrt(60 / n).
  EXPECT_NEAR(moments(z).covariance(0, 0), variance, kSigmas * std::sqrt(60 / n));
}

TEST(Release, MixtureWithFullCovariancesHasThem) {
  // One component, so that the covariance is its own: A = (1.5 0; 0.8 0.5), A A^T = (2.25 1.2; 1.2 0.89).
  auto mechanism = make_mechanism<double>(
      {.kind = MechanismKind::kMixture, .released = 2, .components = 1, .full_components = true},
      constant_observed());
  ASSERT_EQ(mechanism->parameters().size(), 12);
  mechanism->parameters() << 1, -1, before_softplus(1.5), 0.8, before_softplus(0.5), 0, 0, 0, 0, 0, 0, 0;
  SeededRandom random(76);
  const Moments m = moments(mechanism->release(constant_observed(), random).value);
  const double n = static_cast<double>(kDrawn);
  const Matrix<double> covariance = (Matrix<double>(2, 2) << 2.25, 1.2, 1.2, 0.89).finished();
  for (Index r = 0; r < 2; ++r) {
    EXPECT_NEAR(m.mean[r], r == 0 ? 1 : -1, kSigmas * std::sqrt(covariance(r, r) / n));
    for (Index c = 0; c <= r; ++c) {
      const double deviation =
          std::sqrt((covariance(r, r) * covariance(c, c) + covariance(r, c) * covariance(r, c)) / n);
      EXPECT_NEAR(m.covariance(r, c), covariance(r, c), kSigmas * deviation) << r << ", " << c;
    }
  }
}

TEST(Release, NoisyCodeAddsUnitNoiseToABoundedCentre) {
  // Encoder e = 5 w, radius 2, decoder the identity: z ~ N(2 tanh(2.5), 1).
  auto mechanism = make_mechanism<double>(
      {.kind = MechanismKind::kNoisyCode, .draws = 4, .code = 1, .code_radius = 2}, constant_observed());
  ASSERT_EQ(mechanism->parameters().size(), 4);
  mechanism->parameters() << 5, 0, 1, 0;
  SeededRandom random(75);
  const Moments m = moments(mechanism->release(constant_observed(), random).value);
  const double n = static_cast<double>(kDrawn);
  EXPECT_NEAR(m.mean[0], 2 * std::tanh(2.5), kSigmas * std::sqrt(1 / n));
  EXPECT_NEAR(m.covariance(0, 0), 1, kSigmas * std::sqrt(2 / n));
}

TEST(Release, AGateReleasesRecordsAsTheyAre) {
  // Encoder and decoder as above, and a gate without its hidden layer's help: g = sigmoid(bias).
  auto mechanism = make_mechanism<double>(
      {.kind = MechanismKind::kNoisyCode, .draws = 2, .code = 1, .code_radius = 2, .gate = {1}},
      constant_observed());
  ASSERT_EQ(mechanism->parameters().size(), 8);
  SeededRandom random(77);
  for (const double open : {0.3, 0.8}) {
    mechanism->parameters() << 5, 0, 1, 0, 0, 0, 0, std::log(open / (1 - open));
    const Attribute<double> w = constant_observed();
    const Matrix<double> z = mechanism->release(w, random).value;
    const auto same = static_cast<double>((z.array() == w.value.array()).count());
    const double n = static_cast<double>(kDrawn);
    EXPECT_NEAR(same / n, 1 - open, kSigmas * std::sqrt(open * (1 - open) / n));
  }
  EXPECT_THROW(make_mechanism<double>({.kind = MechanismKind::kNoisyCode, .released = 2, .gate = {1}},
                                      constant_observed()),
               Error);
}

TEST(NoisyCode, CentreStaysWithinItsRadius) {
  SeededRandom random(76);
  const auto w = testing::random_real(random, 50, 3);
  NoisyCodeMechanism<double> mechanism(
      {.kind = MechanismKind::kNoisyCode, .hidden = {8}, .code = 4, .code_radius = 1.5}, w);
  mechanism.initialise(random);
  mechanism.parameters() *= 100;
  const Matrix<double>& center = mechanism.center(w);
  EXPECT_LE(center.cwiseAbs().maxCoeff(), 1.5);
  EXPECT_GT(center.cwiseAbs().maxCoeff(), 1.4);
  EXPECT_EQ(mechanism.seen_width(), 4);
}

TEST(Release, NoiseInputIsUniformOrNormal) {
  // z = u: weight 0 on w, 1 on the noise.
  for (const NoiseKind noise : {NoiseKind::kUniform, NoiseKind::kNormal}) {
    auto mechanism =
        make_mechanism<double>({.kind = MechanismKind::kNoiseInput, .noise = noise}, constant_observed());
    ASSERT_EQ(mechanism->parameters().size(), 3);
    mechanism->parameters() << 0, 1, 0;
    SeededRandom random(77);
    const Matrix<double> z = mechanism->release(constant_observed(), random).value;
    const Moments m = moments(z);
    const bool uniform = noise == NoiseKind::kUniform;
    const double n = static_cast<double>(kDrawn);
    const double variance = uniform ? 1.0 / 3 : 1;
    EXPECT_NEAR(m.mean[0], 0, kSigmas * std::sqrt(variance / n));
    // Var(u^2) = 1/5 - 1/9 for the uniform, 2 for the normal.
    EXPECT_NEAR(m.covariance(0, 0), variance, kSigmas * std::sqrt((uniform ? 4.0 / 45 : 2) / n));
    if (uniform) {
      EXPECT_LE(z.cwiseAbs().maxCoeff(), 1);
    }
  }
}

TEST(Release, SigmoidOutputLiesBetweenZeroAndOne) {
  SeededRandom random(78);
  const auto w = testing::random_real(random, 100, 2);
  auto mechanism = make_mechanism<double>(
      {.kind = MechanismKind::kNoiseInput, .released = 3, .hidden = {4}, .sigmoid_output = true}, w);
  mechanism->initialise(random);
  const Matrix<double> z = mechanism->release(w, random).value;
  EXPECT_EQ(z.cols(), 3);
  EXPECT_GT(z.minCoeff(), 0);
  EXPECT_LT(z.maxCoeff(), 1);
}

TEST(Release, SameSeedSameRelease) {
  SeededRandom start(79);
  const auto w = testing::random_real(start, 20, 2);
  auto mechanism =
      make_mechanism<double>({.kind = MechanismKind::kGaussian, .released = 2, .hidden = {3}}, w);
  mechanism->initialise(start);
  SeededRandom one(5);
  SeededRandom same(5);
  SeededRandom other(6);
  const auto first = mechanism->release(w, one).value;
  EXPECT_EQ(first, mechanism->release(w, same).value);
  EXPECT_NE(first, mechanism->release(w, other).value);
}

TEST(MechanismNames, GoThereAndBack) {
  EXPECT_THAT(mechanism_names(),
              ElementsAre("finite", "gumbel", "gaussian", "mixture", "noise-input", "noisy-code"));
  for (const std::string& name : mechanism_names()) EXPECT_EQ(to_string(mechanism_kind(name)), name);
}

TEST(MechanismNames, UnknownOnesComeWithTheNearest) {
  try {
    mechanism_kind("noisycode");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("unknown mechanism 'noisycode' (did you mean 'noisy-code'"));
  }
  try {
    mechanism_kind("quantum");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("known: finite, gumbel, gaussian, mixture, noise-input, noisy-code"));
  }
}

std::vector<std::string> fields(const MechanismOptions& options) {
  std::vector<std::string> names;
  for (const Problem& p : options.check()) names.push_back(p.field);
  return names;
}

TEST(MechanismOptions, EveryProblemIsListed) {
  using K = MechanismKind;
  EXPECT_THAT(fields({}), IsEmpty());
  EXPECT_THAT(fields({.kind = K::kFinite, .released = 1}), ElementsAre("released"));
  EXPECT_THAT(fields({.kind = K::kGumbel, .released = 1, .draws = 0, .temperature = 0}),
              ElementsAre("draws", "released", "temperature"));
  EXPECT_THAT(fields({.kind = K::kGaussian, .released = 0, .hidden = {0, 5, 0}, .draws = -1}),
              ElementsAre("released", "draws", "hidden", "hidden"));
  EXPECT_THAT(fields({.kind = K::kMixture, .components = 0}), ElementsAre("components"));
  EXPECT_THAT(fields({.kind = K::kNoiseInput, .noise_inputs = 0, .noise = NoiseKind::kGumbel}),
              ElementsAre("noise_inputs", "noise"));
  EXPECT_THAT(fields({.kind = K::kNoisyCode,
                      .code = 0,
                      .code_radius = std::numeric_limits<double>::infinity(),
                      .decoder = {0}}),
              ElementsAre("code", "code_radius", "decoder"));
  EXPECT_THAT(fields({.kind = K::kNoisyCode, .gate = {0}}), ElementsAre("gate"));
  EXPECT_THAT(fields({.kind = K::kGaussian, .gate = {3}}), ElementsAre("gate"));
  // What another kind would reject does not matter.
  EXPECT_THAT(fields({.kind = K::kGaussian, .noise_inputs = 0, .components = 0, .code = 0}), IsEmpty());
  try {
    make_mechanism<float>({.kind = K::kMixture, .draws = 0, .components = 0}, Attribute<float>{});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("draws: 0 is not allowed"));
    EXPECT_THAT(error.what(), HasSubstr("components: 0 is not allowed"));
  }
}

}  // namespace
}  // namespace ppan
