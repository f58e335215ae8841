#include "ppan/theory/finite_distribution.h"

#include <gmock/gmock.h>

#include "ppan/theory/information.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

const Matrix<double> kPair = (Matrix<double>(2, 3) << 0.1, 0.2, 0.05, 0.3, 0, 0.35).finished();

TEST(FiniteDistribution, EveryObservationIsAConsistentLaw) {
  for (const auto observation : {Observation::kUsefulOnly, Observation::kFullData,
                                 Observation::kRateDistortion, Observation::kBottleneck})
    EXPECT_THAT(distribution_of_pair(kPair, observation).check(), IsEmpty()) << to_string(observation);
  const FiniteDistribution full = distribution_of_pair(kPair, Observation::kFullData);
  EXPECT_EQ(full.wx(1 * 3 + 2, 1), 0.35);  // w = x |Y| + y
  EXPECT_EQ(full.wy(1 * 3 + 2, 2), 0.35);
  EXPECT_EQ(full.wx(1 * 3 + 2, 0), 0);
  EXPECT_EQ(parse_observation("full-data"), Observation::kFullData);
  EXPECT_EQ(parse_observation("everything"), std::nullopt);
}

TEST(FiniteDistribution, ScoresMechanisms) {
  const FiniteDistribution distribution = distribution_of_pair(kPair, Observation::kUsefulOnly);
  const Matrix<double> unchanged = Matrix<double>::Identity(3, 3);
  EXPECT_NEAR(leakage(distribution, unchanged), mutual_information(kPair), 1e-15);
  EXPECT_NEAR(useful_information(distribution, unchanged), entropy(kPair.colwise().sum()), 1e-15);
  EXPECT_EQ(expected_distortion(distribution, unchanged, error_distortion(3)), 0);
  const Matrix<double> constant = (Matrix<double>(3, 3) << 1, 0, 0, 1, 0, 0, 1, 0, 0).finished();
  EXPECT_EQ(leakage(distribution, constant), 0);
  EXPECT_NEAR(expected_distortion(distribution, constant, error_distortion(3)), 0.6, 1e-15);
  EXPECT_THROW((void)leakage(distribution, Matrix<double>::Identity(2, 2)), Error);
  EXPECT_THROW((void)expected_distortion(distribution, unchanged, error_distortion(2)), Error);
}

TEST(FiniteDistribution, ListsEveryProblem) {
  FiniteDistribution distribution = distribution_of_pair(kPair, Observation::kUsefulOnly);
  distribution.wx(0, 0) += 0.5;
  EXPECT_THAT(distribution.check(), SizeIs(2));  // the sum, and the disagreement with wy
  distribution.wy(0, 0) = -1;
  EXPECT_THAT(distribution.check(), SizeIs(4));
}

TEST(PlugIn, CountsWithAndWithoutPrior) {
  Records<double> records;
  records.sensitive.push_back({{0, 0, 1, 1}, 2, {}});
  records.useful = {{2, 2, 0, 2}, 3, {}};
  records.observed = records.useful;
  const Matrix<double> plain = plug_in_pair(records);
  EXPECT_EQ(plain, (Matrix<double>(2, 3) << 0, 0, 0.5, 0.25, 0, 0.25).finished());
  const Matrix<double> smoothed = plug_in_pair(records, 1);
  EXPECT_NEAR(smoothed(0, 2), 0.3, 1e-15);
  EXPECT_NEAR(smoothed(0, 0), 0.1, 1e-15);
  EXPECT_NEAR(smoothed.sum(), 1, 1e-15);
  EXPECT_THROW(plug_in_pair(records, -1), Error);
  records.useful.code[0] = 3;
  EXPECT_THROW(plug_in_pair(records), Error);
  records.useful = {{}, 0, Matrix<double>::Zero(4, 1)};
  EXPECT_THROW(plug_in_pair(records), Error);
}

}  // namespace
}  // namespace ppan::theory
