#include "ppan/model/table_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <thread>

#include "ppan/model/model_parts.h"
#include "ppan/table/table_measure.h"
#include "ppan/table/table_training.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;
using ::testing::HasSubstr;

EncodedTable mixed(int rows = 400) {
  return encoded(testing::mixed_csv(rows, 0.2, 5), testing::mixed_schema());
}

// A mechanism with random parameters: what it releases does not matter here.
TableModel random_model(const EncodedTable& table, MechanismFamily family, std::uint64_t seed = 3) {
  TableTrainingOptions options;
  options.family = family;
  options.hidden = {6};
  options.epochs = 1;
  const TableGame game = make_game(table.rows, table.schema, table.encoding, options);
  const TableStart start = train_start(game, options, seed);
  TableComponent component;
  component.kind = ComponentKind::kTrained;
  component.label = "random";
  component.mechanism = start.mechanism;
  component.parameters = start.parameters;
  if (component.parameters.size() == 0) {
    const auto mechanism = make_mechanism(start.mechanism, game.records.observed);
    SeededRandom random(seed);
    mechanism->initialise(random);
    component.parameters = mechanism->parameters();
  }
  return {table.schema, table.encoding, {std::move(component)}};
}

EncodedRows release(const TableModel& model, const EncodedRows& rows, std::uint64_t seed) {
  TableReleaser releaser(model);
  SeededRandom random(seed);
  EncodedRows out;
  releaser.release(rows, random, out);
  return out;
}

void expect_same(const EncodedRows& a, const EncodedRows& b) {
  ASSERT_EQ(a.which, b.which);
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    EXPECT_EQ(a.columns[c].code, b.columns[c].code);
    EXPECT_EQ(a.columns[c].value, b.columns[c].value);
  }
}

TEST(TableModel, ReleasesUnchangedRowsUnchanged) {
  const EncodedTable table = mixed();
  const EncodedRows out = release(unchanged_model(table.schema, table.encoding), table.rows, 1);
  EXPECT_EQ(out.which, table.encoding.indices_of(table.schema.useful));
  EXPECT_EQ(measure_change(table.rows, out, table.encoding).changed, 0);
}

TEST(TableModel, ConstantIsTheMostFrequentLevelAndTheMean) {
  EncodedTable table =
      encoded("x,colour,shape,size\na,red,r,1\nb,blue,r,2\na,blue,s,\nb,blue,s,6\n", testing::mixed_schema());
  ASSERT_EQ(table.encoding.columns[3].grid, 1);
  const EncodedRows out = release(constant_model(table.schema, table.encoding, table.rows), table.rows, 1);
  const ColumnEncoding& colour = table.encoding.columns[1];
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_EQ(colour.levels[static_cast<std::size_t>(out.columns[0].code[r])], "blue");
    EXPECT_EQ(out.columns[2].code[r], 0);
    EXPECT_NEAR(table.encoding.columns[3].decode(out.columns[2].value[r]), 3, 1e-9);
  }
}

TEST(TableModel, NumbersThatAreMostlyMissingAreMissingInTheConstant) {
  EncodedTable table =
      encoded("x,colour,shape,size\na,red,r,\nb,blue,r,2\na,blue,s,\nb,blue,s,\n", testing::mixed_schema());
  const EncodedRows out = release(constant_model(table.schema, table.encoding, table.rows), table.rows, 1);
  EXPECT_EQ(out.columns[2].code, (Symbols{1, 1, 1, 1}));
}

class TableModelOfEveryFamily : public ::testing::TestWithParam<MechanismFamily> {};

TEST_P(TableModelOfEveryFamily, ComesBackFromItsPartsAndReleasesTheSame) {
  const EncodedTable table = mixed();
  const TableModel trained = random_model(table, GetParam());
  const TableModel model = mix(mix(trained, unchanged_model(table.schema, table.encoding), 0.25),
                               constant_model(table.schema, table.encoding, table.rows), 0.1);
  const ModelParts parts = model.to_parts();
  // Through text, as a file would have it.
  const TableModel back =
      TableModel::from_parts({nlohmann::json::parse(parts.description.dump()), parts.tensors});
  EXPECT_EQ(back.schema(), model.schema());
  EXPECT_EQ(back.encoding(), model.encoding());
  ASSERT_EQ(back.components().size(), 3U);
  EXPECT_EQ(back.to_parts().description, parts.description);
  expect_same(release(model, table.rows, 9), release(back, table.rows, 9));
}

TEST_P(TableModelOfEveryFamily, ReleasesBatchesFromSeveralThreadsAsFromOne) {
  const EncodedTable table = mixed();
  const TableModel model = random_model(table, GetParam());
  const EncodedRows alone = release(model, table.rows, 4);
  std::vector<EncodedRows> out(3);
  std::vector<std::thread> threads;
  for (auto& rows : out) {
    threads.emplace_back([&] { rows = release(model, table.rows, 4); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const EncodedRows& rows : out) expect_same(alone, rows);
}

TEST_P(TableModelOfEveryFamily, LevelsAreAlwaysLevels) {
  const EncodedTable table = mixed();
  const EncodedRows out = release(random_model(table, GetParam()), table.rows, 4);
  for (std::size_t c = 0; c < out.columns.size(); ++c) {
    const ColumnEncoding& column = table.encoding.columns[static_cast<std::size_t>(out.which[c])];
    for (const std::int32_t code : out.columns[c].code) {
      EXPECT_GE(code, 0);
      EXPECT_LT(code, column.numeric() ? 2 : column.width());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, TableModelOfEveryFamily,
                         ::testing::Values(MechanismFamily::kNoisyCode, MechanismFamily::kNoiseInput));

TEST(TableModel, ANoiseInputMechanismStartsAsACopy) {
  const EncodedTable table = mixed();
  const EncodedRows out = release(random_model(table, MechanismFamily::kNoiseInput), table.rows, 4);
  EXPECT_EQ(measure_change(table.rows, out, table.encoding).changed, 0);
}

TEST(TableModel, NumbersThatHardlyMoveStayAsTheyAre) {
  const EncodedTable table = mixed();
  TableComponent component = random_model(table, MechanismFamily::kNoiseInput).components().front();
  // The direct path copies; some noise on every output.
  component.parameters.array() += 0.01F;
  const auto changed = [&](double keep_within) {
    component.keep_within = keep_within;
    const TableModel model(table.schema, table.encoding, {component});
    const TableModel back = TableModel::from_parts(model.to_parts());
    EXPECT_EQ(back.components()[0].keep_within, keep_within);
    return measure_change(table.rows, release(back, table.rows, 2), table.encoding).columns[2];
  };
  const ColumnChange before = changed(0);
  const ColumnChange after = changed(0.1);
  EXPECT_GT(before.changed, 0.8);
  EXPECT_LT(after.changed, before.changed / 2);
  EXPECT_LE(after.distortion, before.distortion);
  // What was left as it is would not have gone through a code.
  component = random_model(table, MechanismFamily::kNoisyCode).components().front();
  component.keep_within = 0.1;
  EXPECT_THROW(TableModel(table.schema, table.encoding, {component}), Error);
  component.keep_within = 2;
  EXPECT_THROW(TableModel(table.schema, table.encoding, {component}), Error);
}

TEST(TableModel, FiniteModelsComeBackToo) {
  EncodedTable table = mixed();
  table.schema.useful = {"colour", "shape"};
  const TableModel model = random_model(table, MechanismFamily::kFinite);
  EXPECT_EQ(model.components().front().mechanism.kind, MechanismKind::kFinite);
  expect_same(release(model, table.rows, 9),
              release(TableModel::from_parts(model.to_parts()), table.rows, 9));
}

TEST(TableModel, AMixtureGivesEachComponentItsShare) {
  const EncodedTable table = mixed(4000);
  const TableModel model = mix(unchanged_model(table.schema, table.encoding),
                               constant_model(table.schema, table.encoding, table.rows), 0.3);
  const EncodedRows whole = release(constant_model(table.schema, table.encoding, table.rows), table.rows, 1);
  const double most = measure_change(table.rows, whole, table.encoding).distortion;
  const double found = measure_change(table.rows, release(model, table.rows, 2), table.encoding).distortion;
  // Costs of a row lie in [0, 4] with variance below 1, so the mean of 4,000 of them strays by 0.02 (5
  // standard deviations of 0.004 in the share alone) less than once in a million seeds.
  EXPECT_NEAR(found, 0.3 * most, 0.02);
}

TEST(TableModel, MixturesOfDifferentTablesAreRefused) {
  const EncodedTable a = mixed(400);
  const EncodedTable b = mixed(300);
  EXPECT_THROW(mix(unchanged_model(a.schema, a.encoding), unchanged_model(b.schema, b.encoding), 0.5), Error);
  EXPECT_THROW(mix(unchanged_model(a.schema, a.encoding), unchanged_model(a.schema, a.encoding), 1.5), Error);
}

TEST(TableModel, WhatIsNotObservedCannotBeReleasedUnchanged) {
  EncodedTable table = mixed();
  table.schema.observed = {"colour", "size"};
  EXPECT_THROW(unchanged_model(table.schema, table.encoding), Error);
}

TEST(TableModel, RowsThatCannotBeReleasedStayMarked) {
  EncodedTable table = mixed();
  table.rows.bad[3] = 1;
  table.rows.faults.push_back({3, 4, 1, "unknown"});
  const EncodedRows out = release(random_model(table, MechanismFamily::kNoisyCode), table.rows, 4);
  EXPECT_EQ(out.bad, table.rows.bad);
  ASSERT_EQ(out.faults.size(), 1U);
}

// Every way of damaging the parts is refused, and with bad input rather than a fault of the program.
TEST(TableModel, DamagedPartsAreRefused) {
  const EncodedTable table = mixed();
  const ModelParts good = random_model(table, MechanismFamily::kNoisyCode).to_parts();
  const auto refused = [](const ModelParts& parts) {
    try {
      TableModel::from_parts(parts);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kBadInput) << error.what();
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused(good));
  const auto damaged = [&](const std::function<void(ModelParts&)>& damage) {
    ModelParts parts = good;
    damage(parts);
    return refused(parts);
  };
  const auto mechanism = [](ModelParts& p) -> nlohmann::json& {
    return p.description["components"][0]["mechanism"];
  };
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description = nlohmann::json::array(); }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["kind"] = "image"; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["version"] = 99; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["version"] = "1"; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["components"] = nlohmann::json::array(); }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["components"][0]["weight"] = 0.5; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["components"][0]["weight"] = -1; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["components"][0]["kind"] = "magic"; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["components"][0].erase("tensor"); }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.tensors.clear(); }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.tensors["more"] = Matrix<float>::Zero(1, 1); }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.tensors.begin()->second.conservativeResize(3, 1); }));
  EXPECT_TRUE(damaged(
      [](ModelParts& p) { p.tensors.begin()->second(5, 0) = std::numeric_limits<float>::quiet_NaN(); }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["hidden"] = {0}; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["hidden"] = {8000, 8000, 8000}; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["hidden"] = {std::int64_t{1} << 40U}; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["kind"] = "gaussian"; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["kind"] = "finite"; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["released"] = 5; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["code_radius"] = -1; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["code_radius"] = nullptr; }));
  EXPECT_TRUE(damaged([&](ModelParts& p) { mechanism(p)["activation"] = "cube"; }));
  EXPECT_TRUE(damaged([](ModelParts& p) { p.description["schema"]["useful"] = {"nobody"}; }));
}

}  // namespace
}  // namespace ppan
