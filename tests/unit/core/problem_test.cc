#include "ppan/core/problem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(ProblemList, SaysFieldValueAndRule) {
  ProblemList list;
  list.require_at_least("epochs", 0, 1);
  list.require_positive("rate", -0.5);
  list.require_between("p", 1.5, 0, 1);
  list.require_inside("rho", 1, -1, 1);
  EXPECT_THAT(list.take(),
              ElementsAre(Problem{"epochs", "0 is not allowed; it must be at least 1"},
                          Problem{"rate", "-0.5 is not allowed; it must be greater than 0"},
                          Problem{"p", "1.5 is not allowed; it must lie between 0 and 1"},
                          Problem{"rho", "1 is not allowed; it must be greater than -1 and less than 1"}));
}

TEST(ProblemList, AcceptsTheEndsOfItsRanges) {
  ProblemList list;
  list.require_at_least("a", 1, 1);
  list.require_between("b", 0, 0, 1);
  list.require_between("b", 1, 0, 1);
  list.require_inside("c", 0.999, -1, 1);
  list.require_positive("d", std::numeric_limits<double>::denorm_min());
  list.require(true, "e", "never said");
  EXPECT_THAT(list.take(), IsEmpty());
}

TEST(ProblemList, NothingThatIsNotFinitePasses) {
  for (const double value : {kNan, kInfinity, -kInfinity}) {
    SCOPED_TRACE(value);
    ProblemList list;
    list.require_at_least("a", value, 0);
    list.require_positive("b", value);
    list.require_between("c", value, 0, kInfinity);
    list.require_inside("d", value, -kInfinity, kInfinity);
    EXPECT_THAT(list.take(), SizeIs(4));
  }
}

TEST(ProblemList, NestedFieldsCarryTheirPath) {
  ProblemList list;
  list.add("train", {{"epochs", "too few"}, {"adam.rate", "too large"}});
  EXPECT_THAT(list.take(),
              ElementsAre(Problem{"train.epochs", "too few"}, Problem{"train.adam.rate", "too large"}));
}

TEST(RequireNone, ListsEveryProblemALineEach) {
  EXPECT_NO_THROW(require_none({}, "options"));
  try {
    require_none({{"a", "first"}, {"b", "second"}}, "wrong options");
    FAIL() << "two problems passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_STREQ(error.what(), "wrong options\n  a: first\n  b: second");
  }
}

TEST(RequireNone, TakesTheCodeItIsGiven) {
  try {
    require_none({{"a", "first"}}, "wrong data", ErrorCode::kBadInput);
    FAIL() << "a problem passed";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("a: first"));
  }
}

}  // namespace
}  // namespace ppan
