#include "ppan/table/table_curve.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "ppan/core/hull.h"
#include "ppan/engine/engine.h"
#include "ppan/table/curve_rows.h"
#include "ppan/table/table_archive.h"
#include "ppan/table/table_domain.h"
#include "unit/table/tables.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;
using testing::mixed_csv;
using testing::mixed_schema;
using testing::table_of;

TableCurveOptions small(std::vector<double> budgets) {
  TableCurveOptions options;
  options.budgets = std::move(budgets);
  options.training.hidden = {16};
  options.training.epochs = 40;
  options.training.batch = 100;
  options.heads.hidden = {16};
  options.heads.epochs = 40;
  options.heads.batch = 100;
  options.leakage.quick = true;
  options.threads = 2;
  return options;
}

TableCurveResult curve_of(const std::string& csv, const Schema& schema, const TableCurveOptions& options,
                          const TableCurveHooks& hooks = {}) {
  return table_curve(table_of(csv, schema), schema, {}, options, hooks);
}

// What was trained, whatever the family.
Vector<float> parameters_of(const TablePoint& point) {
  const TableComponent& component = point.model->components()[0];
  return component.heads ? component.heads->parameters : component.parameters;
}

class TableCurveOf : public ::testing::TestWithParam<MechanismFamily> {};
INSTANTIATE_TEST_SUITE_P(Families, TableCurveOf,
                         ::testing::Values(MechanismFamily::kHeads, MechanismFamily::kNoiseInput));

TEST_P(TableCurveOf, BeatsTimeSharingWhereTheSecretIsInOneColumn) {
  TableCurveOptions options = small({0.05, 0.25, 0.5});
  options.training.family = GetParam();
  const TableCurveResult result = curve_of(mixed_csv(3000, 0.1, 5), mixed_schema(), options);
  ASSERT_EQ(result.points.size(), 3U);
  EXPECT_EQ(result.mechanism, to_string(GetParam()));
  ASSERT_TRUE(result.unchanged && result.constant);
  EXPECT_GT(result.unchanged->audit.leakage().nats, 0.4);
  EXPECT_EQ(result.constant->audit.leakage().nats, 0);
  // Hiding the colour and the size, and leaving the shape, is far cheaper than dropping whole rows.
  const TablePoint& middle = result.points[1];
  const double share = 1 - middle.measured.change.distortion / result.constant->change.distortion;
  EXPECT_LT(middle.measured.audit.leakage().nats, 0.8 * share * result.unchanged->audit.leakage().nats);
  EXPECT_LT(result.points[2].measured.audit.leakage().nats, 0.03);
  for (const TablePoint& point : result.points) {
    EXPECT_LT(point.measured.change.distortion, point.budget * 1.15 + 0.02);
    EXPECT_EQ(point.measured.change.columns.size(), 3U);
    EXPECT_TRUE(point.model.has_value());
  }
  // References at the same distortion, and the hull below all points.
  int noise = 0;
  for (const MeasuredRelease& reference : result.references) {
    if (reference.series != "reference/noise") continue;
    EXPECT_NEAR(reference.change.distortion, *reference.budget, 0.03);
    ++noise;
  }
  EXPECT_EQ(noise, 3);
  for (const char* series : {"reference/randomized-response", "reference/gaussian-noise"}) {
    EXPECT_TRUE(std::any_of(result.references.begin(), result.references.end(),
                            [&](const MeasuredRelease& r) { return r.series == series; }))
        << series;
  }
  const auto points = result.hull_points();
  const auto hull = lower_hull(points);
  EXPECT_EQ(result.hull.size(), hull.size());
  for (const HullPoint& p : points) EXPECT_LE(*hull_leakage(points, hull, p.distortion), p.leakage + 1e-12);
}

TEST(TableCurve, ChoosesTheFamilyByTheTable) {
  const Schema schema = mixed_schema();
  const Table table = table_of(mixed_csv(400, 0.1, 5), schema);
  const auto chosen = [&](const Schema& roles, const TableCurveOptions& options) {
    return make_curve_rows(table, roles, {}, options);
  };
  TableCurveOptions options = small({0.1});
  EXPECT_EQ(chosen(schema, options).mechanism(), "heads");
  EXPECT_TRUE(chosen(schema, options).notices.empty());

  // Few categories: the exact form, unless there is a task, which it knows nothing of.
  Schema categories = schema;
  std::erase(categories.useful, "size");
  EXPECT_EQ(chosen(categories, options).mechanism(), "finite");
  categories.useful = {"colour"};
  categories.task = {"shape"};
  EXPECT_EQ(chosen(categories, options).mechanism(), "heads");
  options.heads.task_weight = 0;
  EXPECT_EQ(chosen(categories, options).mechanism(), "finite");

  // What heads cannot do is said.
  options = small({0.1});
  options.training.budget_form = BudgetForm::kExpected;
  CurveRows rows = chosen(schema, options);
  EXPECT_EQ(rows.mechanism(), "noise-input");
  ASSERT_EQ(rows.notices.size(), 1U);
  EXPECT_NE(rows.notices[0].find("privacy.budget_form"), std::string::npos);
  options = small({0.1});
  options.training.alpha = 2;
  EXPECT_EQ(chosen(schema, options).mechanism(), "noise-input");
  Schema partly = schema;
  partly.observed = {"colour", "shape"};
  rows = chosen(partly, small({0.1}));
  EXPECT_EQ(rows.mechanism(), "noise-input");
  EXPECT_NE(rows.notices.at(0).find("'size' is released but not observed"), std::string::npos);

  // A family that is asked for by name is taken.
  options = small({0.1});
  options.training.family = MechanismFamily::kNoisyCode;
  EXPECT_EQ(chosen(schema, options).mechanism(), "noisy-code");
}

TEST(TableCurve, ServesAnyBudgetByAMixture) {
  const TableCurveResult result = curve_of(mixed_csv(2000, 0.1, 5), mixed_schema(), small({0.3}));
  const auto points = result.hull_points();
  const auto hull = lower_hull(points);
  const double wanted = 0.4 * points[1].distortion;
  const auto mixture = at_most_distortion(points, hull, wanted);
  ASSERT_TRUE(mixture && mixture->second_weight > 0);
  const TableModel model = result.model_of(*mixture);
  EXPECT_EQ(model.components().size(), 2U);
  // Rows of the same distribution that nothing was fitted on.
  const Table fresh = table_of(mixed_csv(4000, 0.1, 77), mixed_schema());
  EncodedRows rows;
  const std::vector<std::int32_t> every{0, 1, 2, 3};
  Encoder(result.encoding).encode(fresh, every, UnknownRow::kNearest, rows);
  TableReleaser releaser(model);
  SeededRandom random(5);
  EncodedRows out;
  releaser.release(rows, random, out);
  // 4,000 rows, cost of a row of standard deviation below 0.5 here: 5 standard deviations are 0.04.
  EXPECT_NEAR(measure_change(rows, out, result.encoding).distortion, wanted, 0.04);
}

TEST(TableCurve, FindsNothingWhereThereIsNothing) {
  const TableCurveResult result = curve_of(mixed_csv(2000, 1.0, 5), mixed_schema(), small({0.1}));
  // 800 held-out rows; see table_measure_test.cc for the false alarms.
  EXPECT_LT(result.unchanged->audit.leakage().nats, 0.03);
  EXPECT_LT(result.points[0].measured.audit.leakage().nats, 0.03);
}

TEST(TableCurve, HidesAColumnThatIsTheSecretItself) {
  const TableCurveResult result = curve_of(mixed_csv(2000, 0.0, 5), mixed_schema(), small({0.02, 0.6}));
  EXPECT_GT(result.points[0].measured.audit.leakage().nats, 0.3);
  EXPECT_LT(result.points[1].measured.audit.leakage().nats, 0.05);
  EXPECT_LT(result.points[1].measured.change.columns[1].changed, 0.7);  // shapes need not suffer as much
}

TEST(TableCurve, UsesTheFiniteFormForASmallAlphabet) {
  Schema schema = mixed_schema();
  schema.useful = {"colour", "shape"};
  TableCurveOptions options = small({0.2});
  options.references = false;
  const TableCurveResult result = curve_of(mixed_csv(2000, 0.1, 5), schema, options);
  EXPECT_EQ(result.mechanism, to_string(MechanismKind::kFinite));
  EXPECT_NEAR(result.points[0].measured.change.distortion, 0.2, 0.04);
  const double share = 1 - result.points[0].measured.change.distortion / result.constant->change.distortion;
  EXPECT_LT(result.points[0].measured.audit.leakage().nats,
            0.8 * share * result.unchanged->audit.leakage().nats);

  options.training.family = MechanismFamily::kNoisyCode;
  EXPECT_EQ(curve_of(mixed_csv(500, 0.1, 5), schema, options).mechanism,
            to_string(MechanismKind::kNoisyCode));
  options.training.family = MechanismFamily::kFinite;
  EXPECT_THROW(curve_of(mixed_csv(500, 0.1, 5), mixed_schema(), options), Error);
}

TEST(TableCurve, SpreadsItsPointsFromAlmostUntouchedToNothingLeft) {
  TableCurveOptions options = small({});
  options.points = 4;
  options.references = false;
  const TableCurveResult result = curve_of(mixed_csv(3000, 0.1, 5), mixed_schema(), options);
  ASSERT_EQ(result.points.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(result.points[i].number, static_cast<int>(i) + 1);
  EXPECT_LT(result.points[0].measured.change.changed, 0.06);
  // The last one could spend 95 % of what the constant costs; shapes tell nothing, and it leaves them alone.
  const TablePoint& last = result.points[3];
  EXPECT_LT(last.measured.audit.leakage().nats, 0.03);
  EXPECT_LT(last.measured.change.distortion, 0.8 * last.budget);
  EXPECT_LT(last.measured.change.columns[1].changed, 0.3);
}

// The secret is whether a number is even, which no player of the game sees: they know numbers by bins.
// Attackers do, so the last point goes on until they find nothing, while a budget that was given is kept.
TEST(TableCurve, HasAnEndWhereAttackersFindNothing) {
  SeededRandom random(3);
  std::string csv = "x,code,shape\n";
  for (int r = 0; r < 2000; ++r) {
    const auto code = random.index(120);
    csv += fmt::format("{},{},{}\n", code % 2 == 0 ? "even" : "odd", code,
                       random.index(3) == 0 ? "round" : "square");
  }
  Schema schema;
  schema.columns = {
      testing::category("x"), {.name = "code", .type = ColumnType::kInteger}, testing::category("shape")};
  schema.sensitive = {"x"};
  schema.useful = {"code", "shape"};
  TableCurveOptions options = small({});
  options.training.family = MechanismFamily::kHeads;
  options.heads.epochs = 8;
  options.references = false;
  options.points = 2;
  const TableCurveResult end = curve_of(csv, schema, options);
  ASSERT_EQ(end.points.size(), 2U);
  EXPECT_GT(end.unchanged->audit.leakage().nats, 0.5);
  EXPECT_LT(end.points[1].measured.audit.leakage().nats, 0.03);
  // Training ended at next to nothing, which counts as 5 % of the constant's distortion. The point before the
  // last takes the place of what was trained: half of it, where an eighth would leave a gap.
  EXPECT_GT(end.points[0].budget, 0.02 * end.most_distortion);
  // The completed curve ends in rows that are drawn without looking at anybody, and that is known, not found.
  ASSERT_TRUE(end.independent && end.constant);
  EXPECT_EQ(end.independent->upper->nats, 0);
  EXPECT_EQ(end.independent->audit.leakage().nats, 0);
  EXPECT_EQ(end.independent->audit.upper_end(), 0);
  EXPECT_EQ(end.hull_points().back().distortion, end.independent->change.distortion);
  EXPECT_EQ(end.model_of(end.hull_points().size() - 1).components()[0].kind, ComponentKind::kHeads);
  options.budgets = {0.05};
  const TableCurveResult given = curve_of(csv, schema, options);
  EXPECT_GT(given.points[0].measured.audit.leakage().nats, 0.3);  // what the end would be without going on
  EXPECT_LT(given.points[0].measured.change.distortion, 0.08);
}

// Two columns say the same about the secret, so that neither hides anything before the other is gone. Whoever
// leaves out columns goes on, and so do redrawn ones: they tell no more, and cost at most twice as much (a
// number two variances instead of one, a category 1 - sum p^2 instead of 1 - max p). Categories, which alone
// tell here, cost hardly more, so the completed curve is nowhere above what leaves out columns, but for
// chance. With a path that ends where no step saves there are fewer redrawn releases than dropped ones.
TEST(TableCurve, DroppedColumnsAreNotAheadWhereNoColumnHidesByItself) {
  SeededRandom random(8);
  std::string csv = "x,job,trade,town,age,hours\n";
  for (int r = 0; r < 3000; ++r) {
    const bool x = random.uniform() < 0.5;
    const auto job = random.uniform() < 0.6 ? (x ? 0 : 1) : random.index(4);
    const auto town = random.uniform() < 0.3 ? (x ? 2 : 3) : random.index(5);
    csv += fmt::format("{},job{},trade{},town{},{},{}\n", x ? "yes" : "no", job, job, town,
                       20 + random.index(50), 10 + random.index(60));
  }
  Schema schema;
  schema.columns = {testing::category("x"),
                    testing::category("job"),
                    testing::category("trade"),
                    testing::category("town"),
                    {.name = "age", .type = ColumnType::kInteger},
                    {.name = "hours", .type = ColumnType::kInteger}};
  schema.sensitive = {"x"};
  schema.useful = {"job", "trade", "town", "age", "hours"};
  TableCurveOptions options = small({0.05});
  options.heads.epochs = 8;
  const TableCurveResult result = curve_of(csv, schema, options);
  std::vector<const MeasuredRelease*> dropped;
  for (const MeasuredRelease& reference : result.references) {
    if (reference.series == "reference/dropped") dropped.push_back(&reference);
  }
  ASSERT_EQ(dropped.size(), 4U);
  ASSERT_EQ(result.redrawn.size(), dropped.size());
  EXPECT_GT(result.unchanged->audit.leakage().nats, 0.15);
  EXPECT_LT(dropped[2]->audit.leakage().nats, 0.03);
  const std::vector<HullPoint> points = result.hull_points();
  const std::vector<std::size_t> hull = lower_hull(points);
  for (std::size_t i = 0; i < dropped.size(); ++i) {
    const MeasuredRelease& redrawn = result.redrawn[i].measured;
    EXPECT_EQ("without " + redrawn.label, dropped[i]->label + " redrawn");
    // The same rows and attackers: chance of 1,200 rows is 0.02 nats.
    EXPECT_LT(redrawn.audit.leakage().nats, dropped[i]->audit.leakage().nats + 0.02);
    EXPECT_LT(redrawn.change.distortion, 2.05 * dropped[i]->change.distortion);
    EXPECT_LT(hull_leakage(points, hull, dropped[i]->change.distortion).value(),
              dropped[i]->audit.leakage().nats + 0.02)
        << dropped[i]->label;
  }
}

// The columns that tell about the secret say nothing about the task, so that leaving them out costs it
// nothing: no other release could be better for it. Redrawn columns are as good, and all columns are there.
TEST(TableCurve, DroppedColumnsAreNotBetterForATask) {
  SeededRandom random(6);
  std::string csv = "x,job,town,age,income,hours,y\n";
  for (int r = 0; r < 3000; ++r) {
    const bool x = random.uniform() < 0.5;
    const auto job = random.uniform() < 0.6 ? (x ? 0 : 1) : random.index(4);
    const auto town = random.uniform() < 0.4 ? (x ? 2 : 3) : random.index(5);
    const auto hours = random.uniform() < 0.5 ? 40 : 10 + random.index(60);
    const auto income = random.index(100) + hours;
    csv += fmt::format("{},job{},town{},{},{},{},{}\n", x ? "yes" : "no", job, town, 20 + random.index(50),
                       income, hours, income + random.index(40) > 110 ? "rich" : "poor");
  }
  Schema schema;
  schema.columns = {testing::category("x"),
                    testing::category("job"),
                    testing::category("town"),
                    {.name = "age", .type = ColumnType::kInteger},
                    {.name = "income", .type = ColumnType::kInteger},
                    {.name = "hours", .type = ColumnType::kInteger},
                    testing::category("y")};
  schema.sensitive = {"x"};
  schema.useful = {"job", "town", "age", "income", "hours"};
  schema.task = {"y"};
  TableCurveOptions options = small({0.05});
  options.heads.epochs = 8;
  const TableCurveResult result = curve_of(csv, schema, options);
  ASSERT_GE(result.redrawn.size(), 2U);
  std::vector<const MeasuredRelease*> dropped;
  for (const MeasuredRelease& reference : result.references) {
    if (reference.series == "reference/dropped") dropped.push_back(&reference);
  }
  ASSERT_GE(dropped.size(), result.redrawn.size());
  EXPECT_EQ(result.redrawn[1].measured.label, "job, town redrawn");
  EXPECT_EQ(dropped[1]->label, "without job, town");
  const double score = result.unchanged->task.front().original.value;
  for (std::size_t i = 0; i < 2; ++i) {
    const MeasuredRelease& redrawn = result.redrawn[i].measured;
    // The same rows and attackers: chance of 1,200 rows is 0.02 nats, and 0.01 of AUC between two learners.
    EXPECT_LT(redrawn.audit.leakage().nats, dropped[i]->audit.leakage().nats + 0.02);
    EXPECT_GT(redrawn.task.front().original.value, dropped[i]->task.front().original.value - 0.02);
    EXPECT_GT(redrawn.task.front().original.value, score - 0.02);
    EXPECT_GT(redrawn.task.front().released.value, score - 0.03);
    // Associations are kept, which leaving out breaks.
    ASSERT_TRUE(redrawn.recipient && dropped[i]->recipient);
    EXPECT_LT(redrawn.recipient->associations, dropped[i]->recipient->associations);
  }
  EXPECT_GT(result.unchanged->audit.leakage().nats, 0.1);
  EXPECT_LT(result.redrawn[1].measured.audit.leakage().nats, 0.03);
  EXPECT_TRUE(std::all_of(result.redrawn.begin(), result.redrawn.end(),
                          [](const RedrawnRelease& release) { return release.model.has_value(); }));
  // They are points of the completed curve.
  EXPECT_EQ(result.hull_points().size(), 3 + result.redrawn.size());
  EXPECT_EQ(result.model_of(2).components()[0].label, result.redrawn[0].measured.label);
  // The twin: a table that keeps them tells, whatever else is done.
  options.redrawn = 0;
  EXPECT_TRUE(curve_of(csv, schema, options).redrawn.empty());
}

// A point that leaks far more than others on either side of it gives its place to a mixture of them.
TEST(TableCurve, MendsAPointThatOthersDominate) {
  TableCurveOptions options = small({0.1, 0.2, 0.4});
  options.heads.epochs = 4;
  options.references = false;
  options.redrawn = 0;
  const Table table = table_of(mixed_csv(800, 0.1, 5), mixed_schema());
  TableCurveHooks hooks;
  TableDomain domain(std::make_shared<const CurveRows>(make_curve_rows(table, mixed_schema(), {}, options)),
                     hooks);
  Pieces pieces = make_pieces(domain, nullptr, {2, {}, {}}).pieces;
  ASSERT_TRUE(pieces.contains("mend-02"));
  // As if training and attackers had said so.
  const auto say = [&](const std::string& name, double distortion, double nats) {
    auto audited = unarchived<AuditedPoint>(pieces.at(name));
    audited.measured.change.distortion = distortion;
    Estimate& leakage = audited.measured.audit.attributes.front().leakage;
    leakage.nats = nats;
    leakage.interval95 = Interval{nats - 0.01, nats + 0.01};
    pieces[name] = archived(audited);
    for (int number = 1; number <= 3; ++number) {
      const std::string mend = fmt::format("mend-0{}", number);
      pieces[mend] = domain.make(mend, pieces, {}).value();
    }
  };
  say("audit-01", 0.1, 0.3);
  say("audit-02", 0.2, 0.1);
  say("audit-03", 0.4, 0.02);
  EXPECT_EQ(domain.finish(pieces).points[1].model->components().size(), 1U);  // as it was trained
  say("audit-02", 0.2, 0.6);
  const TablePoint mended = domain.finish(pieces).points[1];
  EXPECT_EQ(mended.number, 2);
  ASSERT_EQ(mended.model->components().size(), 2U);
  EXPECT_EQ(mended.model->components()[0].label, "point 1");
  EXPECT_EQ(mended.model->components()[1].label, "point 3");
  EXPECT_LT(mended.measured.audit.leakage().nats, 0.6);  // measured anew
  ASSERT_FALSE(mended.warnings.empty());
  EXPECT_THAT(mended.warnings.back(), HasSubstr("mixture of them (point 1, point 3)"));
}

TEST(TableCurve, BoundsFromAboveWhereTheLawIsKnown) {
  TableCurveOptions options = small({0.3});
  options.references = false;
  options.training.family = MechanismFamily::kNoisyCode;
  options.training.code_radius = 2;
  const TableCurveResult code = curve_of(mixed_csv(1500, 0.1, 5), mixed_schema(), options);
  ASSERT_TRUE(code.points[0].measured.upper && code.unchanged->upper && code.constant->upper);
  EXPECT_LT(code.points[0].measured.upper->nats, 0.95 * std::log(2.0));
  EXPECT_GT(code.points[0].measured.upper->interval95->high,
            code.points[0].measured.audit.leakage().interval95->low);
  EXPECT_NEAR(code.unchanged->upper->nats, std::log(2.0), 0.01);
  EXPECT_EQ(code.constant->upper->nats, 0);
}

TEST(TableCurve, GivesTheSameBitsOnOneThreadAndOnThree) {
  TableCurveOptions options = small({0.1, 0.3});
  options.training.epochs = 5;
  options.threads = 1;
  const std::string csv = mixed_csv(600, 0.1, 5);
  const TableCurveResult one = curve_of(csv, mixed_schema(), options);
  options.threads = 3;
  const TableCurveResult three = curve_of(csv, mixed_schema(), options);
  ASSERT_EQ(one.points.size(), three.points.size());
  for (std::size_t i = 0; i < one.points.size(); ++i) {
    EXPECT_EQ(parameters_of(one.points[i]), parameters_of(three.points[i]));
    EXPECT_EQ(one.points[i].measured.audit.leakage().nats, three.points[i].measured.audit.leakage().nats);
    EXPECT_EQ(one.points[i].measured.change.distortion, three.points[i].measured.change.distortion);
  }
  ASSERT_EQ(one.references.size(), three.references.size());
  for (std::size_t i = 0; i < one.references.size(); ++i)
    EXPECT_EQ(one.references[i].audit.leakage().nats, three.references[i].audit.leakage().nats);

  options.seed = 2;
  const TableCurveResult other = curve_of(csv, mixed_schema(), options);
  EXPECT_NE(parameters_of(one.points[0]), parameters_of(other.points[0]));
}

TEST(TableCurve, ChoosesBetweenRestartsOnRowsThatItDoesNotReportOn) {
  TableCurveOptions options = small({0.2});
  options.training.epochs = 5;
  options.training.restarts = 2;
  options.references = false;
  const TableCurveResult result = curve_of(mixed_csv(600, 0.1, 5), mixed_schema(), options);
  ASSERT_EQ(result.points.size(), 1U);
  // Of the 150 test rows 45 train attackers and 30 choose between them; none of the 90 validation rows.
  EXPECT_EQ(result.points[0].measured.audit.leakage().samples, 75);
  options.validation = 0;
  EXPECT_THROW(curve_of(mixed_csv(600, 0.1, 5), mixed_schema(), options), Error);
}

TEST(TableCurve, KeepsFinishedPointsWhenInterrupted) {
  TableCurveOptions options = small({0.1, 0.2, 0.3});
  options.training.epochs = 5;
  options.threads = 1;
  std::atomic<int> finished = 0;
  TableCurveHooks hooks;
  hooks.finished = [&](const TablePoint&) { ++finished; };
  hooks.interrupted = [&] { return finished > 0; };
  const TableCurveResult result = curve_of(mixed_csv(400, 0.1, 5), mixed_schema(), options, hooks);
  EXPECT_TRUE(result.interrupted);
  EXPECT_EQ(result.points.size(), 1U);
  EXPECT_EQ(result.planned, 3);
  EXPECT_FALSE(result.hull.empty());
}

TEST(TableCurve, TrainsOnWhatIsObservedEvenIfThatIsNotWhatIsReleased) {
  Schema schema = mixed_schema();
  schema.observed = {"colour", "size"};
  TableCurveOptions options = small({0.3});
  options.training.epochs = 5;
  const TableCurveResult result = curve_of(mixed_csv(500, 0.1, 5), schema, options);
  EXPECT_FALSE(result.unchanged);
  ASSERT_EQ(result.points.size(), 1U);
  EXPECT_EQ(result.points[0].measured.change.columns.size(), 3U);
}

TEST(Split, KeepsGroupsTogetherAndCoversEveryRow) {
  std::string csv = "person,v\n";
  for (int r = 0; r < 300; ++r) csv += fmt::format("p{},{}\n", r % 40, r);
  Schema schema;
  schema.columns = {{.name = "person", .type = ColumnType::kIdentifier},
                    {.name = "v", .type = ColumnType::kInteger}};
  schema.group = "person";
  const Table table = table_of(csv, schema);
  const TableSplit split = split_rows(table, schema, 0.2, 0.3, 4);
  std::vector<int> part(40, -1);
  std::size_t rows = 0;
  int number = 0;
  for (const auto* some : {&split.train, &split.validation, &split.test}) {
    for (const std::int32_t row : *some) {
      int& of_person = part[static_cast<std::size_t>(row % 40)];
      EXPECT_TRUE(of_person == -1 || of_person == number);
      of_person = number;
    }
    rows += some->size();
    ++number;
  }
  EXPECT_EQ(rows, 300U);
  EXPECT_NEAR(static_cast<double>(split.test.size()), 90, 8);
  EXPECT_NEAR(static_cast<double>(split.validation.size()), 60, 8);
}

TEST(PointWarnings, TellOverfittingMissedBudgetsAndDivergence) {
  TablePoint point{.number = 3, .budget = 0.1};
  point.measured.change.distortion = 0.11;
  AttributeAudit& found = point.measured.audit.attributes.emplace_back();
  found.leakage = {.nats = 0.08, .interval95 = Interval{0.075, 0.085}};
  point.training_leakage = {.nats = 0.03, .interval95 = Interval{0.02, 0.04}};
  EXPECT_TRUE(point_warnings(point).empty());
  point.training_leakage = {.nats = 0.01, .interval95 = Interval{0, 0.02}};
  ASSERT_EQ(point_warnings(point).size(), 1U);
  EXPECT_THAT(point_warnings(point)[0], HasSubstr("overfits"));
  point.measured.change.distortion = 0.13;
  point.training.stop = Stop::kDiverged;
  EXPECT_EQ(point_warnings(point).size(), 3U);
  found.verdict = AuditVerdict::kInconclusive;
  EXPECT_EQ(point_warnings(point).size(), 4U);
}

TEST(TableCurveOptions, ListEveryProblemAtOnce) {
  TableCurveOptions options;
  options.points = 0;
  options.validation = 0.6;
  options.test = 0;
  options.training.code_radius = 0;
  options.leakage.training_releases = 0;
  EXPECT_EQ(options.check().size(), 5U);
  EXPECT_TRUE(TableCurveOptions{}.check().empty());
}

}  // namespace
}  // namespace ppan
