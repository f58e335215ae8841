#include "ppan/worlds/finite_table_world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/theory/symmetric_pair.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Matrix<double> pair_of(double p) {
  return theory::joint(theory::SymmetricPair{.m = 3, .p = p});
}

TEST(FiniteTable, ObservationsKeepThePair) {
  const FiniteTableWorld table = finite_table(pair_of(0.3));
  for (const FiniteTableWorld& seen : {see_useful(table), see_sensitive(table), see_all(table),
                                       see_flipped(table, 0.2), see_erased(table, 0.4)}) {
    EXPECT_TRUE(seen.check().empty());
    EXPECT_LT((seen.pair() - table.pair()).cwiseAbs().maxCoeff(), 1e-15);
    EXPECT_TRUE(seen.distribution().check().empty());
  }
}

// What is seen of Y tells of X as much as the channels in between let through.
TEST(FiniteTable, InformationOfWhatIsSeen) {
  const theory::SymmetricPair pair{.m = 3, .p = 0.3};
  const FiniteTableWorld table = finite_table(pair_of(0.3));
  const double all = theory::mutual_information(pair);
  EXPECT_NEAR(see_useful(table).mutual_information(), all, 1e-14);
  EXPECT_NEAR(see_erased(table, 0.4).mutual_information(), 0.6 * all, 1e-14);
  EXPECT_NEAR(see_all(table).mutual_information(), std::log(3), 1e-14);
  // Two symmetric channels in a row: equal with 0.7 0.8 + 0.3 0.2 / 2.
  EXPECT_NEAR(see_flipped(table, 0.2).mutual_information(), theory::symmetric_information(3, 1 - 0.59),
              1e-14);
}

// 20,000 records: each of the nine shares has a standard error below 0.0033; six of them is one failure in
// 5e8.
TEST(FiniteTable, SamplesFollowTheTable) {
  const FiniteTableWorld table = see_all(finite_table(pair_of(0.3)));
  SeededRandom random(5);
  const Records<double> records = table.sample(20000, random);
  Matrix<double> share = Matrix<double>::Zero(3, 3);
  for (std::size_t i = 0; i < 20000; ++i) {
    share(records.sensitive[0].code[i], records.useful.code[i]) += 1.0 / 20000;
    EXPECT_EQ(records.observed.code[i], records.sensitive[0].code[i] * 3 + records.useful.code[i]);
  }
  EXPECT_LT((share - table.pair()).cwiseAbs().maxCoeff(), 0.02);
}

TEST(FiniteTable, ReadsAFile) {
  const FiniteTableFile file =
      parse_finite_table("y, x ,probability,w\r\nlow,no,0.5,a\nhigh,no,0.25,a\nhigh,yes,0.25,b\n", "pmf.csv");
  EXPECT_TRUE(file.observation_given);
  EXPECT_THAT(file.x, ElementsAre("no", "yes"));
  EXPECT_THAT(file.y, ElementsAre("low", "high"));
  EXPECT_THAT(file.w, ElementsAre("a", "b"));
  EXPECT_EQ(file.world.pair(), (Matrix<double>(2, 2) << 0.5, 0.25, 0, 0.25).finished());
  EXPECT_FALSE(parse_finite_table("x,y,probability\na,b,1\n", "pmf.csv").observation_given);
}

TEST(FiniteTable, EveryProblemOfAFileIsListed) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      parse_finite_table(text, "pmf.csv");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(message(""), HasSubstr("probability: there is no column"));
  EXPECT_THAT(message("x,y\na,b\n"), HasSubstr("probability: there is no column"));
  const std::string bad = message("x,y,probability\na,b,-0.5\na,c,much\na,b\n");
  for (const char* part : {"line 2: probability -0.5 is negative",
                           "line 3: probability 'much' is not a number", "line 4: has 2 cells"})
    EXPECT_THAT(bad, HasSubstr(part));
  EXPECT_THAT(message("x,y,probability\na,b,0.5\na,c,0.4\n"), HasSubstr("sums to 0.9, not to 1"));
  const std::string strange = message("x,y,W,y,probability\na,,c,d,1\n\xff,a,b,c,0\n");
  for (const char* part : {"'W' is not a column", "two columns 'y'", "line 2: y is empty",
                           "line 3: x holds bytes that are not text"})
    EXPECT_THAT(strange, HasSubstr(part));
}

TEST(FiniteTable, ReadsAMatrix) {
  EXPECT_EQ(parse_matrix("0, 1\n2,0.5\n", "d.csv"), (Matrix<double>(2, 2) << 0, 1, 2, 0.5).finished());
  EXPECT_THROW(parse_matrix("0,1\n2\n", "d.csv"), Error);
  EXPECT_THROW(parse_matrix("0,x\n", "d.csv"), Error);
  EXPECT_THROW(parse_matrix("", "d.csv"), Error);
}

}  // namespace
}  // namespace ppan
