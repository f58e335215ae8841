#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "ppan/theory/information.h"
#include "ppan/worlds/bottleneck_worlds.h"
#include "ppan/worlds/gaussian_mixture_world.h"
#include "ppan/worlds/gaussian_worlds.h"
#include "ppan/worlds/symmetric_pair_world.h"

namespace ppan {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Index kCount = 100000;

Matrix<double> covariance(const Matrix<double>& a, const Matrix<double>& b) {
  return (a.rowwise() - a.colwise().mean()).transpose() * (b.rowwise() - b.colwise().mean()) /
         static_cast<double>(a.rows());
}

/// Pearson's statistic of codes against their probabilities, and its degrees of freedom.
struct ChiSquared {
  double statistic = 0;
  double freedom = -1;
  /// Above this by chance once in 10^6: mean + 4.75 standard deviations + a correction for the skew
  /// (Wilson-Hilferty).
  [[nodiscard]] double limit() const {
    const double c = 2 / (9 * freedom);
    return freedom * std::pow(1 - c + 4.7534 * std::sqrt(c), 3);
  }
};
ChiSquared chi_squared(const Symbols& code, const Vector<double>& probability) {
  Vector<double> seen = Vector<double>::Zero(probability.size());
  for (const auto c : code) seen[c] += 1;
  ChiSquared result;
  for (Index i = 0; i < probability.size(); ++i) {
    const double expected = probability[i] * static_cast<double>(code.size());
    if (expected == 0) {
      EXPECT_EQ(seen[i], 0);
      continue;
    }
    result.statistic += (seen[i] - expected) * (seen[i] - expected) / expected;
    result.freedom += 1;
  }
  return result;
}

/// Bound on |sample - true| covariance of unit normals at 100,000 draws: 6 standard errors of at most
/// sqrt(2/n), so a sound sampler fails once in 5 * 10^8 per entry.
const double kCovarianceError = 6 * std::sqrt(2.0 / kCount);

TEST(SymmetricPairWorld, SamplesItsLaw) {
  for (const auto observation : {Observation::kUsefulOnly, Observation::kFullData}) {
    const SymmetricPairWorld world{{10, 0.4}, observation};
    SeededRandom random(1);
    const Records<double> records = world.sample(kCount, random);
    EXPECT_EQ(records.rows(), kCount);
    EXPECT_EQ(records.observed.levels, observation == Observation::kFullData ? 100 : 10);
    Symbols pair;
    for (std::size_t i = 0; i < records.useful.code.size(); ++i) {
      const auto x = records.sensitive[0].code[i];
      const auto y = records.useful.code[i];
      pair.push_back(x * 10 + y);
      ASSERT_EQ(records.observed.code[i], observation == Observation::kFullData ? x * 10 + y : y);
    }
    const Matrix<double> transposed = theory::joint(world.pair).transpose();
    const ChiSquared right = chi_squared(pair, transposed.reshaped());
    EXPECT_LT(right.statistic, right.limit());
    // The test can see a p that is off by 0.02.
    const Matrix<double> wrong_joint = theory::joint({10, 0.42});
    const ChiSquared wrong = chi_squared(pair, wrong_joint.reshaped());
    EXPECT_GT(wrong.statistic, wrong.limit());
    EXPECT_THAT(world.distribution().check(), IsEmpty());
    EXPECT_NEAR(world.optimum(0), world.mutual_information(), 1e-14);
  }
}

TEST(SymmetricPairWorld, CodesOfTheLawAreThoseOfTheRecords) {
  const SymmetricPairWorld world{{3, 0.5}, Observation::kFullData};
  const theory::FiniteDistribution distribution = world.distribution();
  SeededRandom random(2);
  const Records<double> records = world.sample(1000, random);
  for (std::size_t i = 0; i < 1000; ++i) {
    ASSERT_GT(distribution.wx(records.observed.code[i], records.sensitive[0].code[i]), 0);
    ASSERT_GT(distribution.wy(records.observed.code[i], records.useful.code[i]), 0);
  }
}

TEST(GaussianScalarWorld, SamplesItsLaw) {
  const GaussianScalarWorld world{0.85, Observation::kFullData};
  SeededRandom random(3);
  const Records<double> records = world.sample(kCount, random);
  const Matrix<double>& x = records.sensitive[0].value;
  const Matrix<double>& y = records.useful.value;
  EXPECT_EQ(records.observed.value.col(0), x);
  EXPECT_EQ(records.observed.value.col(1), y);
  EXPECT_NEAR(covariance(x, x)(0), 1, kCovarianceError);
  EXPECT_NEAR(covariance(y, y)(0), 1, kCovarianceError);
  EXPECT_NEAR(covariance(x, y)(0), 0.85, kCovarianceError);
  EXPECT_GT(std::abs(covariance(x, y)(0) - 0.80), kCovarianceError) << "the test can see 0.05";
  EXPECT_NEAR(world.optimum(0), world.mutual_information(), 1e-14);
  SeededRandom again(3);
  EXPECT_EQ((GaussianScalarWorld{0.85, Observation::kUsefulOnly}.sample(kCount, again).observed.value), y);
}

TEST(GaussianVectorWorld, SamplesItsLaw) {
  const GaussianVectorWorld world{(Vector<double>(5) << 0.47, 0.24, 0.85, 0.07, 0.66).finished()};
  SeededRandom random(4);
  const Records<double> records = world.sample(kCount, random);
  const Matrix<double>& x = records.sensitive[0].value;
  const Matrix<double>& y = records.useful.value;
  EXPECT_EQ(records.observed.value, y);
  const Matrix<double> one = Matrix<double>::Identity(5, 5);
  const Matrix<double> cross = world.rho.asDiagonal();
  EXPECT_LT((covariance(x, x) - one).cwiseAbs().maxCoeff(), kCovarianceError);
  EXPECT_LT((covariance(y, y) - one).cwiseAbs().maxCoeff(), kCovarianceError);
  EXPECT_LT((covariance(x, y) - cross).cwiseAbs().maxCoeff(), kCovarianceError);
  EXPECT_NEAR(world.mutual_information(), 1.08388989344514299, 1e-14);
  EXPECT_NEAR(world.optimum(1), 0.442378335343206, 1e-14);
}

TEST(GaussianRateDistortionWorld, SamplesItsLaw) {
  const GaussianRateDistortionWorld world{(Vector<double>(3) << 0.47, 0.24, 0.85).finished()};
  SeededRandom random(5);
  const Records<double> records = world.sample(kCount, random);
  EXPECT_EQ(records.observed.value, records.useful.value);
  EXPECT_EQ(records.observed.value, records.sensitive[0].value);
  const Matrix<double> expected = world.variances.asDiagonal();
  EXPECT_LT((covariance(records.useful.value, records.useful.value) - expected).cwiseAbs().maxCoeff(),
            kCovarianceError);
  EXPECT_EQ(world.optimum(1.6), 0);
  EXPECT_TRUE(std::isinf(world.mutual_information()));
}

TEST(BottleneckWorlds, SampleTheirDistributions) {
  SeededRandom random(6);
  const BottleneckGaussianWorld gaussian{0.8};
  const Records<double> real = gaussian.sample(kCount, random);
  EXPECT_EQ(real.observed.value, real.sensitive[0].value);
  EXPECT_NEAR(covariance(real.observed.value, real.useful.value)(0), 0.8, kCovarianceError);
  EXPECT_NEAR(gaussian.greatest_useful(gaussian.optimum(0.3)), 0.3, 1e-12);

  const BottleneckBinaryWorld binary{0.1};
  const Records<double> bits = binary.sample(kCount, random);
  EXPECT_EQ(bits.observed.code, bits.sensitive[0].code);
  Symbols pair;
  for (std::size_t i = 0; i < bits.useful.code.size(); ++i)
    pair.push_back(2 * bits.observed.code[i] + bits.useful.code[i]);
  const ChiSquared right = chi_squared(pair, (Vector<double>(4) << 0.45, 0.05, 0.05, 0.45).finished());
  EXPECT_LT(right.statistic, right.limit());
  EXPECT_THAT(binary.distribution().check(), IsEmpty());
  EXPECT_NEAR(theory::mutual_information(binary.distribution().wy), binary.mutual_information(), 1e-14);
  EXPECT_NEAR(binary.greatest_useful(binary.optimum(0.3)), 0.3, 1e-12);
}

TEST(GaussianMixtureWorld, InformationIsExact) {
  // mpmath, adaptive quadrature of 30 digits.
  EXPECT_NEAR(GaussianMixtureWorld{}.mutual_information(), 0.336830820346831612, 1e-12);
  const GaussianMixtureWorld three{(Vector<double>(3) << 0.2, 0.5, 0.3).finished(),
                                   (Matrix<double>(3, 1) << -2, 0.5, 3).finished(), 0.7};
  EXPECT_NEAR(three.mutual_information(), 0.895759483769888663, 1e-12);
  // Two independent bits, one per axis, turned by 30 degrees and lifted into three dimensions: twice one
  // bit's.
  const double c = std::cos(std::numbers::pi / 6);
  const double s = std::sin(std::numbers::pi / 6);
  const Matrix<double> corners = (Matrix<double>(4, 2) << -1, -1, -1, 1, 1, -1, 1, 1).finished();
  const Matrix<double> turned = corners * (Matrix<double>(2, 3) << c, s, 0, -s, c, 0).finished();
  const GaussianMixtureWorld four{Vector<double>::Constant(4, 0.25), turned.array() + 5, 1};
  EXPECT_NEAR(four.mutual_information(), 2 * 0.336830820346831612, 1e-12);
  // Far apart the label is plain; on top of each other it is hidden.
  EXPECT_NEAR(
      (GaussianMixtureWorld{Vector<double>::Constant(2, 0.5), (Matrix<double>(2, 1) << 0, 100).finished(), 1}
           .mutual_information()),
      std::numbers::ln2, 1e-12);
  EXPECT_EQ((GaussianMixtureWorld{Vector<double>::Constant(2, 0.5), Matrix<double>::Ones(2, 3), 1}
                 .mutual_information()),
            0);
}

TEST(GaussianMixtureWorld, SamplesItsLaw) {
  const GaussianMixtureWorld world{(Vector<double>(2) << 0.3, 0.7).finished(),
                                   (Matrix<double>(2, 2) << 0, 1, 2, -1).finished(), 0.5};
  SeededRandom random(7);
  const Records<double> records = world.sample(kCount, random);
  const ChiSquared labels = chi_squared(records.sensitive[0].code, world.weights);
  EXPECT_LT(labels.statistic, labels.limit());
  for (Index k = 0; k < 2; ++k) {
    std::vector<Index> rows;
    for (Index i = 0; i < kCount; ++i)
      if (records.sensitive[0].code[static_cast<std::size_t>(i)] == k) rows.push_back(i);
    const Matrix<double> y = records.useful.value(rows, Eigen::all);
    // 6 standard errors of the mean of at least 29,000 draws.
    EXPECT_LT((y.colwise().mean() - world.means.row(k)).cwiseAbs().maxCoeff(), 6 * 0.5 / std::sqrt(29000.0));
    EXPECT_LT((covariance(y, y) - 0.25 * Matrix<double>::Identity(2, 2)).cwiseAbs().maxCoeff(),
              0.25 * 6 * std::sqrt(2.0 / 29000));
  }
  EXPECT_EQ(records.observed.value, records.useful.value);
}

TEST(Worlds, ListTheirProblemsAndRefuseToSample) {
  SeededRandom random(8);
  EXPECT_THAT((SymmetricPairWorld{{1, 2}, Observation::kBottleneck}.check()), SizeIs(3));
  EXPECT_THROW(static_cast<void>(SymmetricPairWorld{{1, 0.4}}.sample(10, random)), Error);
  EXPECT_THAT((GaussianScalarWorld{1, Observation::kRateDistortion}.check()), SizeIs(2));
  EXPECT_THROW(static_cast<void>(GaussianScalarWorld{1}.sample(10, random)), Error);
  EXPECT_THROW(static_cast<void>(GaussianVectorWorld{}.sample(10, random)), Error);
  EXPECT_THROW(static_cast<void>(GaussianRateDistortionWorld{Vector<double>::Zero(1)}.sample(10, random)),
               Error);
  EXPECT_THROW(static_cast<void>(BottleneckGaussianWorld{-1}.sample(10, random)), Error);
  EXPECT_THROW(static_cast<void>(BottleneckBinaryWorld{1.1}.sample(10, random)), Error);
  GaussianMixtureWorld mixture;
  mixture.weights *= 0.9;
  mixture.sigma = 0;
  mixture.means.resize(3, 1);
  mixture.means.setZero();
  EXPECT_THAT(mixture.check(), SizeIs(3));
  EXPECT_THAT(
      (GaussianMixtureWorld{Vector<double>::Constant(4, 0.25), Matrix<double>::Identity(4, 3), 1}.check()),
      SizeIs(1))
      << "four means in general position span three dimensions";
}

}  // namespace
}  // namespace ppan
