#include "ppan/theory/leakage_measures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "ppan/core/random.h"
#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

using ::testing::HasSubstr;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Matrix<double> random_channel(Index rows, Index cols, RandomSource& random) {
  Matrix<double> channel(rows, cols);
  for (Index i = 0; i < channel.size(); ++i) channel(i) = random.uniform() < 0.2 ? 0 : random.uniform();
  for (Index r = 0; r < rows; ++r) {
    channel(r, r % cols) += 0.1;
    channel.row(r) /= channel.row(r).sum();
  }
  return channel;
}

Matrix<double> random_joint(Index rows, Index cols, RandomSource& random) {
  Vector<double> prior(rows);
  for (Index x = 0; x < rows; ++x) prior[x] = 0.05 + random.uniform();
  prior /= prior.sum();
  return prior.asDiagonal() * random_channel(rows, cols, random);
}

Matrix<double> binary_symmetric(double p) {
  return (Matrix<double>(2, 2) << 0.5 * (1 - p), 0.5 * p, 0.5 * p, 0.5 * (1 - p)).finished();
}

Matrix<double> erasure(double e) {
  return (Matrix<double>(2, 3) << 0.5 * (1 - e), 0, 0.5 * e, 0, 0.5 * (1 - e), 0.5 * e).finished();
}

// P(o|s) proportional to exp(-nu |o - s outputs/secrets|), all outside the range put on its ends; secrets
// equally likely.
Matrix<double> truncated_geometric(double nu, Index secrets, Index outputs) {
  Matrix<double> joint(secrets, outputs);
  const double inside = (std::exp(nu) - 1) / (std::exp(nu) + 1);
  const double end = std::exp(nu) / (std::exp(nu) + 1);
  for (Index s = 0; s < secrets; ++s) {
    const double center = static_cast<double>(s * outputs) / static_cast<double>(secrets);
    for (Index o = 0; o < outputs; ++o) {
      const bool at_end = o == 0 || o + 1 == outputs;
      joint(s, o) = (at_end ? end : inside) * std::exp(-nu * std::abs(center - static_cast<double>(o)));
    }
    joint.row(s) /= joint.row(s).sum() * static_cast<double>(secrets);
  }
  return joint;
}

TEST(LeakageMeasures, BinarySymmetricChannelByHand) {
  const Matrix<double> joint = binary_symmetric(0.1);
  EXPECT_NEAR(prior_vulnerability(joint), 0.5, 1e-15);
  EXPECT_NEAR(bayes_vulnerability(joint), 0.9, 1e-15);
  EXPECT_NEAR(min_entropy_leakage(joint), std::log(1.8), 1e-14);
  EXPECT_NEAR(additive_leakage(joint), 0.4, 1e-15);
  EXPECT_NEAR(bayes_security(joint), 0.2, 1e-14);
  EXPECT_NEAR(maximal_leakage(joint), std::log(1.8), 1e-14);
  // Order 2: 2 log( (0.81 + 0.01)^(1/2) ) + log 2 = log 1.64.
  EXPECT_NEAR(arimoto_information(joint, 2), std::log(1.64), 1e-14);
  EXPECT_NEAR(sibson_information(joint, 2), std::log(1.64), 1e-14);
}

TEST(LeakageMeasures, ErasureChannelByHand) {
  const Matrix<double> joint = erasure(0.3);
  EXPECT_NEAR(bayes_vulnerability(joint), 0.7 + 0.15, 1e-15);
  EXPECT_NEAR(bayes_security(joint), 0.3, 1e-14);
  EXPECT_NEAR(maximal_leakage(joint), std::log(1.7), 1e-14);
  // Order 2: per letter 0.35, for the erasure 0.15 sqrt 2; prior 1/sqrt 2.
  EXPECT_NEAR(arimoto_information(joint, 2), 2 * std::log((0.7 + 0.15 * std::sqrt(2)) * std::sqrt(2)), 1e-14);
}

// Bayes risks of the geometric systems of F-BLEAU (Cherubin, Chatzikokolakis, Palamidessi, S&P 2019) with 100
// secrets and 1,000 outputs; worked out with explicit sums in Python.
TEST(LeakageMeasures, GeometricChannels) {
  EXPECT_NEAR(1 - bayes_vulnerability(truncated_geometric(1.0, 100, 1000)), 0.007, 5e-4);
  EXPECT_NEAR(1 - bayes_vulnerability(truncated_geometric(0.1, 100, 1000)), 0.600, 5e-4);
  EXPECT_NEAR(1 - bayes_vulnerability(truncated_geometric(0.2, 100, 1000)), 0.364, 5e-4);
}

// Planar geometric noise as in F-BLEAU's worked example: cells of 150 m, reports on a grid of 15 m, and
// P(z|s) ~ exp(-ln(nu)/100 m |z - centre of s|). A square of `side` cells, reports up to 450 m outside it.
Matrix<double> planar_geometric(Index side, double nu, const Vector<double>& prior) {
  const Index reports = (150 * (side - 1) + 900) / 15 + 1;
  Matrix<double> joint(side * side, reports * reports);
  for (Index s = 0; s < joint.rows(); ++s) {
    for (Index z = 0; z < joint.cols(); ++z) {
      const auto across = static_cast<double>(15 * (z / reports) - 450 - 150 * (s / side));
      const auto along = static_cast<double>(15 * (z % reports) - 450 - 150 * (s % side));
      joint(s, z) = std::exp(-std::log(nu) / 100 * std::hypot(across, along));
    }
    joint.row(s) *= prior[s] / joint.row(s).sum();
  }
  return joint;
}

// Worked out with explicit sums in Python.
TEST(LeakageMeasures, PlanarGeometricChannels) {
  const Vector<double> even = Vector<double>::Constant(25, 1.0 / 25);
  Vector<double> rising = Vector<double>::LinSpaced(25, 1, 25);
  rising /= rising.sum();
  EXPECT_NEAR(1 - bayes_vulnerability(planar_geometric(5, 2, even)), 0.7857225358501196, 1e-12);
  EXPECT_NEAR(1 - bayes_vulnerability(planar_geometric(5, 4, even)), 0.580637052780702, 1e-12);
  EXPECT_NEAR(1 - bayes_vulnerability(planar_geometric(5, 4, rising)), 0.5728239335546066, 1e-12);
  EXPECT_NEAR(1 - bayes_vulnerability(planar_geometric(5, 8, rising)), 0.3983224863991133, 1e-12);
}

// The worked example itself (nu = 4, 20 x 20 cells of San Francisco): a guess without the release errs with
// 0.913, the printed estimate with 0.473 and the best attacker with 0.456. The prior is the shares of Gowalla
// check-ins, which are printed nowhere and come only with the data; an erasure channel with the same two
// risks stands for it here: what is printed depends on the risks alone.
Matrix<double> erasure_with_risks(double prior_risk, double risk) {
  constexpr Index kLevels = 12;
  const double shown = 1 - risk / prior_risk;
  Vector<double> prior = Vector<double>::Constant(kLevels, prior_risk / (kLevels - 1));
  prior[0] = 1 - prior_risk;
  Matrix<double> joint = Matrix<double>::Zero(kLevels, kLevels + 1);
  joint.diagonal() = shown * prior;
  joint.rightCols(1) = (1 - shown) * prior;
  return joint;
}

TEST(LeakageMeasures, WorkedExampleOfFBleau) {
  const Matrix<double> estimated = erasure_with_risks(0.913, 0.473);
  EXPECT_NEAR(1 - prior_vulnerability(estimated), 0.913, 1e-14);
  EXPECT_NEAR(1 - bayes_vulnerability(estimated), 0.473, 1e-14);
  EXPECT_NEAR(std::exp(min_entropy_leakage(estimated)), 6.057471264367819, 1e-12);
  EXPECT_NEAR(additive_leakage(estimated), 0.44, 1e-14);
  EXPECT_NEAR(bayes_security(estimated), 0.5180722891566265, 1e-14);
  EXPECT_NEAR(min_entropy_leakage(estimated) / std::log(2), 2.5987156557884865, 1e-12);
  const Matrix<double> truth = erasure_with_risks(0.913, 0.456);
  EXPECT_NEAR(1 - bayes_vulnerability(truth), 0.456, 1e-14);
  EXPECT_NEAR(bayes_security(truth), 0.456 / 0.913, 1e-14);
  EXPECT_NEAR(min_entropy_leakage(truth), std::log(0.544 / 0.087), 1e-12);
}

TEST(LeakageMeasures, LimitsOfTheOrder) {
  SeededRandom random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const Matrix<double> joint = random_joint(4, 5, random);
    const double information = mutual_information(joint);
    EXPECT_NEAR(arimoto_information(joint, 1), information, 1e-14);
    EXPECT_NEAR(sibson_information(joint, 1), information, 1e-14);
    EXPECT_NEAR(arimoto_information(joint, 1 + 1e-5), information, 1e-4);
    EXPECT_NEAR(arimoto_information(joint, 1 - 1e-5), information, 1e-4);
    EXPECT_NEAR(sibson_information(joint, 1 + 1e-5), information, 1e-4);
    EXPECT_NEAR(arimoto_information(joint, 1e4), min_entropy_leakage(joint), 1e-3);
    EXPECT_NEAR(arimoto_information(joint, kInfinity), min_entropy_leakage(joint), 1e-14);
    EXPECT_NEAR(sibson_information(joint, 1e4), maximal_leakage(joint), 1e-3);
    EXPECT_NEAR(sibson_information(joint, kInfinity), maximal_leakage(joint), 1e-14);
  }
}

TEST(LeakageMeasures, OrderOfTheMeasures) {
  SeededRandom random(5);
  for (int trial = 0; trial < 50; ++trial) {
    const Matrix<double> joint = random_joint(4, 6, random);
    double before = 0;
    for (const double alpha : {0.3, 0.7, 1.0, 1.5, 2.0, 5.0, 20.0, kInfinity}) {
      const double sibson = sibson_information(joint, alpha);
      EXPECT_GE(sibson, before - 1e-12) << alpha;
      before = sibson;
      EXPECT_LE(arimoto_information(joint, alpha), renyi_entropy(joint.rowwise().sum(), alpha) + 1e-12);
    }
    EXPECT_LE(min_entropy_leakage(joint), maximal_leakage(joint) + 1e-12);
    EXPECT_LE(maximal_leakage(joint), std::log(4) + 1e-12);
    EXPECT_LE(bayes_vulnerability(joint), 1 + 1e-12);
    const double security = bayes_security(joint);
    EXPECT_NEAR(security, 1 - additive_leakage(joint) / (1 - prior_vulnerability(joint)), 1e-12);
  }
}

// The release of a release tells no more.
TEST(LeakageMeasures, DataProcessing) {
  SeededRandom random(7);
  Matrix<double> gain(3, 4);
  for (Index i = 0; i < gain.size(); ++i) gain(i) = random.uniform();
  for (int trial = 0; trial < 50; ++trial) {
    const Matrix<double> joint = random_joint(4, 5, random);
    const Matrix<double> after = joint * random_channel(5, 3, random);
    for (const double alpha : {0.5, 1.0, 2.0, 8.0, kInfinity}) {
      EXPECT_LE(arimoto_information(after, alpha), arimoto_information(joint, alpha) + 1e-12) << alpha;
      EXPECT_LE(sibson_information(after, alpha), sibson_information(joint, alpha) + 1e-12) << alpha;
    }
    EXPECT_LE(gain_leakage(after, gain), gain_leakage(joint, gain) + 1e-12);
    EXPECT_GE(bayes_security(after), bayes_security(joint) - 1e-12);
  }
}

TEST(LeakageMeasures, NothingFromIndependenceAndEverythingFromTheSecretItself) {
  const Vector<double> prior = (Vector<double>(3) << 0.5, 0.3, 0.2).finished();
  const Matrix<double> independent = prior * (Vector<double>(2) << 0.4, 0.6).finished().transpose();
  const Matrix<double> all = prior.asDiagonal();
  for (const double alpha : {0.5, 1.0, 3.0, kInfinity}) {
    EXPECT_NEAR(arimoto_information(independent, alpha), 0, 1e-12);
    EXPECT_NEAR(sibson_information(independent, alpha), 0, 1e-12);
    EXPECT_NEAR(arimoto_information(all, alpha), renyi_entropy(prior, alpha), 1e-12);
  }
  EXPECT_NEAR(maximal_leakage(all), std::log(3), 1e-14);
  EXPECT_NEAR(bayes_security(independent), 1, 1e-12);
  EXPECT_NEAR(bayes_security(all), 0, 1e-12);
}

TEST(LeakageMeasures, TheIdentityGainIsBayesVulnerability) {
  SeededRandom random(9);
  const Matrix<double> joint = random_joint(4, 5, random);
  const Matrix<double> identity = Matrix<double>::Identity(4, 4);
  EXPECT_NEAR(prior_gain(joint, identity), prior_vulnerability(joint), 1e-15);
  EXPECT_NEAR(posterior_gain(joint, identity), bayes_vulnerability(joint), 1e-15);
  EXPECT_NEAR(gain_leakage(joint, identity), min_entropy_leakage(joint), 1e-14);
}

TEST(LeakageMeasures, AlphaVulnerabilityIsWhatTheTiltedPosteriorScores) {
  SeededRandom random(11);
  const Matrix<double> joint = random_joint(4, 5, random);
  for (const double alpha : {1.5, 2.0, 8.0}) {
    const auto mean_score = [&](double power) {
      double sum = 0;
      for (Index z = 0; z < joint.cols(); ++z) {
        const Vector<double> q = joint.col(z).array().pow(power) / joint.col(z).array().pow(power).sum();
        sum += joint.col(z).dot(Vector<double>(q.array().pow((alpha - 1) / alpha)));
      }
      return sum;
    };
    EXPECT_NEAR(mean_score(alpha), alpha_vulnerability(joint, alpha), 1e-13);
    EXPECT_LT(mean_score(1), alpha_vulnerability(joint, alpha));
  }
}

TEST(LeakageMeasures, BadInputIsListed) {
  Matrix<double> joint(2, 2);
  joint << 0.5, -0.1, 0.4, 0.4;
  const Problems problems = check_joint(joint);
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_THAT(problems[0].what, HasSubstr("negative"));
  EXPECT_THAT(problems[1].what, HasSubstr("not to 1"));
  EXPECT_EQ(check_gain(Matrix<double>::Constant(2, 3, -1), 2).size(), 3U);
  EXPECT_THROW(sibson_information(binary_symmetric(0.1), 0), Error);
  EXPECT_THROW(arimoto_information(binary_symmetric(0.1), -2), Error);
}

}  // namespace
}  // namespace ppan::theory
