#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ppan/audit/attack_power.h"
#include "ppan/audit/attack_split.h"
#include "ppan/audit/calibration.h"
#include "ppan/audit/period_scan.h"
#include "ppan/audit/row_hash.h"
#include "ppan/audit/text_form.h"
#include "ppan/audit/upper_end.h"
#include "ppan/core/random.h"

namespace ppan {
namespace {

Symbols fair_bits(Index rows, SeededRandom& random) {
  Symbols x;
  for (Index i = 0; i < rows; ++i) x.push_back(static_cast<std::int32_t>(random.index(2)));
  return x;
}

// Beliefs that are right with probability `right` and claim to be so with probability `claimed`.
Matrix<float> beliefs(const Symbols& x, double right, double claimed, SeededRandom& random) {
  Matrix<float> out(static_cast<Index>(x.size()), 2);
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::int32_t said = random.uniform() < right ? x[i] : 1 - x[i];
    out(static_cast<Index>(i), said) = static_cast<float>(std::log(claimed));
    out(static_cast<Index>(i), 1 - said) = static_cast<float>(std::log1p(-claimed));
  }
  return out;
}

TEST(Calibration, MakesBoldBeliefsAsSureAsTheyAreRight) {
  SeededRandom random(1);
  const Symbols x = fair_bits(20'000, random);
  const Vector<double> prior = Vector<double>::Constant(2, 0.5);
  Matrix<float> bold = beliefs(x, 0.8, 0.99, random);
  calibrate(bold, x, prior).apply(prior, bold);
  // 0.8 is right; the grid of temperatures and shares leaves an error of less than 0.03.
  EXPECT_NEAR(std::exp(bold.rowwise().maxCoeff().mean()), 0.8, 0.03);
}

TEST(Calibration, AdmitsThatNothingWasLearned) {
  SeededRandom random(2);
  const Symbols x = fair_bits(20'000, random);
  const Vector<double> prior = Vector<double>::Constant(2, 0.5);
  Matrix<float> coin = beliefs(x, 0.5, 0.99, random);
  calibrate(coin, x, prior).apply(prior, coin);
  EXPECT_LT((coin.array().exp() - 0.5F).abs().maxCoeff(), 0.02F);
}

// The residual of a fair bit that follows the phase of a value in a period, told rightly with probability
// `right`.
std::optional<double> period_of_bit(double right, std::uint64_t seed) {
  constexpr double kPeriod = 7.3;
  SeededRandom random(seed);
  std::vector<double> value;
  Symbols x;
  for (int i = 0; i < 2000; ++i) {
    value.push_back(500 * random.uniform());
    const std::int32_t said = std::fmod(value.back(), kPeriod) < kPeriod / 2 ? 1 : 0;
    x.push_back(random.uniform() < right ? said : 1 - said);
  }
  AdditiveFit fit(x, 2);
  fit.add(Symbols(x.size(), 0), 1);
  return informative_period(value, fit, 0, 1e9);
}

// Seeds are fixed; by chance a period is seen in one of some hundred columns of coins.
TEST(PeriodScan, FindsAPeriodAndNoneInCoins) {
  const std::optional<double> period = period_of_bit(0.85, 3);
  ASSERT_TRUE(period);
  EXPECT_NEAR(*period, 7.3, 0.02);
  EXPECT_FALSE(period_of_bit(0.5, 3));
}

TEST(AttackSplit, EveryRowIsInOnePart) {
  const AttackSplit split = make_split(1000, 5);
  std::set<std::int32_t> seen;
  for (const auto* part : {&split.train, &split.selection, &split.test})
    seen.insert(part->begin(), part->end());
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_EQ(split.train.size() + split.selection.size() + split.test.size(), 1000U);
  EXPECT_EQ(split.train.size(), 500U);
  EXPECT_EQ(split.selection.size(), 200U);
}

TEST(RowHash, EqualRowsAndNoOthersHaveTheSame) {
  const std::vector<std::string> markers{""};
  AuditTable table;
  const std::vector<std::string> first{"x", "x", "x ", "y"};
  const std::vector<std::string> second{"1", "1", "1", "1"};
  table.columns.push_back(column_of_cells("a", first, markers));
  table.columns.push_back(column_of_cells("b", second, markers));
  const std::vector<std::uint64_t> hash = row_hashes(table);
  EXPECT_EQ(hash[0], hash[1]);
  EXPECT_NE(hash[0], hash[2]);
  EXPECT_NE(hash[0], hash[3]);
}

TEST(TextForm, SeesHowATextIsWritten) {
  EXPECT_EQ(folded("  Ab C "), "ab c");
  const TextForm form = form_of(" +Ab1.50");
  EXPECT_EQ(form.value, (std::array<float, 8>{1, 0, 8, 1, 3, 3, 1, 0}));
}

// A table of two numbers that say nothing.
SuiteInput noise_input(Index rows, SeededRandom& random) {
  AuditTable table;
  for (const char* name : {"first", "second"}) {
    Vector<double> value(rows);
    for (double& v : value) v = random.uniform();
    table.columns.push_back(column_of_numbers(name, value));
  }
  return suite_input(FeatureMap(table, {.row_position = false}), table);
}

// Only the last planted leak may be clear: what lies above it costs time and says nothing about the power.
TEST(AttackPower, EndsWithTheFirstLeakThatIsSeen) {
  SeededRandom random(6);
  constexpr Index kRows = 2000;
  const SuiteInput input = noise_input(kRows, random);
  const Symbols x = fair_bits(kRows, random);
  const AttackSplit split = make_split(kRows, 1);
  const AttackTarget target = target_of(column_of_codes("secret", x, 2), split.train, {});
  const AttackPower power = attack_power(input, target, split, {});
  ASSERT_GE(power.planted.size(), 2U);
  for (std::size_t k = 0; k + 1 < power.planted.size(); ++k) {
    if (power.planted[k].score == power.planted[k + 1].score) {
      // Seen with probability 0.9 is 3.24 standard errors above 0; 1.96 of them make the interval.
      const double error = (power.planted[k].found.interval95.high - power.planted[k].found.value) / 1.96;
      EXPECT_LT(power.planted[k].found.value, 3.3 * error) << k;
      EXPECT_LT(power.planted[k].planted, power.planted[k + 1].planted);
    }
  }
  // The best of all attackers needs 2 * 3.24^2 / 600 nats; these find four times that.
  EXPECT_GE(power.nats, 2 * 3.24 * 3.24 / 600);
  EXPECT_LT(power.nats, 0.14);
}

// A leak in two parts is harder to see than either, so where there are columns for two, two are planted.
TEST(AttackPower, PlantsALeakOfTwoParts) {
  SeededRandom random(6);
  constexpr Index kRows = 1500;
  AuditTable table;
  for (const char* name : {"a", "b", "c", "d"}) {
    Vector<double> value(kRows);
    for (double& v : value) v = random.uniform();
    table.columns.push_back(column_of_numbers(name, value));
  }
  const SuiteInput input = suite_input(FeatureMap(table, {.row_position = false}), table);
  const Symbols x = fair_bits(kRows, random);
  const AttackSplit split = make_split(kRows, 1);
  const AttackTarget target = target_of(column_of_codes("secret", x, 2), split.train, {});
  const AttackPower power = attack_power(input, target, split, {});
  EXPECT_TRUE(std::any_of(power.planted.begin(), power.planted.end(), [](const PlantedLeakage& planted) {
    return planted.score == "two pairs of columns";
  }));
}

// Where something was found, a part that is too small to be seen is not excluded by that.
TEST(UpperEnd, WhatMayBeMissedComesOnTopOfWhatWasFound) {
  AttributeAudit attribute;
  attribute.leakage = {.nats = 0.1, .interval95 = Interval{0.08, 0.12}};
  attribute.upper_end = wide_end(attribute.leakage);
  judge_power({.nats = 0.06, .planted = {}}, {}, attribute);
  EXPECT_DOUBLE_EQ(attribute.upper_end, 0.16);
  attribute.upper_end = 0.3;
  judge_power({.nats = 0.06, .planted = {}}, {}, attribute);
  EXPECT_DOUBLE_EQ(attribute.upper_end, 0.3);
}

}  // namespace
}  // namespace ppan
