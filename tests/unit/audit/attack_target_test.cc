#include "ppan/audit/attack_target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::int32_t> all_rows(Index rows) {
  std::vector<std::int32_t> out(static_cast<std::size_t>(rows));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

AuditColumn cells(const std::vector<std::string>& text) {
  return column_of_cells("c", text, std::vector<std::string>{"", "NA"});
}

std::string refusal(const AuditColumn& column) {
  try {
    target_of(column, all_rows(column.rows()));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_FALSE(error.fix().empty());
    return error.what();
  }
  return "accepted";
}

TEST(AttackTarget, DifferentTextsOfANumberAreOneCategory) {
  std::vector<std::string> text;
  for (int i = 0; i < 30; ++i) text.push_back(i % 3 == 0 ? "1" : i % 3 == 1 ? "1.0" : "2");
  const AttackTarget target = target_of(cells(text), all_rows(30));
  EXPECT_EQ(target.levels, 2);
  EXPECT_EQ(target.code[0], target.code[1]);
  EXPECT_NE(target.code[0], target.code[2]);
}

TEST(AttackTarget, RareCategoriesAreOne) {
  std::vector<std::string> text(40, "a");
  for (int i = 0; i < 20; ++i) text.push_back("b");
  for (int i = 0; i < 12; ++i) text.push_back("rare" + std::to_string(i));
  const AttackTarget target = target_of(cells(text), all_rows(static_cast<Index>(text.size())));
  EXPECT_THAT(target.level, ElementsAre("a", "b", "(rare)"));
  EXPECT_THAT(target.notes, ElementsAre(HasSubstr("12 of 14 values are rare")));
}

TEST(AttackTarget, AClassOfOneRowJoinsTheRarestThatStands) {
  std::vector<std::string> text(40, "a");
  text.insert(text.end(), 20, "b");
  text.insert(text.end(), 15, "c");
  text.emplace_back("once");
  const AttackTarget target = target_of(cells(text), all_rows(static_cast<Index>(text.size())));
  EXPECT_THAT(target.level, ElementsAre("a", "b", "(rare)"));
  EXPECT_EQ(target.code.back(), target.code[60]);
}

TEST(AttackTarget, WhatCannotBeAudited) {
  EXPECT_THAT(refusal(cells(std::vector<std::string>(20, "x"))), HasSubstr("is constant"));
  EXPECT_THAT(refusal(cells(std::vector<std::string>(20, "NA"))), HasSubstr("has no value in any row"));
  std::vector<std::string> once(30, "x");
  once.emplace_back("y");
  EXPECT_THAT(refusal(cells(once)), HasSubstr("is constant but for 1 rows"));
  std::vector<std::string> id;
  for (int i = 0; i < 50; ++i) id.push_back("person" + std::to_string(i));
  EXPECT_THAT(refusal(cells(id)), HasSubstr("50 different values in 50 rows"));
}

TEST(AttackTarget, BinsHoldEqualShares) {
  Vector<double> value(1001);
  for (Index i = 0; i < 1000; ++i) value[i] = std::pow(static_cast<double>(i), 3);
  value[1000] = std::numeric_limits<double>::quiet_NaN();
  const AttackTarget target = target_of(column_of_numbers("v", value), all_rows(1001), {.bins = 4});
  ASSERT_TRUE(target.continuous);
  EXPECT_EQ(target.levels, 5);
  EXPECT_EQ(target.missing_level, 4);
  EXPECT_EQ(target.code[1000], 4);
  std::vector<int> count(5, 0);
  for (const std::int32_t code : target.code) ++count[static_cast<std::size_t>(code)];
  EXPECT_THAT(count, ElementsAre(250, 250, 250, 250, 1));
  EXPECT_EQ(target.code[249], 0);
  EXPECT_EQ(target.code[250], 1);
}

// Half of the values are one value: bins cannot be equal, but none may be empty and all must be told apart.
TEST(AttackTarget, BinsOfValuesThatPileUp) {
  Vector<double> value(200);
  for (Index i = 0; i < 200; ++i) value[i] = i < 100 ? 0 : static_cast<double>(i);
  const AttackTarget target = target_of(column_of_numbers("v", value), all_rows(200), {.bins = 4});
  std::vector<int> count(static_cast<std::size_t>(target.levels), 0);
  for (const std::int32_t code : target.code) ++count[static_cast<std::size_t>(code)];
  for (const int c : count) EXPECT_GT(c, 0);
  EXPECT_GE(target.levels, 2);
}

TEST(AttackTarget, JointCodeTellsPairsApart) {
  std::int32_t levels = 0;
  const Symbols joint = joint_code({0, 0, 1, 1, 0}, {0, 1, 0, 1, 0}, 2, levels);
  EXPECT_EQ(levels, 4);
  EXPECT_EQ(joint[0], joint[4]);
  EXPECT_NE(joint[1], joint[2]);
}

}  // namespace
}  // namespace ppan
