#include "ppan/model/codebook.h"
#include "ppan/model/model_parts.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

#include "ppan/audit/code_certificate.h"
#include "ppan/model/table_model.h"
#include "ppan/table/codebook_training.h"
#include "ppan/table/table_bound.h"
#include "ppan/table/table_measure.h"
#include "support/gradient_check.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using testing::encoded;
using testing::EncodedTable;

// x shows in the colour; the shade follows from the colour; hours are 40 in half of the rows; y is the task.
std::string people_csv(int rows, std::uint64_t seed) {
  SeededRandom random(seed);
  const std::vector<std::string> colours{"red", "green", "blue"};
  std::string csv = "x,colour,shade,hours,income,y\n";
  for (int r = 0; r < rows; ++r) {
    const bool x = random.uniform() < 0.5;
    const auto colour = static_cast<std::size_t>(random.uniform() < 0.5 ? (x ? 0 : 1) : random.index(3));
    const bool full = random.uniform() < 0.5;
    const auto hours = full ? 40 : 10 + random.index(60);
    const double income = 100 * random.uniform() + static_cast<double>(hours);
    const bool y = income > 90;
    csv += fmt::format("{},{},{},{},{:.1f},{}\n", x ? "yes" : "no", colours[colour],
                       colour == 2 ? "dark" : "light", hours, income, y ? "rich" : "poor");
  }
  return csv;
}

Schema people_schema(bool task) {
  Schema schema;
  schema.columns = {testing::category("x"),     testing::category("colour"),
                    testing::category("shade"), {.name = "hours", .type = ColumnType::kInteger},
                    testing::real("income"),    testing::category("y")};
  schema.sensitive = {"x"};
  schema.useful = {"colour", "shade", "hours", "income"};
  if (task) schema.task = {"y"};
  return schema;
}

CodebookOptions quick_options() {
  CodebookOptions options;
  options.codewords = 24;
  options.hidden = {16};
  options.epochs = 25;
  options.batch = 128;
  options.rate = 0.01;
  return options;
}

struct Fitted {
  CodebookStart start;
  TrainedCodebook trained;
  TableModel model;
};

Fitted fit(const EncodedTable& train, const EncodedRows& held_out, double leakage,
           const CodebookOptions& options = quick_options()) {
  const CodebookShape shape = codebook_shape(train.rows, train.schema, train.encoding, options);
  const CodebookRows rows = codebook_rows(train.rows, train.schema, train.encoding, shape);
  const CodebookRows steering = codebook_rows(held_out, train.schema, train.encoding, shape);
  CodebookStart start = train_codebook_start(rows, steering, shape, options, 1);
  TrainedCodebook trained = train_codebook(rows, steering, start, leakage, options, 2);
  TableComponent component;
  component.kind = ComponentKind::kCodebook;
  component.label = "codebook";
  component.codebook = std::make_shared<const Codebook>(
      finish_codebook(trained, train.rows, rows, shape, train.encoding, options));
  TableModel model(train.schema, train.encoding, {component});
  return {std::move(start), std::move(trained), std::move(model)};
}

EncodedRows rows_like(const EncodedTable& table, int rows, std::uint64_t seed) {
  EncodedRows out;
  std::vector<std::int32_t> every(table.encoding.columns.size());
  std::iota(every.begin(), every.end(), 0);
  Encoder(table.encoding)
      .encode(testing::table_of(people_csv(rows, seed), table.schema), every, UnknownRow::kNearest, out);
  return out;
}

EncodedRows release(const TableModel& model, const EncodedRows& rows, std::uint64_t seed) {
  TableReleaser releaser(model);
  SeededRandom random(seed);
  EncodedRows out;
  releaser.release(rows, random, out);
  return out;
}

TEST(CodebookEncoder, GradientMatches) {
  SeededRandom random(3);
  CodebookEncoder<double> encoder(4, {5}, 6);
  Vector<double> parameters;
  encoder.initialise(1.5, random, parameters);
  Matrix<double> noise(parameters.size(), 1);
  fill_normal(random, noise);
  parameters += 0.3 * noise.col(0);
  Matrix<double> features(7, 4);
  Matrix<double> cost(7, 6);
  Matrix<double> centre(6, 4);
  fill_normal(random, features);
  fill_normal(random, cost);
  fill_normal(random, centre);
  Vector<double> weight(4);
  weight << 0.2, 0.5, 0, 0.3;
  const CodebookCentres<double> centres{centre, weight};
  const auto loss = [&](const Vector<double>& p) {
    return encoder.forward(p, centres, features).cwiseProduct(cost).sum() / 7;
  };
  loss(parameters);
  Vector<double> gradient;
  encoder.backward(parameters, features, cost, gradient);
  testing::expect_gradient_matches(loss, gradient, parameters);
}

// At the tables' own values the scores are the gradient of I(X;C) in P(c|w): a step along -gradient lowers it
// by what the linear term says.
TEST(CodebookEncoder, ScoresAreTheGradientOfInformation) {
  SeededRandom random(8);
  const Index rows = 200;
  CodebookEncoder<double> encoder(3, {4}, 5);
  Vector<double> parameters;
  encoder.initialise(2, random, parameters);
  Matrix<double> features(rows, 3);
  fill_normal(random, features);
  Symbols x;
  for (Index i = 0; i < rows; ++i) x.push_back(features(i, 0) + random.uniform() > 0.5 ? 1 : 0);
  const CodebookCentres<double> centres{features.topRows(5), Vector<double>::Constant(3, 0.3)};
  const auto information = [&](const Vector<double>& p) {
    const Matrix<double>& distribution = encoder.forward(p, centres, features);
    Matrix<double> joint = Matrix<double>::Zero(2, 5);
    for (Index i = 0; i < rows; ++i) joint.row(x[static_cast<std::size_t>(i)]) += distribution.row(i) / rows;
    double sum = 0;
    for (Index l = 0; l < 2; ++l) {
      for (Index c = 0; c < 5; ++c)
        sum += joint(l, c) * std::log(joint(l, c) / (joint.row(l).sum() * joint.col(c).sum()));
    }
    return sum;
  };
  const Matrix<double> distribution = encoder.forward(parameters, centres, features);
  Matrix<double> joint = Matrix<double>::Zero(2, 5);
  for (Index i = 0; i < rows; ++i) joint.row(x[static_cast<std::size_t>(i)]) += distribution.row(i) / rows;
  Matrix<double> cost(rows, 5);
  for (Index i = 0; i < rows; ++i) {
    const Index l = x[static_cast<std::size_t>(i)];
    for (Index c = 0; c < 5; ++c)
      cost(i, c) = std::log(joint(l, c) / (joint.row(l).sum() * joint.col(c).sum()));
  }
  encoder.forward(parameters, centres, features);
  Vector<double> gradient;
  encoder.backward(parameters, features, cost, gradient);
  testing::expect_gradient_matches(information, gradient, parameters);
}

TEST(CodebookLevels, SpikesBinsAndEnds) {
  const EncodedTable table = encoded(people_csv(2000, 1), people_schema(false));
  const ColumnLevels levels = fit_levels(table.rows, table.encoding.index_of("hours"), table.encoding, {});
  ASSERT_FALSE(levels.spike.empty());
  EXPECT_TRUE(std::binary_search(levels.spike.begin(), levels.spike.end(), 40.0));
  EXPECT_EQ(levels, levels_from_json(to_json(levels)));
  SeededRandom random(2);
  const ColumnEncoding& how = table.encoding.columns[static_cast<std::size_t>(levels.column)];
  for (std::int32_t level = 0; level < levels.levels(); ++level) {
    for (int i = 0; i < 50; ++i) {
      const DrawnCell cell = draw_cell(levels, level, table.encoding, random);
      EXPECT_EQ(levels.level_of(how.decode(cell.value)), level);
    }
  }
  const ColumnLevels income = fit_levels(table.rows, table.encoding.index_of("income"), table.encoding, {});
  const EncodedColumn& all = table.rows.columns[static_cast<std::size_t>(income.column)];
  const ColumnEncoding& of_income = table.encoding.columns[static_cast<std::size_t>(income.column)];
  std::int64_t below = 0;
  for (const double v : all.value) below += of_income.decode(v) <= income.bin.front().front() ? 1 : 0;
  EXPECT_GE(below, 5);  // nobody's extreme value is handed out
}

TEST(CodebookLevels, SharedValuesAreListed) {
  // 100 amounts that are no neighbours, 30 people each, and one that a single person has.
  std::string csv = "x,amount\n";
  for (int i = 0; i < 3000; ++i) csv += fmt::format("{},{}\n", i % 2, 1000 + 37 * (i % 100));
  csv += "1,1001\n";
  Schema schema;
  schema.columns = {testing::category("x"), {.name = "amount", .type = ColumnType::kInteger}};
  schema.sensitive = {"x"};
  schema.useful = {"amount"};
  const EncodedTable table = encoded(csv, schema);
  const ColumnLevels levels = fit_levels(table.rows, 1, table.encoding, {.most_bins = 8});
  EXPECT_TRUE(levels.listed);
  EXPECT_TRUE(levels.check().empty());
  EXPECT_EQ(levels_from_json(to_json(levels)), levels);
  SeededRandom random(1);
  for (int i = 0; i < 2000; ++i) {
    const auto level = static_cast<std::int32_t>(random.index(levels.levels()));
    const double x = table.encoding.columns[1].decode(draw_cell(levels, level, table.encoding, random).value);
    EXPECT_EQ(std::fmod(x - 1000, 37), 0);
    EXPECT_EQ(levels.level_of(x), level);
  }
  // With room for all of them each is a level.
  EXPECT_EQ(fit_levels(table.rows, 1, table.encoding, {.most_bins = 128}).spike.size(), 100U);
}

TEST(Codebook, SteersToTheLeakageAndHidesIt) {
  const EncodedTable table = encoded(people_csv(4000, 1), people_schema(false));
  const EncodedRows held_out = rows_like(table, 3000, 2);
  const Fitted fitted = fit(table, held_out, 0.02);
  EXPECT_GT(fitted.start.leakage, 0.08);
  EXPECT_NEAR(fitted.trained.steered, 0.02, 0.012);
  // Rows that steered nothing.
  const EncodedRows fresh = rows_like(table, 6000, 3);
  const HiddenCode x{fresh.columns[0].code, 2, true};
  const std::vector<Estimate> bounds = table_upper_bounds(fitted.model, fresh, x);
  ASSERT_EQ(bounds.size(), 2U);
  EXPECT_LT(bounds[0].nats, 0.05);
  EXPECT_GT(bounds[1].nats, bounds[0].nats);
  EXPECT_EQ(bounds[0].bound, Bound::kUpper);
}

TEST(Codebook, RowsLookLikeRows) {
  const EncodedTable table = encoded(people_csv(4000, 1), people_schema(false));
  const EncodedRows held_out = rows_like(table, 3000, 2);
  const Fitted fitted = fit(table, held_out, 0.02);
  const EncodedRows out = release(fitted.model, held_out, 5);
  // The shade follows from the colour in every row.
  const Symbols& colour = out.columns[0].code;
  const Symbols& shade = out.columns[1].code;
  std::set<std::pair<std::int32_t, std::int32_t>> before;
  for (std::size_t r = 0; r < table.rows.columns[1].code.size(); ++r)
    before.emplace(table.rows.columns[1].code[r], table.rows.columns[2].code[r]);
  for (std::size_t r = 0; r < colour.size(); ++r) EXPECT_TRUE(before.contains({colour[r], shade[r]}));
  // The spike keeps its share: 3,000 rows of 0.51 vary by 0.009; the bar is three percentage points.
  const ColumnEncoding& hours = table.encoding.columns[3];
  double at = 0;
  for (const double v : out.columns[2].value) at += hours.decode(v) == 40 ? 1.0 / 3000 : 0;
  EXPECT_NEAR(at, 0.508, 0.03);
}

TEST(Codebook, EveryCodewordStandsForEnoughPeople) {
  const EncodedTable table = encoded(people_csv(1000, 1), people_schema(false));
  CodebookOptions options = quick_options();
  options.codewords = 100;
  options.epochs = 5;
  const Fitted fitted = fit(table, table.rows, 0.05, options);
  const Codebook& book = *fitted.model.components().front().codebook;
  CodebookReleaser releaser(book, table.encoding, fitted.model.observed_layout());
  const Vector<float> people = releaser.probabilities(table.rows).colwise().sum().transpose();
  EXPECT_GE(people.minCoeff(), 5 - 1e-3F);
}

TEST(Codebook, StoredAndReadBack) {
  const EncodedTable table = encoded(people_csv(800, 1), people_schema(true));
  CodebookOptions options = quick_options();
  options.epochs = 3;
  const Fitted fitted = fit(table, table.rows, 0.05, options);
  const ModelParts parts = fitted.model.to_parts();
  const TableModel again = TableModel::from_parts(parts);
  const EncodedRows a = release(fitted.model, table.rows, 4);
  const EncodedRows b = release(again, table.rows, 4);
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    EXPECT_EQ(a.columns[c].code, b.columns[c].code);
    EXPECT_EQ(a.columns[c].value, b.columns[c].value);
  }
  // A file from a stranger: a tensor of the wrong shape, one that is missing, a parent that is no column.
  ModelParts bad = parts;
  bad.tensors.at("component-0.centre").conservativeResize(1, 1);
  EXPECT_THROW(TableModel::from_parts(bad), Error);
  bad = parts;
  bad.tensors.erase("component-0.column-0.in_code");
  EXPECT_THROW(TableModel::from_parts(bad), Error);
  bad = parts;
  bad.description["components"][0]["codebook"]["columns"][0]["parent"] = 77;
  EXPECT_THROW(TableModel::from_parts(bad), Error);
}

TEST(Codebook, KeptTaskCountsWithTheCode) {
  const EncodedTable table = encoded(people_csv(2000, 1), people_schema(true));
  CodebookOptions options = quick_options();
  options.epochs = 5;
  const Fitted fitted = fit(table, table.rows, 0.05, options);
  const HiddenCode x{table.rows.columns[0].code, 2, true};
  EXPECT_EQ(table_upper_bounds(fitted.model, table.rows, x).size(), 2U);
  // Without the task's values in the rows nothing can be said.
  EncodedRows without = table.rows;
  without.which.pop_back();
  without.columns.pop_back();
  EXPECT_TRUE(table_upper_bounds(fitted.model, without, x).empty());
}

TEST(Codebook, MoreCodewordsThanRowsAllow) {
  const EncodedTable table = encoded(people_csv(100, 1), people_schema(false));
  CodebookOptions options = quick_options();
  EXPECT_THROW(codebook_shape(table.rows, table.schema, table.encoding, options), Error);
}

}  // namespace
}  // namespace ppan
