#include "ppan/audit/relation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ppan/audit/additive_fit.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

double value_of(Relation relation, std::vector<double> cells) {
  Matrix<double> number(1, static_cast<Index>(cells.size()));
  for (std::size_t c = 0; c < cells.size(); ++c) {
    number(0, static_cast<Index>(c)) = cells[c];
    relation.part.push_back(static_cast<Index>(c));
  }
  relation.middle.resize(cells.size(), 10);
  relation.scale.resize(cells.size(), 100);
  const KeyMatrix keys(1, 0);
  return relation.value({number, keys}, 0);
}

TEST(Relation, IsWorkedOutFromTheCellsOfARow) {
  using enum RelationKind;
  EXPECT_EQ(value_of({.kind = kOrder}, {1, 2}), -1);
  EXPECT_EQ(value_of({.kind = kOrder}, {2, 2}), 0);
  EXPECT_EQ(value_of({.kind = kRatio}, {3.6, 0.3}), 12);  // in doubles a little more
  EXPECT_EQ(value_of({.kind = kDifference}, {0.3 + 0.1, 0.4}), 0);
  EXPECT_EQ(value_of({.kind = kLine, .parameter = 3}, {5, 32}), 17);
  EXPECT_EQ(value_of({.kind = kProduct}, {12, 7}), -6);
  EXPECT_EQ(value_of({.kind = kSumRemainder, .parameter = 10}, {1.23, 4.58}), 1);  // 123 + 458
  EXPECT_EQ(value_of({.kind = kDifferenceRemainder, .parameter = 7}, {0.01, 0.03}), 5);
  EXPECT_EQ(value_of({.kind = kRemainder, .parameter = 7}, {-0.01}), 6);
  EXPECT_EQ(value_of({.kind = kDigitSum}, {-9.87}), 4);
  EXPECT_EQ(value_of({.kind = kProductRemainder, .parameter = 10}, {1.23, -0.08}), 6);  // 123 * -8 = -990 + 6
  EXPECT_EQ(value_of({.kind = kDistance}, {13, 6}), 5);
  EXPECT_EQ(value_of({.kind = kScaledDistance}, {310, -390}), 5);
  EXPECT_EQ(value_of({.kind = kDivides}, {0.12, 0.36}), 2);
  EXPECT_EQ(value_of({.kind = kThirdOfTwo}, {1, 2, 3}), 0);
  EXPECT_EQ(value_of({.kind = kPairOfRemainders, .parameter = 4}, {1.23, 0.06}), 14);  // 3 and 2
  EXPECT_EQ(value_of({.kind = kResidual}, {11, 8, kNone}), -100);  // weights of 100 about 10
  EXPECT_EQ(value_of({.kind = kSumOfThreeRemainder, .parameter = 10}, {0.05, 0.05, 0.01}), 1);
}

TEST(Relation, HasNoValueWhereACellHasNone) {
  using enum RelationKind;
  EXPECT_TRUE(std::isnan(value_of({.kind = kSum}, {kNone, 2})));
  EXPECT_TRUE(std::isnan(value_of({.kind = kSum}, {2, kNone})));
  EXPECT_TRUE(std::isnan(value_of({.kind = kSumOfThree}, {2, 1, kNone})));
  EXPECT_TRUE(std::isnan(value_of({.kind = kRatio}, {2, 0})));
  EXPECT_TRUE(std::isnan(value_of({.kind = kRemainder, .parameter = 7}, {1e300})));
}

TEST(Relation, AFrequentValueHasABinForItself) {
  Relation relation;
  std::vector<double> values(500, 12.0);
  for (int i = 0; i < 500; ++i) values.push_back(i);
  relation.learn_bins(values, 16);
  EXPECT_NE(relation.bin(12), relation.bin(12.001));
  EXPECT_NE(relation.bin(12), relation.bin(11.999));
  EXPECT_EQ(relation.bin(kNone), 0);
  EXPECT_LT(relation.bin(1e9), relation.bins());
  EXPECT_LT(relation.feature(3), relation.feature(12));
  EXPECT_LT(relation.feature(12), relation.feature(400));
}

// x follows column a, and in half of the rows whether b is the same as a.
struct World {
  Symbols x;
  Symbols a;
  Symbols b;
  Symbols same;
  World(std::uint64_t seed, double tells) {
    SeededRandom random(seed);
    for (int i = 0; i < 4000; ++i) {
      a.push_back(static_cast<std::int32_t>(random.index(4)));
      b.push_back(static_cast<std::int32_t>(random.index(4)));
      same.push_back(a.back() == b.back() ? 1 : 0);
      const bool follows = random.uniform() < tells;
      x.push_back(follows ? same.back() : random.uniform() < 0.2 + 0.2 * a.back() ? 1 : 0);
    }
  }
};

// Under independence the score is a standard normal number (a little less, because the fit has seen the
// rows): above 3.1 once in 1,000 seeds. What a tells by itself is no evidence for what is made of it.
TEST(AdditiveFit, SeesWhatIsBeyondTheColumnsAndNothingElse) {
  for (const double tells : {0.0, 0.2}) {
    const World world(3, tells);
    AdditiveFit fit(world.x, 2);
    const double before = fit.beyond(world.a, 4);
    fit.add(world.a, 4);
    fit.add(world.b, 4);
    fit.sweep();
    EXPECT_GT(before, 10);
    EXPECT_LT(fit.beyond(world.a, 4), 1);
    if (tells > 0) {
      EXPECT_GT(fit.beyond(world.same, 2), 6);
    } else {
      EXPECT_LT(fit.beyond(world.same, 2), 3.1);
    }
  }
}

}  // namespace
}  // namespace ppan
