#include "ppan/theory/symmetric_pair.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ppan/core/random.h"
#include "ppan/theory/finite_distribution.h"
#include "ppan/theory/information.h"
#include "ppan/theory/leakage_measures.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(SymmetricPair, InformationIsThatOfTheJoint) {
  // mpmath, 30 digits.
  EXPECT_NEAR(symmetric_information(10, 0.4), 0.750683595050301495, 1e-14);
  EXPECT_NEAR(symmetric_information(3, 0.5), 0.0588915178281917273, 1e-14);
  EXPECT_NEAR(symmetric_information(2, 0.1), 0.368064207168497070, 1e-14);
  for (const int m : {2, 3, 10})
    for (const double p : {0.0, 0.1, 0.5, 0.9, 1.0})
      EXPECT_NEAR(symmetric_information(m, p), mutual_information(joint(SymmetricPair{m, p})), 1e-14)
          << m << " " << p;
  EXPECT_NEAR(symmetric_information(10, 0), std::log(10.0), 1e-15);
  EXPECT_NEAR(symmetric_information(10, 0.9), 0, 1e-15);
  EXPECT_NEAR(symmetric_information(10, 1), std::log(10.0 / 9), 1e-15);
}

// The release that flips Y to each other symbol with probability D/(m-1) has the distortion and leakage
// claimed.
TEST(SymmetricPair, UsefulOnlyOptimumIsAttained) {
  for (const double p : {0.1, 0.4, 0.95})
    for (const double d : {0.0, 0.2, 0.6, 0.85}) {
      const SymmetricPair pair{10, p};
      Matrix<double> flip = Matrix<double>::Constant(10, 10, d / 9);
      flip.diagonal().setConstant(1 - d);
      const FiniteDistribution distribution = distribution_of_pair(joint(pair), Observation::kUsefulOnly);
      EXPECT_NEAR(expected_distortion(distribution, flip, error_distortion(10)), d, 1e-14);
      EXPECT_NEAR(leakage(distribution, flip), least_leakage_useful_only(pair, d), 1e-13);
    }
}

// With full data: change Y only where it equals X (p below 1 - 1/m), or only to X (above).
TEST(SymmetricPair, FullDataOptimumIsAttained) {
  const int m = 4;
  for (const double p : {0.3, 0.9})
    for (const double share : {0.0, 0.5, 1.0}) {
      const SymmetricPair pair{m, p};
      const double d = share * std::abs(1 - 1.0 / m - p);
      Matrix<double> mechanism = Matrix<double>::Zero(m * m, m);
      for (int x = 0; x < m; ++x)
        for (int y = 0; y < m; ++y) {
          auto row = mechanism.row(x * m + y);
          row[y] = 1;
          if (p < 0.5 && x == y) {
            row.setConstant(d / (1 - p) / (m - 1));
            row[y] = 1 - d / (1 - p);
          } else if (p > 0.5 && x != y) {
            row[y] = 1 - d / p;
            row[x] = d / p;
          }
        }
      const FiniteDistribution distribution = distribution_of_pair(joint(pair), Observation::kFullData);
      EXPECT_NEAR(expected_distortion(distribution, mechanism, error_distortion(m)), d, 1e-14);
      EXPECT_NEAR(leakage(distribution, mechanism), least_leakage_full_data(pair, d), 1e-13);
    }
}

TEST(SymmetricPair, CurvesObeyTheLaws) {
  for (const int m : {2, 5, 10})
    for (const double p : {0.0, 0.2, 0.4, 0.95, 1.0}) {
      const SymmetricPair pair{m, p};
      std::vector<double> useful;
      std::vector<double> full;
      for (int i = 0; i <= 200; ++i) {
        useful.push_back(least_leakage_useful_only(pair, i / 200.0));
        full.push_back(least_leakage_full_data(pair, i / 200.0));
        EXPECT_LE(full.back(), useful.back() + 1e-14) << "seeing more cannot hurt";
      }
      EXPECT_THAT(ppan::testing::broken_properties(useful, -1), IsEmpty()) << m << " " << p;
      EXPECT_THAT(ppan::testing::broken_properties(full, -1), IsEmpty()) << m << " " << p;
      EXPECT_NEAR(useful.front(), mutual_information(pair), 1e-14);
      EXPECT_NEAR(full.front(), mutual_information(pair), 1e-14);
      EXPECT_EQ(useful.back(), 0);
      EXPECT_EQ(full.back(), 0);
    }
}

TEST(SymmetricPair, ListsEveryProblem) {
  EXPECT_THAT((SymmetricPair{1, 1.5}.check()), SizeIs(2));
  EXPECT_THAT((SymmetricPair{2, 0}.check()), IsEmpty());
  try {
    least_leakage_full_data(SymmetricPair{1, -0.1}, -1);
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    for (const char* field : {"m:", "p:", "distortion:"})
      EXPECT_THAT(error.what(), ::testing::HasSubstr(field));
  }
}

TEST(CurveLaws, CatchPlantedFaults) {
  using ppan::testing::broken_properties;
  EXPECT_THAT(broken_properties({3, 1, 0.2, 0}, -1), IsEmpty());
  EXPECT_THAT(broken_properties({3, 1, 1.1, 0}, -1), ::testing::Contains("rises"));
  EXPECT_THAT(broken_properties({3, 2.5, 1, 0}, -1), ::testing::Contains("not convex"));
  EXPECT_THAT(broken_properties({3, 1, -0.1}, -1), ::testing::Contains("negative"));
  EXPECT_THAT(broken_properties({0, 1, 3}, 1, -1), ::testing::Contains("not concave"));
  EXPECT_THAT(broken_properties({1, 0.5}, 1), ::testing::Contains("falls"));
}

// The symmetric release is optimal for every order: the closed form is what that release leaks, and a solver
// for Shannon's order and random releases find nothing below it.
TEST(SymmetricPair, OtherOrdersOfLeakage) {
  const SymmetricPair pair{.m = 4, .p = 0.3};
  EXPECT_EQ(symmetric_information(4, 0.3, 1), symmetric_information(4, 0.3));
  EXPECT_NEAR(symmetric_information(4, 0.3, std::numeric_limits<double>::infinity()), std::log(4 * 0.7),
              1e-13);
  SeededRandom random(3);
  const FiniteDistribution distribution = distribution_of_pair(joint(pair), Observation::kUsefulOnly);
  for (const double alpha : {2.0, 8.0, std::numeric_limits<double>::infinity()}) {
    const Matrix<double> kept = joint({.m = 4, .p = 0.2}) * 4;  // P(z|y) that errs with 0.2
    EXPECT_NEAR(arimoto_information(released_joint(distribution, kept), alpha),
                least_leakage_useful_only(pair, 0.2, alpha), 1e-12);
    for (int t = 0; t < 2000; ++t) {
      Matrix<double> p(4, 4);
      for (Index i = 0; i < p.size(); ++i) p(i) = std::pow(random.uniform(), 4);
      p += 4 * random.uniform() * Matrix<double>::Identity(4, 4);
      for (Index w = 0; w < 4; ++w) p.row(w) /= p.row(w).sum();
      const double d = expected_distortion(distribution, p, error_distortion(4));
      EXPECT_GE(arimoto_information(released_joint(distribution, p), alpha),
                least_leakage_useful_only(pair, d, alpha) - 1e-12);
    }
  }
}

}  // namespace
}  // namespace ppan::theory
