#include "ppan/table/table_bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/table/table_training.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;
using ::testing::HasSubstr;

// A fair coin x and a colour that shows it but for one time in five.
EncodedTable coins(int rows, std::uint64_t seed) {
  SeededRandom random(seed);
  std::string csv = "x,colour\n";
  for (int r = 0; r < rows; ++r) {
    const bool x = random.uniform() < 0.5;
    const bool shown = random.uniform() < 0.8;
    csv += x ? "heads," : "tails,";
    csv += x == shown ? "red\n" : "blue\n";
  }
  Schema schema;
  schema.columns = {testing::category("x"), testing::category("colour")};
  schema.sensitive = {"x"};
  schema.useful = {"colour"};
  return encoded(csv, schema);
}

// Of a coin through a symmetric channel, nats.
double channel(double error) {
  return std::log(2.0) + error * std::log(error) + (1 - error) * std::log(1 - error);
}

// Hides nothing but what the unit noise of its code hides, of which `radius` says how much.
TableModel noisy_code(const EncodedTable& table, double radius) {
  TableTrainingOptions options;
  options.family = MechanismFamily::kNoisyCode;
  options.hidden = {8};
  options.code_size = 1;
  options.code_radius = radius;
  options.epochs = 40;
  const TableGame game = make_game(table.rows, table.schema, table.encoding, options);
  const TableStart start = train_start(game, options, 3);
  TableComponent component;
  component.kind = ComponentKind::kTrained;
  component.mechanism = start.mechanism;
  component.parameters = start.parameters;
  return {table.schema, table.encoding, {std::move(component)}};
}

HiddenCode hidden(const EncodedTable& table) {
  const std::int32_t index = table.encoding.index_of(table.schema.sensitive.at(0));
  const ColumnEncoding& column = table.encoding.columns[static_cast<std::size_t>(index)];
  return {table.rows.columns[table.rows.position_of(index)].code, column.width(), true};
}

// I(X;Z) of what is released, from the shares of the four cells in 40,000 rows: bias below 1e-4.
double released_information(const TableModel& model, const EncodedTable& table) {
  TableReleaser releaser(model);
  SeededRandom random(8);
  EncodedRows out;
  releaser.release(table.rows, random, out);
  double share[2][2] = {};
  for (std::size_t r = 0; r < out.columns[0].code.size(); ++r) {
    share[table.rows.columns[0].code[r]][out.columns[0].code[r]] += 1 / static_cast<double>(table.rows.rows);
  }
  double sum = 0;
  for (int x = 0; x < 2; ++x) {
    for (int z = 0; z < 2; ++z) {
      const double p = share[x][z];
      if (p > 0) sum += p * std::log(p / (share[x][0] + share[x][1]) / (share[0][z] + share[1][z]));
    }
  }
  return sum;
}

// The code of a coin is one of two points in unit noise, so its information is below that of the colour and
// above that of the release, which is a function of it. The planted fault is a bound of a model with a
// smaller radius, which does not hold for the larger.
TEST(TableBound, OfANoisyCodeIsAboveWhatIsReleased) {
  const EncodedTable table = coins(40'000, 5);
  const TableModel wide = noisy_code(table, 2);
  const TableModel narrow = noisy_code(table, 0.3);
  const std::vector<Estimate> bounds = table_upper_bounds(wide, table.rows, hidden(table));
  ASSERT_GE(bounds.size(), 2U);
  EXPECT_EQ(bounds[0].bound, Bound::kUpper);
  EXPECT_THAT(bounds[0].method, HasSubstr("known density"));
  const double released = released_information(wide, table);
  EXPECT_GT(bounds[0].interval95->high, released);
  EXPECT_LT(bounds[0].interval95->low, channel(0.2));
  EXPECT_GT(released, 0.1);
  EXPECT_LT(table_upper_bounds(narrow, table.rows, hidden(table))[0].interval95->high, released);
}

// Over 40 tables the upper end of the bound is below the information of the code, known by the trapezoid
// rule, about once (2.5 %); more than four times with probability 0.003.
TEST(TableBound, CoversTheInformationOfTheCode) {
  const EncodedTable fitted = coins(2000, 5);
  const TableModel model = noisy_code(fitted, 1);
  // Centres of the two codes, from the density of one row of each colour.
  const TableComponent& component = model.components().front();
  const auto observed = cast<double>(
      observed_attribute(fitted.rows, fitted.encoding, model.observed_layout(), MechanismKind::kNoisyCode));
  const auto mechanism = make_mechanism<double>(component.mechanism, observed);
  mechanism->parameters() = component.parameters.cast<double>();
  const ReleaseDensity density = release_density(*mechanism, observed).value();
  double centre[2] = {};
  for (std::size_t r = 0; r < fitted.rows.columns[1].code.size(); ++r)
    centre[fitted.rows.columns[1].code[r]] = density.mean(static_cast<Index>(r), 0);
  double truth = 0;
  constexpr double kStep = 0.01;
  for (double c = -12; c < 12; c += kStep) {
    const double a = std::exp(-0.5 * (c - centre[0]) * (c - centre[0])) / std::sqrt(2 * 3.14159265358979);
    const double b = std::exp(-0.5 * (c - centre[1]) * (c - centre[1])) / std::sqrt(2 * 3.14159265358979);
    const double first = 0.8 * a + 0.2 * b;
    const double second = 0.2 * a + 0.8 * b;
    const double mean = 0.5 * (first + second);
    truth += 0.5 * kStep * (first * std::log(first / mean) + second * std::log(second / mean));
  }
  ASSERT_GT(truth, 0.01);
  int below = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const EncodedTable table = coins(800, 100 + seed);
    const TableModel same(table.schema, fitted.encoding, {component});
    const Estimate bound =
        table_upper_bounds(same, table.rows, hidden(table), {.draws = 800, .seed = seed})[0];
    below += bound.interval95->high < truth ? 1 : 0;
  }
  EXPECT_LE(below, 4);
}

TEST(TableBound, OfAMixtureIsTheMeanOfItsParts) {
  const EncodedTable table = coins(2000, 5);
  const TableModel unchanged = unchanged_model(table.schema, table.encoding);
  const TableModel constant = constant_model(table.schema, table.encoding, table.rows);
  const HiddenCode x = hidden(table);
  EXPECT_TRUE(table_upper_bounds(unchanged, table.rows, x).empty());
  EXPECT_EQ(table_upper_bounds(constant, table.rows, x).at(0).nats, 0);
  const Estimate both = table_upper_bounds(mix(unchanged, constant, 0.7), table.rows, x).at(0);
  EXPECT_NEAR(both.nats, 0.3 * std::log(2.0), 0.001);
  EXPECT_THAT(both.method, HasSubstr("as if it were shown"));
  const TableModel code = noisy_code(table, 1);
  const Estimate alone = table_upper_bounds(code, table.rows, x).at(0);
  const Estimate half = table_upper_bounds(mix(code, constant, 0.5), table.rows, x).at(0);
  EXPECT_NEAR(half.nats, 0.5 * alone.nats, 1e-12);
  EXPECT_NEAR(half.interval95->high, 0.5 * alone.interval95->high, 1e-12);
}

// A task that is released as it is names x in four of five rows: log 2 - h(0.2) = 0.1927 nats, and nothing
// else is told. Of 4,000 rows the estimate has a deviation of 0.008; the bound allows for that and more, and
// a tenth of a nat too much would be a fault.
TEST(TableBound, WhereNothingElseIsToldIsWhatIsKept) {
  SeededRandom random(8);
  std::string csv = "x,t,u\n";
  for (int r = 0; r < 4000; ++r) {
    const bool x = random.uniform() < 0.5;
    const bool t = random.uniform() < 0.8 ? x : !x;
    csv += fmt::format("{},{},{}\n", x ? "a" : "b", t ? "yes" : "no", random.index(3));
  }
  Schema schema;
  schema.columns = {testing::category("x"), testing::category("t"), testing::category("u")};
  schema.sensitive = {"x"};
  schema.useful = {"u"};
  schema.task = {"t"};
  const EncodedTable table = encoded(csv, schema);
  const TableModel constant = constant_model(table.schema, table.encoding, table.rows);
  const std::vector<Estimate> bounds = table_upper_bounds(constant, table.rows, hidden(table));
  ASSERT_FALSE(bounds.empty());
  const double most = bounds[0].interval95 ? bounds[0].interval95->high : bounds[0].nats;
  EXPECT_GT(most, 0.1927);
  EXPECT_LT(most, 0.1927 + 0.1);
  // With a part of which nothing is known, what is kept is not counted, so nothing is said.
  EXPECT_TRUE(table_upper_bounds(mix(unchanged_model(table.schema, table.encoding), constant, 0.5),
                                 table.rows, hidden(table))
                  .empty());
}

TEST(TableBound, SaysNothingOfWhatItDoesNotKnow) {
  const EncodedTable table = encoded(testing::mixed_csv(400, 0.2, 5), testing::mixed_schema());
  TableTrainingOptions options;
  options.hidden = {4};
  const TableGame game = make_game(table.rows, table.schema, table.encoding, options);
  const TableStart start = train_start(game, options, 3);
  TableComponent component;
  component.kind = ComponentKind::kTrained;
  component.mechanism = start.mechanism;
  component.parameters = start.parameters;
  const TableModel model(table.schema, table.encoding, {component});
  EXPECT_TRUE(table_upper_bounds(model, table.rows, hidden(table)).empty());
  // Of a mixture, the part without a distribution counts with the entropy, which a hidden number does not
  // have.
  const TableModel constant = constant_model(table.schema, table.encoding, table.rows);
  HiddenCode x = hidden(table);
  EXPECT_EQ(table_upper_bounds(mix(model, constant, 0.5), table.rows, x).size(), 1U);
  x.whole = false;
  EXPECT_TRUE(table_upper_bounds(mix(model, constant, 0.5), table.rows, x).empty());
}

}  // namespace
}  // namespace ppan
