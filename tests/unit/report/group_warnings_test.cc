#include "ppan/report/group_warnings.h"

#include <gmock/gmock.h>

namespace ppan {
namespace {

using ::testing::ElementsAre;

TEST(GroupWarnings, SaysTheSameOfSeveralPointsOnce) {
  EXPECT_THAT(
      group_warnings({"point 1: more may leak", "the table is small", "point 2: more may leak",
                      "point 2: the distortion 0.25 is above its budget 0.2", "point 12: more may leak"}),
      ElementsAre("points 1, 2 and 12: more may leak", "the table is small",
                  "point 2: the distortion 0.25 is above its budget 0.2"));
}

TEST(GroupWarnings, NumbersThatDifferAreThoseOfTheFirst) {
  EXPECT_THAT(group_warnings({"point 3: found 0.61 of 2 nats", "point 5: found 0.7 of 12 nats"}),
              ElementsAre("points 3 and 5: found 0.61 of 2 nats (numbers of point 3)"));
}

TEST(GroupWarnings, OtherWordsStayApart) {
  EXPECT_THAT(group_warnings({"point 1: a", "point 2: b", "point x: a", "a"}),
              ElementsAre("point 1: a", "point 2: b", "point x: a", "a"));
}

}  // namespace
}  // namespace ppan
