#include <gtest/gtest.h>

#include <cmath>

#include "ppan/audit/attacker_pool.h"
#include "ppan/audit/key_tuples.h"
#include "ppan/audit/text_parts.h"
#include "ppan/core/random.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

bool holds(const TextParts& parts, const std::string& part) {
  return std::find(parts.part.begin(), parts.part.end(), part) != parts.part.end();
}

TEST(TextPartsTest, WordsEndsAndHowItIsBuilt) {
  const TextParts parts = text_parts("Ab-0123x");
  for (const char* part : {"A", "b", "x", "3", "Ab", "Ab-", "3x", "23x", "0123"})
    EXPECT_TRUE(holds(parts, part)) << part;
  EXPECT_EQ(parts.part.front(), "Aa-9999a");
  EXPECT_EQ(text_parts("").part.front(), "");
  EXPECT_EQ(text_parts("  a").part.front(), "  a");
}

TEST(TextPartsTest, Calendar) {
  const auto day = calendar_form(18'631, NumberForm::kDate);  // Monday, 2021-01-04
  ASSERT_TRUE(day.has_value());
  EXPECT_EQ(day->value, (std::array<std::int32_t, 6>{0, 0, 3, 0, 0, 0}));
  const auto time = calendar_form(-1e6, NumberForm::kTimestamp);  // Wednesday, 1969-12-31 23:59:59
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->value, (std::array<std::int32_t, 6>{2, 11, 30, 23, 59, 59}));
  EXPECT_FALSE(calendar_form(std::nan(""), NumberForm::kDate).has_value());
  EXPECT_FALSE(calendar_form(1e9, NumberForm::kDate).has_value());
  EXPECT_FALSE(calendar_form(5, NumberForm::kNumber).has_value());
}

// Of 8 codes of 3 values, codes 1, 4 and 6 say the level by their sum. Chance gives a tuple 2.5 deviations
// above the greatest of those looked at in about one table of a hundred.
TEST(KeyTuples, FindsTheThreeThatTell) {
  SeededRandom random(3);
  constexpr Index kRows = 2000;
  KeyMatrix coarse(kRows, 8);
  Symbols x;
  std::vector<std::int32_t> rows;
  for (Index i = 0; i < kRows; ++i) {
    for (Index c = 0; c < 8; ++c) coarse(i, c) = static_cast<std::int32_t>(random.index(3));
    const bool says = random.uniform() < 0.5;
    x.push_back(says ? (coarse(i, 1) + coarse(i, 4) + coarse(i, 6)) % 3
                     : static_cast<std::int32_t>(random.index(3)));
    rows.push_back(static_cast<std::int32_t>(i));
  }
  const std::vector<std::int32_t> values(8, 3);
  const std::vector<KeyTuple> found = informative_tuples(coarse, values, x, rows, 3);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].part, (std::vector<Index>{1, 4, 6}));
  EXPECT_EQ(found[0].values, 27);
  EXPECT_EQ(found[0].code(coarse, values, 0), (coarse(0, 1) * 3 + coarse(0, 4)) * 3 + coarse(0, 6));
  shuffle(random, x);
  EXPECT_TRUE(informative_tuples(coarse, values, x, rows, 3).empty());
}

// Two independent witnesses: the pool of them knows what Bayes' rule says, each with weight 1.
TEST(AttackerPoolTest, EvidenceAddsUp) {
  SeededRandom random(4);
  constexpr Index kRows = 4000;
  Matrix<float> first(kRows, 2);
  Matrix<float> second(kRows, 2);
  Matrix<float> nothing = Matrix<float>::Constant(kRows, 2, std::log(0.5F));
  Symbols x;
  for (Index i = 0; i < kRows; ++i) {
    x.push_back(static_cast<std::int32_t>(random.index(2)));
    for (Matrix<float>* witness : {&first, &second}) {
      const std::int32_t said = random.uniform() < 0.7 ? x.back() : 1 - x.back();
      (*witness)(i, said) = std::log(0.7F);
      (*witness)(i, 1 - said) = std::log(0.3F);
    }
  }
  const Vector<double> prior = Vector<double>::Constant(2, 0.5);
  const AttackerPool pool = pool_attackers({&nothing, &first, &second}, x, prior, 1);
  ASSERT_EQ(pool.part.size(), 2U);
  for (const AttackerPool::Part& part : pool.part) {
    EXPECT_NE(part.attacker, 0U);
    EXPECT_NEAR(part.weight, 1, 0.25);  // standard error 0.05
  }
  // Both witnesses agree with probability 0.58, and are then right with 0.49/0.58: 0.139 nats less than
  // chance.
  const Matrix<float> together = pool.apply({&nothing, &first, &second}, prior);
  for (Index i = 0; i < kRows; ++i) EXPECT_NEAR(together.row(i).array().exp().sum(), 1, 1e-4);
  const double agree = 0.49 / 0.58;
  const double best =
      0.58 * (agree * std::log(agree) + (1 - agree) * std::log(1 - agree)) + 0.42 * std::log(0.5);
  EXPECT_NEAR(pool.score, best, 0.03);  // standard error 0.007
  // Who only repeats another adds nothing.
  EXPECT_TRUE(pool_attackers({&first, &first, &nothing}, x, prior, 0).part.empty());
}

}  // namespace
}  // namespace ppan
