#include "support/planted_leaks.h"

#include <gtest/gtest.h>

#include <memory>

#include "ppan/game/mechanism.h"
#include "ppan/game/posterior.h"
#include "ppan/nn/adam.h"

namespace ppan {
namespace {

// A leak in one row in a hundred needs rows to be seen in; the others are plain at 4,000.
constexpr Index kRows = 4000;
constexpr Index kRowsForRareLeak = 20'000;

const AttributeAudit& only(const AuditReport& report) {
  EXPECT_EQ(report.attributes.size(), 1U);
  return report.attributes.front();
}

// Seeds are fixed; a caught leak stands many standard errors above 0 (the least, one row in a hundred, about
// 6).
TEST(PlantedLeaks, EachIsCaughtAndItsPlaceNamed) {
  for (const Index rows : {kRows, kRowsForRareLeak}) {
    for (const testing::PlantedLeak& leak : testing::planted_leaks(11, rows)) {
      if ((leak.name == "one row in a hundred") != (rows == kRowsForRareLeak)) continue;
      SCOPED_TRACE(leak.name);
      const AttributeAudit a = only(audit(leak.input, {.quick = true}));
      EXPECT_EQ(a.name, "illness");
      EXPECT_EQ(a.verdict, AuditVerdict::kLeakFound);
      // Four fifths of what was planted, less what the sample may lack; and no more than there is.
      const double error = (a.leakage.interval95->high - a.leakage.interval95->low) / 4;
      EXPECT_GT(a.leakage.nats, 0.8 * leak.nats - error);
      EXPECT_LT(a.leakage.nats, leak.nats + 4 * error + 1e-3);
      ASSERT_FALSE(a.sources.empty());
      bool named = false;
      for (const LeakSource& source : a.sources) {
        // The same fact may show on several sides of a column: a number of another length is another value.
        named = named || source.where.column == leak.column ||
                ((source.where.aspect == "together" || source.where.aspect == "relation") &&
                 source.where.column.starts_with(leak.column + " and "));
      }
      EXPECT_TRUE(named) << "first named: " << a.sources[0].where.column << " " << a.sources[0].where.aspect;
    }
  }
}

// 1 + noise has fewer binary digits than 0 + noise. On a grid the sum tells what a normal channel tells (sign
// +-1/2 in unit noise: 0.110 nats); as the processor left it, much more.
TEST(PlantedLeaks, NoiseThatWasNotRounded) {
  SeededRandom random(21);
  const testing::CleanTable table(random, kRows);
  Matrix<double> noise(kRows, 1);
  fill_normal(random, noise);
  Vector<double> measured(kRows);
  for (Index i = 0; i < kRows; ++i) measured[i] = table.x[static_cast<std::size_t>(i)] + noise(i, 0);
  AuditInput input = table.input();
  input.released.columns.push_back(column_of_numbers("measured", measured));
  const AttributeAudit raw = only(audit(input, {.quick = true}));
  EXPECT_GT(raw.leakage.interval95->low, 0.13);
  bool named = false;
  for (const LeakSource& source : raw.sources)
    named = named || source.where == FeatureSource{"measured", "low bits"};
  EXPECT_TRUE(named);

  const Vector<double> rounded = (measured.array() * 8).round() / 8;
  input.released.columns.back() = column_of_numbers("measured", rounded);
  const AttributeAudit grid = only(audit(input, {.quick = true}));
  EXPECT_NEAR(grid.leakage.nats, 0.110, 0.05);  // standard error 0.013
}

TEST(PlantedLeaks, AFewExposedRowsAreTheWorstGroup) {
  for (const testing::PlantedLeak& leak : testing::planted_leaks(11, kRowsForRareLeak)) {
    if (leak.name != "one row in a hundred") continue;
    const AttributeAudit a = only(audit(leak.input, {.quick = true}));
    ASSERT_FALSE(a.groups.empty());
    // The mean over all rows looks harmless; among the rows that leak nearly everything is known.
    EXPECT_LT(a.leakage.nats, 0.02);
    EXPECT_GT(a.groups[0].leakage.interval95->low, 0.3);
  }
}

// Under independence the lower end of the interval exceeds 0 in at most 2.5 % of audits: of 20, more than 4
// with probability 1e-4.
TEST(PlantedLeaks, CleanTablesPass) {
  int alarms = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    const testing::CleanTable table(random, 1500);
    const AttributeAudit a = only(audit(table.input(), {.quick = true, .seed = seed}));
    EXPECT_LT(a.leakage.nats, 0.02);
    if (a.verdict != AuditVerdict::kNothingFound) ++alarms;
  }
  EXPECT_LE(alarms, 4);
}

// A mechanism that plays the game against an adversary too small to see: it learns to please that one, and
// the audit finds what it left.
TEST(PlantedLeaks, TrainedAgainstATinyAdversary) {
  constexpr Index kRecords = 4000;
  constexpr Index kBatch = 200;
  SeededRandom random(5);
  // W = (a, b), X = 1(a b > 0): nothing linear in W tells X.
  Records<float> records;
  records.observed.value.resize(kRecords, 2);
  fill_normal(random, records.observed.value);
  records.sensitive.resize(1);
  records.sensitive[0].levels = 2;
  for (Index i = 0; i < kRecords; ++i) {
    records.sensitive[0].code.push_back(records.observed.value.row(i).prod() > 0 ? 1 : 0);
  }
  records.useful = records.observed;

  const auto mechanism = make_mechanism<float>(
      {.kind = MechanismKind::kNoiseInput, .released = 2, .hidden = {16}}, records.observed);
  SeededRandom start(6);
  mechanism->initialise(start);
  Posterior<float> tiny({.hidden = {}}, 2, records.sensitive);
  tiny.initialise(start);
  Adam<float> adam_mechanism;
  Adam<float> adam_tiny;
  Records<float> batch;
  Draws<float> draws;
  DrawsGradient<float> gradient;
  Matrix<float> noise;
  Vector<float> d_parameters;
  std::vector<std::int32_t> rows(kBatch);
  for (int step = 0; step < 1500; ++step) {
    for (std::int32_t& row : rows) row = static_cast<std::int32_t>(random.index(kRecords));
    gather(records, rows.data(), kBatch, batch);
    mechanism->fill_noise(random, kBatch, noise);
    mechanism->draw(batch.observed, noise, draws);
    const Matrix<float> weight = Matrix<float>::Constant(kBatch, 1, 1.0F / kBatch);
    tiny.score(draws.released, false, 1, batch.sensitive);
    tiny.backward(draws.released, false, 1, batch.sensitive, -weight, &d_parameters, nullptr);
    adam_tiny.step(0.005, d_parameters, tiny.parameters());
    // Mean log Q plus three times the squared error.
    tiny.score(draws.released, false, 1, batch.sensitive);
    gradient.clear();
    gradient.has_seen = true;
    tiny.backward(draws.released, false, 1, batch.sensitive, weight, nullptr, &gradient.seen);
    const Matrix<float> error = (6.0F / kBatch) * (draws.released - batch.useful.value);
    gradient.add_released(error);
    gradient.weight.setZero(kBatch, 1);
    mechanism->backward(batch.observed, noise, draws, gradient, d_parameters);
    adam_mechanism.step(0.005, d_parameters, mechanism->parameters());
  }

  const Attribute<float> released = mechanism->release(records.observed, random);
  const double claimed =
      std::log(2.0) + static_cast<double>(tiny.score(released.value, false, 1, records.sensitive).mean());
  AuditInput input;
  input.released.columns = columns_of(released, "z");
  input.sensitive = columns_of(records.sensitive[0], "sign");
  const AttributeAudit a = only(audit(input, {.quick = true}));
  EXPECT_LT(claimed, 0.02);
  EXPECT_GT(a.leakage.interval95->low, claimed + 0.1);
  EXPECT_NE(a.verdict, AuditVerdict::kNothingFound);
}

}  // namespace
}  // namespace ppan
