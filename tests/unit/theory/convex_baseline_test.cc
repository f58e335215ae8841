#include "ppan/theory/convex_baseline.h"

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/random.h"
#include "ppan/theory/information.h"
#include "ppan/theory/symmetric_pair.h"
#include "unit/theory/curve_properties.h"

namespace ppan::theory {
namespace {

struct Case {
  FiniteDistribution distribution;
  Matrix<double> distortion;
};

/// A distribution with many zero cells (whole rows among them) and a distortion with ties.
Case random_case(RandomSource& random, Index nw, Index nx, Index ny, Index nz) {
  Case c{{Matrix<double>::Zero(nw, nx), Matrix<double>::Zero(nw, ny)}, Matrix<double>(ny, nz)};
  const double zeros = 0.7 * random.uniform();
  const bool deterministic = random.uniform() < 0.3;
  for (Index w = 0; w < nw; ++w) {
    if (nw > 3 && w % 5 == 4) continue;
    for (Index i = 0; i < (deterministic ? 1 : nx * ny); ++i) {
      const double mass = !deterministic && random.uniform() < zeros ? 0 : std::pow(random.uniform(), 3);
      const Index x = deterministic ? random.index(nx) : i / ny;
      const Index y = deterministic ? random.index(ny) : i % ny;
      c.distribution.wx(w, x) += mass;
      c.distribution.wy(w, y) += mass;
    }
  }
  c.distribution.wx(0, 0) += 0.01;
  c.distribution.wy(0, 0) += 0.01;
  const double sum = c.distribution.wx.sum();
  c.distribution.wx /= sum;
  c.distribution.wy /= sum;
  for (double& d : c.distortion.reshaped()) d = random.uniform() < 0.3 ? 0 : random.uniform();
  return c;
}

void expect_certified(const Case& c, double budget, const ConvexSolution& solution) {
  EXPECT_LE(solution.gap(), 1e-6);
  EXPECT_GE(solution.gap(), 0);
  EXPECT_LE(solution.distortion, budget + 1e-9);
  EXPECT_GE(solution.mechanism.minCoeff(), 0);
  EXPECT_LT((solution.mechanism.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-12);
  EXPECT_NEAR(solution.leakage, leakage(c.distribution, solution.mechanism), 1e-15);
}

TEST(ConvexBaseline, EqualsTheClosedFormsOnTrueDistributions) {
  for (const auto observation : {Observation::kUsefulOnly, Observation::kFullData})
    for (const int m : {2, 5, 10})
      for (const double p : {0.0, 0.4, 0.95, 1.0})
        for (const double d : {0.0, 1e-9, 1e-4, 0.01, 0.1, 0.35, 0.5, 0.8, 0.9, 1.0}) {
          const SymmetricPair pair{m, p};
          const Case c{distribution_of_pair(joint(pair), observation), error_distortion(m)};
          const ConvexSolution solution = solve_convex(c.distribution, c.distortion, d);
          const double closed = observation == Observation::kUsefulOnly ? least_leakage_useful_only(pair, d)
                                                                        : least_leakage_full_data(pair, d);
          SCOPED_TRACE(::testing::Message()
                       << to_string(observation) << " m=" << m << " p=" << p << " d=" << d);
          expect_certified(c, d, solution);
          EXPECT_NEAR(solution.leakage, closed, 1e-6);
          EXPECT_LE(solution.lower_bound, closed + 1e-12);
        }
}

TEST(ConvexBaseline, CertifiesRandomDistributions) {
  SeededRandom random(21);
  for (int trial = 0; trial < 150; ++trial) {
    SCOPED_TRACE(trial);
    const Case c = random_case(random, 1 + random.index(trial % 15 == 0 ? 100 : 15), 1 + random.index(10),
                               1 + random.index(6), 1 + random.index(10));
    const double least = least_distortion(c.distribution, c.distortion);
    const double blind = (c.distribution.wy * c.distortion).colwise().sum().minCoeff();
    // At the least distortion, a hair above it, in between, and past the point where nothing need leak.
    const double kind = random.uniform();
    const double budget = kind < 0.15  ? least
                          : kind < 0.4 ? least + std::pow(10, -1 - 8 * random.uniform())
                          : kind < 0.9 ? least + (blind - least) * random.uniform()
                                       : blind + 0.1;
    const ConvexSolution solution = solve_convex(c.distribution, c.distortion, budget);
    expect_certified(c, budget, solution);
    EXPECT_LE(solution.iterations, 100);
    if (budget > blind) {
      EXPECT_LE(solution.leakage, 1e-6);
    }
    // No mechanism within the budget may lie below the bound.
    for (int i = 0; i < 50; ++i) {
      Matrix<double> other(c.distribution.wx.rows(), c.distortion.cols());
      for (double& v : other.reshaped()) v = std::pow(random.uniform(), 5);
      for (Index w = 0; w < other.rows(); ++w) other.row(w) /= other.row(w).sum();
      other = (0.9 * solution.mechanism + 0.1 * other).eval();
      if (expected_distortion(c.distribution, other, c.distortion) > budget) continue;
      ASSERT_GE(leakage(c.distribution, other), solution.lower_bound - 1e-12);
    }
  }
}

// Two observations, two releases: the mechanism is two numbers, so a grid of 1001 x 1001 finds the optimum.
TEST(ConvexBaseline, AgreesWithExhaustiveSearch) {
  const Matrix<double> pair = (Matrix<double>(3, 2) << 0.25, 0.05, 0.1, 0.3, 0.1, 0.2).finished();
  const Case c{distribution_of_pair(pair, Observation::kUsefulOnly),
               (Matrix<double>(2, 2) << 0, 2, 1, 0).finished()};
  for (const double budget : {0.05, 0.2, 0.4}) {
    double best = 1e9;
    Matrix<double> mechanism(2, 2);
    for (int i = 0; i <= 1000; ++i)
      for (int j = 0; j <= 1000; ++j) {
        mechanism << i / 1000.0, 1 - i / 1000.0, j / 1000.0, 1 - j / 1000.0;
        if (expected_distortion(c.distribution, mechanism, c.distortion) <= budget + 1e-12)
          best = std::min(best, leakage(c.distribution, mechanism));
      }
    const ConvexSolution solution = solve_convex(c.distribution, c.distortion, budget);
    expect_certified(c, budget, solution);
    EXPECT_LE(solution.lower_bound, best + 1e-12);
    EXPECT_NEAR(solution.leakage, best, 1e-3);
  }
}

TEST(ConvexBaseline, MultiplierIsTheSlopeOfTheCurve) {
  const Matrix<double> pair =
      (Matrix<double>(3, 3) << 0.25, 0.05, 0.02, 0.03, 0.2, 0.05, 0.1, 0.05, 0.25).finished();
  const FiniteDistribution distribution = distribution_of_pair(pair, Observation::kUsefulOnly);
  const Matrix<double> d = error_distortion(3);
  std::vector<double> curve;
  for (int i = 0; i <= 20; ++i) curve.push_back(solve_convex(distribution, d, i / 20.0).leakage);
  EXPECT_THAT(ppan::testing::broken_properties(curve, -1, 1, 1e-6), ::testing::IsEmpty());
  EXPECT_NEAR(curve.front(), mutual_information(pair), 1e-6);
  const ConvexOptions exact{.gap = 1e-9};
  for (const double budget : {0.1, 0.2, 0.4}) {
    const double h = 1e-3;
    const double slope = (solve_convex(distribution, d, budget + h, exact).leakage -
                          solve_convex(distribution, d, budget - h, exact).leakage) /
                         (2 * h);
    ASSERT_LT(slope, -0.1);
    EXPECT_NEAR(solve_convex(distribution, d, budget, exact).multiplier, -slope, 1e-3 * std::abs(slope));
  }
}

// The certificate is not a formality: stopped after one step the gap is wide, and the truth lies inside it.
TEST(ConvexBaseline, AnUnfinishedSolutionSaysSo) {
  const SymmetricPair pair{10, 0.4};
  const FiniteDistribution distribution = distribution_of_pair(joint(pair), Observation::kFullData);
  const ConvexSolution early = solve_convex(distribution, error_distortion(10), 0.2, {.iterations = 1});
  EXPECT_GT(early.gap(), 1e-2);
  EXPECT_LE(early.lower_bound, least_leakage_full_data(pair, 0.2));
  EXPECT_GE(early.leakage, least_leakage_full_data(pair, 0.2));
}

TEST(ConvexBaseline, ImpossibleObservationsReleaseTheMarginal) {
  FiniteDistribution distribution =
      distribution_of_pair(joint(SymmetricPair{3, 0.2}), Observation::kUsefulOnly);
  distribution.wx.conservativeResize(4, 3);
  distribution.wy.conservativeResize(4, 3);
  distribution.wx.row(3).setZero();
  distribution.wy.row(3).setZero();
  const ConvexSolution solution = solve_convex(distribution, error_distortion(3), 0.1);
  const Matrix<double> marginal = distribution.wx.rowwise().sum().transpose() * solution.mechanism;
  EXPECT_LT((solution.mechanism.row(3) - marginal).cwiseAbs().maxCoeff(), 1e-12);
}

TEST(ConvexBaseline, RefusesWhatCannotBe) {
  const FiniteDistribution distribution =
      distribution_of_pair(joint(SymmetricPair{3, 0.2}), Observation::kBottleneck);
  EXPECT_NEAR(least_distortion(distribution, error_distortion(3)), 0.2, 1e-15);
  EXPECT_THROW(solve_convex(distribution, error_distortion(3), 0.19), Error);
  try {
    solve_convex(distribution, -error_distortion(2), -1, {.gap = 0, .iterations = 0});
    FAIL() << "not refused";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    for (const char* field : {"options.gap", "options.iterations", "budget", "distortion"})
      EXPECT_THAT(error.what(), ::testing::HasSubstr(field));
  }
}

}  // namespace
}  // namespace ppan::theory
