#include "ppan/theory/information.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

#include "ppan/core/random.h"

namespace ppan::theory {
namespace {

Matrix<double> random_joint(Index rows, Index cols, RandomSource& random, double zero_share = 0.2) {
  Matrix<double> joint(rows, cols);
  for (Index i = 0; i < joint.size(); ++i) joint(i) = random.uniform() < zero_share ? 0 : random.uniform();
  joint(0) += 0.1;
  return joint / joint.sum();
}

TEST(Entropy, KnownValues) {
  EXPECT_NEAR(entropy(Matrix<double>::Constant(1, 8, 0.125)), std::log(8.0), 1e-15);
  EXPECT_EQ(entropy((Matrix<double>(1, 3) << 0, 1, 0).finished()), 0);
  // mpmath, 30 digits: h2(0.1) = log 2 - 0.368064207168497069910682093234.
  EXPECT_NEAR(binary_entropy(0.1), std::numbers::ln2 - 0.368064207168497070, 1e-15);
  EXPECT_EQ(binary_entropy(0), 0);
  EXPECT_EQ(binary_entropy(1), 0);
  EXPECT_NEAR(binary_entropy(0.5), std::numbers::ln2, 1e-15);
}

TEST(Entropy, InverseUndoesIt) {
  for (const double p : {0.0, 1e-12, 1e-6, 0.01, 0.11, 0.3, 0.45}) {
    const double back = inverse_binary_entropy(binary_entropy(p));
    EXPECT_NEAR(back, p, 1e-13) << p;
  }
  EXPECT_EQ(inverse_binary_entropy(std::numbers::ln2), 0.5);
  EXPECT_EQ(inverse_binary_entropy(-0.1), 0);
}

TEST(MutualInformation, KnownValues) {
  // A bit and its copy through a channel that errs 1 time in 10 (mpmath).
  const Matrix<double> channel = (Matrix<double>(2, 2) << 0.45, 0.05, 0.05, 0.45).finished();
  EXPECT_NEAR(mutual_information(channel), 0.368064207168497070, 1e-15);
  EXPECT_NEAR(mutual_information(Matrix<double>::Identity(4, 4) / 4), std::log(4.0), 1e-15);
  // Erased with probability 0.3: 0.7 log 2.
  const Matrix<double> erasure = (Matrix<double>(2, 3) << 0.35, 0, 0.15, 0, 0.35, 0.15).finished();
  EXPECT_NEAR(mutual_information(erasure), 0.7 * std::numbers::ln2, 1e-15);
}

TEST(MutualInformation, Properties) {
  SeededRandom random(11);
  for (int trial = 0; trial < 200; ++trial) {
    const Matrix<double> joint = random_joint(1 + random.index(6), 1 + random.index(6), random);
    const double information = mutual_information(joint);
    EXPECT_GE(information, 0);
    EXPECT_NEAR(information, mutual_information(joint.transpose()), 1e-14) << "symmetry";
    EXPECT_NEAR(information, entropy(joint.rowwise().sum()) + entropy(joint.colwise().sum()) - entropy(joint),
                1e-13);
    EXPECT_NEAR(information, mutual_information(joint.colwise().reverse()), 1e-14) << "relabelling";
    const Matrix<double> product = joint.rowwise().sum() * joint.colwise().sum();
    EXPECT_NEAR(mutual_information(product), 0, 1e-14) << "independence";
    Matrix<double> channel = random_joint(joint.cols(), 4, random, 0);
    for (Index i = 0; i < channel.rows(); ++i) channel.row(i) /= channel.row(i).sum();
    EXPECT_LE(mutual_information(joint * channel), information + 1e-14) << "data processing";
  }
}

}  // namespace
}  // namespace ppan::theory
