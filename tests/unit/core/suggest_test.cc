#include "ppan/core/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::vector<std::string> kCommands{"curve", "pick", "release", "audit", "report", "theory", "paper"};

TEST(Nearest, FindsOneSlipOfEachKind) {
  EXPECT_THAT(nearest("theroy", kCommands), ElementsAre("theory"));  // neighbours swapped
  EXPECT_THAT(nearest("audt", kCommands), ElementsAre("audit"));     // left out
  EXPECT_THAT(nearest("ppaper", kCommands), ElementsAre("paper"));   // doubled
  EXPECT_THAT(nearest("curbe", kCommands), ElementsAre("curve"));    // mistaken
}

TEST(Nearest, ABeginningIsAlwaysNear) {
  EXPECT_THAT(nearest("rel", kCommands), ElementsAre("release"));
  EXPECT_THAT(nearest("re", kCommands), ElementsAre("release", "report"));
}

TEST(Nearest, NearestFirstAndAtMostThree) {
  const std::vector<std::string> names{"abcd-xx", "abcd-y", "abcd", "abce", "abcf"};
  EXPECT_THAT(nearest("abce", names), ElementsAre("abce", "abcd", "abcf"));
}

TEST(Nearest, NothingLikeItFindsNothing) {
  EXPECT_THAT(nearest("zzzzzz", kCommands), IsEmpty());
  EXPECT_THAT(nearest("", kCommands), IsEmpty());
  EXPECT_THAT(nearest("anything", {}), IsEmpty());
}

TEST(UnknownName, AsksOrLists) {
  EXPECT_EQ(unknown_name("command", "theroy", kCommands),
            "unknown command 'theroy' (did you mean 'theory'?)");
  EXPECT_EQ(unknown_name("command", "rep", kCommands), "unknown command 'rep' (did you mean 'report'?)");
  const std::vector<std::string> two{"nats", "bits"};
  EXPECT_EQ(unknown_name("unit", "metres", two), "unknown unit 'metres' (known: nats, bits)");
  EXPECT_EQ(unknown_name("command", "re", kCommands),
            "unknown command 're' (did you mean 'release' or 'report'?)");
}

// Thousands of names, each unknown among thousands: what is said of one stays short.
TEST(UnknownName, ManyNamesAreNotAllListed) {
  std::vector<std::string> names;
  for (int i = 0; i < 20000; ++i) names.push_back("column" + std::to_string(i));
  const std::string text = unknown_name("column", "zz", names);
  EXPECT_LT(text.size(), 2000U);
  EXPECT_NE(text.find(", ...)"), std::string::npos);
}

}  // namespace
}  // namespace ppan
