#include "ppan/core/cell_text.h"

#include <gtest/gtest.h>

#include "ppan/core/error.h"

namespace ppan {
namespace {

TEST(CellText, AValueIsShownOrLeftOut) {
  const std::string message =
      "line 3: " + marked_value("\"12a\"") + " is not a number" + marked_value(": \"x\"", "");
  EXPECT_EQ(with_values(message), "line 3: \"12a\" is not a number: \"x\"");
  EXPECT_EQ(without_values(message), "line 3: the cell is not a number");
  EXPECT_EQ(without_values("no value in it"), "no value in it");
}

TEST(CellText, MarksInAValueDoNotEndIt) {
  const std::string hostile = "a\x03secret\x1F\x02z";
  EXPECT_EQ(without_values(marked_value(hostile)), "the cell");
  EXPECT_EQ(with_values(marked_value(hostile)), "asecretz");
}

TEST(CellText, AnErrorQuotesNoValueUnlessAsked) {
  const Error error(ErrorCode::kBadInput, marked_value("\"12a\"") + " is not a number",
                    "add " + marked_value("\"12a\""));
  EXPECT_STREQ(error.what(), "the cell is not a number");
  EXPECT_EQ(error.fix(), "add the cell");
  EXPECT_EQ(error.what_with_values(), "\"12a\" is not a number");
  EXPECT_EQ(error.fix_with_values(), "add \"12a\"");
  EXPECT_TRUE(error.hides_values());
  EXPECT_FALSE(Error(ErrorCode::kUsage, "no").hides_values());
}

}  // namespace
}  // namespace ppan
