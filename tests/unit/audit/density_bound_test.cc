#include "ppan/audit/density_bound.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ppan/audit/finite_information.h"
#include "ppan/core/error.h"
#include "ppan/game/noisy_code_mechanism.h"

namespace ppan {
namespace {

// I(X;X + N) for X = +-a with equal chance and N standard normal, by the trapezoid rule:
//     log 2 - E log(1 + exp(-2 a (a + N))).
double sign_in_noise(double a) {
  constexpr int kSteps = 4000;
  double sum = 0;
  for (int k = 0; k <= kSteps; ++k) {
    const double n = -10 + 20.0 * k / kSteps;
    const double density = std::exp(-0.5 * n * n) / std::sqrt(2 * std::numbers::pi);
    sum += density * std::log1p(std::exp(-2 * a * (a + n))) * 20.0 / kSteps;
  }
  return std::log(2.0) - sum;
}

// Records whose density is N(mean, 1), mean = +-a by the sensitive bit.
ReleaseDensity sign_density(const Symbols& x, double a) {
  ReleaseDensity density;
  density.records = static_cast<Index>(x.size());
  density.mean.resize(density.records, 1);
  for (std::size_t i = 0; i < x.size(); ++i) density.mean(static_cast<Index>(i), 0) = x[i] == 1 ? a : -a;
  density.scale.push_back(Matrix<double>::Identity(1, 1));
  density.log_weight.setZero(density.records, 1);
  return density;
}

Symbols fair_bits(Index rows, std::uint64_t seed) {
  SeededRandom random(seed);
  Symbols x;
  for (Index i = 0; i < rows; ++i) x.push_back(static_cast<std::int32_t>(random.index(2)));
  return x;
}

// Where X determines W the empirical distribution is the distribution: the interval misses on one side in 2.5
// % of the cases; more than 8 of 100 on either side with probability 0.003.
TEST(DensityBound, KnownDensityMatchesTheIntegral) {
  for (const double a : {0.3, 1.0}) {
    const double truth = sign_in_noise(a);
    int below = 0;
    int above = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
      const Symbols x = fair_bits(200, seed);
      const Estimate e =
          density_upper_bound(sign_density(x, a), x, 2, {.draws = 400, .records = 200, .seed = seed});
      EXPECT_EQ(e.bound, Bound::kUpper);
      below += e.interval95->high < truth ? 1 : 0;
      above += e.interval95->low > truth ? 1 : 0;
    }
    EXPECT_LE(below, 8) << a;
    EXPECT_LE(above, 8) << a;
  }
}

// W Gaussian with variance s^2, unit noise: I(W;C) = 1/2 log(1 + s^2), which the broad normal distribution
// attains.
TEST(DensityBound, ObservedBoundOfAGaussianCodeIsItsInformation) {
  SeededRandom random(7);
  ReleaseDensity density;
  density.records = 4000;
  density.mean.resize(4000, 1);
  fill_normal(random, density.mean);
  density.mean *= 2;
  density.scale.push_back(Matrix<double>::Identity(1, 1));
  density.log_weight.setZero(4000, 1);
  const Estimate e = observed_upper_bound(density, {.draws = 4000, .records = 1000});
  const double truth = 0.5 * std::log(5.0);
  // Standard error 0.011 (measured interval); seven of them and the error of q.
  EXPECT_NEAR(e.nats, truth, 0.08);
  EXPECT_GT(e.interval95->high, truth);
  EXPECT_EQ(e.bound, Bound::kUpper);
}

// Nothing about X can be more than everything about W: on the same code the second bound is above the first.
TEST(DensityBound, ObservedBoundIsAboveTheSensitiveOne) {
  const Symbols x = fair_bits(1000, 9);
  ReleaseDensity density = sign_density(x, 0.7);
  SeededRandom random(10);
  Matrix<double> spread(1000, 1);
  fill_normal(random, spread);
  density.mean += spread;
  const Estimate sensitive = density_upper_bound(density, x, 2, {.draws = 3000});
  const Estimate observed = observed_upper_bound(density, {.draws = 3000, .records = 500});
  EXPECT_GT(observed.nats, sensitive.nats);
  EXPECT_LT(sensitive.nats, std::log(2.0));
}

TEST(DensityBound, FiniteDistributionIsExactOnTheEmpiricalLaw) {
  // Erasure with probability 1/4: I(X;Z) = 3/4 H(X), with H that of the shares.
  const Symbols x = fair_bits(500, 3);
  Matrix<double> distribution = Matrix<double>::Zero(500, 3);
  double ones = 0;
  for (Index i = 0; i < 500; ++i) {
    distribution(i, x[static_cast<std::size_t>(i)]) = 0.75;
    distribution(i, 2) = 0.25;
    ones += x[static_cast<std::size_t>(i)];
  }
  const double p = ones / 500;
  const double entropy = -p * std::log(p) - (1 - p) * std::log(1 - p);
  EXPECT_NEAR(finite_upper_bound(distribution, x, 2).nats, 0.75 * entropy, 1e-12);
  EXPECT_THROW(finite_upper_bound(distribution.topRows(10), x, 2), Error);
}

// The density read off a mechanism is the one it draws from: mean and covariance of many draws.
// 20,000 draws: standard errors below 0.01 of means of unit-scale noise; six of them allowed.
TEST(DensityBound, DensityOfMechanismsIsTheirOwn) {
  Attribute<double> observed;
  observed.value.resize(2, 2);
  observed.value << 0.5, -1, 1, 0.3;
  for (const MechanismKind kind :
       {MechanismKind::kGaussian, MechanismKind::kMixture, MechanismKind::kNoisyCode}) {
    SCOPED_TRACE(to_string(kind));
    const MechanismOptions options{.kind = kind,
                                   .released = 2,
                                   .hidden = {5},
                                   .components = 3,
                                   .full_components = true,
                                   .code = 2,
                                   .decoder = {4}};
    const auto mechanism = make_mechanism<double>(options, observed);
    SeededRandom random(4);
    mechanism->initialise(random);
    const auto density = release_density(*mechanism, observed);
    ASSERT_TRUE(density);
    EXPECT_NEAR(density->log_weight.array().exp().rowwise().sum().maxCoeff(), 1, 1e-9);

    // Moments of record 1 by the density.
    Vector<double> mean = Vector<double>::Zero(2);
    Matrix<double> second = Matrix<double>::Zero(2, 2);
    for (Index l = 0; l < density->components; ++l) {
      const Index row = l * 2 + 1;
      const double w = std::exp(density->log_weight(1, l));
      const Vector<double> mu = density->mean.row(row).transpose();
      const Matrix<double>& a =
          density->scale[density->scale.size() == 1 ? 0 : static_cast<std::size_t>(row)];
      mean += w * mu;
      second += w * (mu * mu.transpose() + a * a.transpose());
    }
    // And by draws, weighted as the mechanism weights them.
    constexpr Index kDraws = 20'000;
    Attribute<double> many;
    many.value = observed.value.row(1).replicate(kDraws, 1);
    Matrix<double> noise;
    Draws<double> draws;
    const auto single = mechanism->clone(1);
    single->fill_noise(random, kDraws, noise);
    single->draw(many, noise, draws);
    Vector<double> drawn = Vector<double>::Zero(2);
    Matrix<double> drawn_second = Matrix<double>::Zero(2, 2);
    for (Index k = 0; k < draws.per_record; ++k) {
      for (Index i = 0; i < kDraws; ++i) {
        const Vector<double> c = draws.seen().row(k * kDraws + i).transpose();
        drawn += draws.weight(i, k) / kDraws * c;
        drawn_second += draws.weight(i, k) / kDraws * c * c.transpose();
      }
    }
    const double scale = 1 + second.trace();
    EXPECT_LT((drawn - mean).norm(), 0.06 * scale);
    EXPECT_LT((drawn_second - second).norm(), 0.06 * scale);
  }
  const auto no_density =
      make_mechanism<double>({.kind = MechanismKind::kNoiseInput, .released = 1, .hidden = {3}}, observed);
  EXPECT_FALSE(release_density(*no_density, observed));
}

TEST(DensityBound, LawOfAFiniteMechanism) {
  Attribute<double> observed;
  observed.levels = 3;
  observed.code = {0, 1, 2, 1};
  const auto mechanism = make_mechanism<double>({.kind = MechanismKind::kFinite, .released = 4}, observed);
  SeededRandom random(1);
  mechanism->initialise(random);
  const Matrix<double> distribution = release_distribution(*mechanism, observed);
  EXPECT_EQ(distribution.rows(), 4);
  EXPECT_LT((distribution.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_EQ(distribution.row(1), distribution.row(3));
}

// X = sign of W; what each kind of mechanism lets the audit bound.
TEST(DensityBound, BoundsThatAMechanismAllows) {
  Attribute<double> observed;
  observed.value.resize(600, 1);
  SeededRandom random(8);
  fill_normal(random, observed.value);
  Symbols x;
  for (Index i = 0; i < 600; ++i) x.push_back(observed.value(i, 0) > 0 ? 1 : 0);
  const auto bounds = [&](MechanismKind kind, bool whole) {
    const auto mechanism = make_mechanism<double>({.kind = kind,
                                                   .released = 2,
                                                   .hidden = {4},
                                                   .components = 2,
                                                   .code = 1,
                                                   .code_radius = 2,
                                                   .decoder = {3}},
                                                  observed);
    mechanism->initialise(random);
    return mechanism_upper_bounds(*mechanism, observed, x, 2, whole, {.draws = 200, .records = 200});
  };
  EXPECT_EQ(bounds(MechanismKind::kFinite, true).size(), 1U);
  EXPECT_EQ(bounds(MechanismKind::kFinite, false).size(), 0U);
  EXPECT_EQ(bounds(MechanismKind::kNoiseInput, true).size(), 0U);
  EXPECT_EQ(bounds(MechanismKind::kGaussian, true).size(), 2U);
  EXPECT_EQ(bounds(MechanismKind::kMixture, true).size(), 2U);
  const std::vector<Estimate> code = bounds(MechanismKind::kNoisyCode, true);
  ASSERT_EQ(code.size(), 3U);
  EXPECT_NEAR(code[2].nats, 0.5 * std::log(5.0), 1e-12);
  EXPECT_LT(code[0].nats, code[2].nats);
  // The data-dependent bound on I(W;C) is below the one that holds for all data, here by far more than its
  // error.
  EXPECT_LT(code[1].nats, code[2].nats);
  for (const Estimate& e : code) EXPECT_EQ(e.bound, Bound::kUpper);
}

TEST(FiniteInformation, CorrectsTheBias) {
  // Independent attributes with 5 and 6 values: raw counts give (5-1)(6-1)/2n = 0.02 too much at 500 rows.
  // Standard deviation sqrt(2 * 20)/2n = 0.0063 a table, 0.0009 for the mean of 50: six of them.
  SeededRandom random(12);
  double mean = 0;
  for (int trial = 0; trial < 50; ++trial) {
    Symbols x;
    Symbols z;
    for (int i = 0; i < 500; ++i) {
      x.push_back(static_cast<std::int32_t>(random.index(5)));
      z.push_back(static_cast<std::int32_t>(random.index(6)));
    }
    const Estimate e = finite_information(x, 5, z, 6, static_cast<std::uint64_t>(trial));
    mean += e.nats / 50;
    EXPECT_LE(e.interval95->low, e.nats);
    EXPECT_GE(e.interval95->high, e.nats);
  }
  EXPECT_LT(mean, 0.0063);  // clipped at 0, so the mean of what is left above is about 0.0025
  EXPECT_THROW(finite_information({0}, 1, {0}, 1), Error);
}

}  // namespace
}  // namespace ppan
