#include "ppan/audit/audit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "ppan/audit/audit_text.h"
#include "ppan/core/error.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Symbols bits(Index rows, SeededRandom random) {
  Symbols x;
  for (Index i = 0; i < rows; ++i) x.push_back(static_cast<std::int32_t>(random.index(2)));
  return x;
}

Vector<double> normals(Index rows, SeededRandom random) {
  Matrix<double> v(rows, 1);
  fill_normal(random, v);
  return v.col(0);
}

Symbols flipped(const Symbols& x, double chance, SeededRandom random) {
  Symbols out = x;
  for (std::int32_t& v : out) v = random.uniform() < chance ? 1 - v : v;
  return out;
}

// A bit through a symmetric channel, with a column that knows nothing beside it.
AuditInput channel(Index rows, double chance, std::uint64_t seed) {
  const SeededRandom root(seed);
  const Symbols x = bits(rows, root.fork("x"));
  AuditInput input;
  input.released.columns.push_back(column_of_codes("z", flipped(x, chance, root.fork("channel")), 2));
  input.released.columns.push_back(column_of_numbers("noise", normals(rows, root.fork("noise"))));
  input.sensitive.push_back(column_of_codes("x", x, 2));
  return input;
}

double channel_information(double chance) {
  return std::log(2.0) + chance * std::log(chance) + (1 - chance) * std::log(1 - chance);
}

std::string message_of(const AuditInput& input, ErrorCode code, const AuditOptions& options = {}) {
  try {
    audit(input, options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what();
  }
  return "accepted";
}

TEST(Audit, SeesWhatAChannelLeaves) {
  const AuditReport report = audit(channel(6000, 0.2, 1), {.quick = true});
  const AttributeAudit& a = report.attributes.at(0);
  EXPECT_EQ(a.verdict, AuditVerdict::kLeakFound);
  EXPECT_NEAR(a.leakage.nats, channel_information(0.2), 0.05);  // interval half-width 0.03
  EXPECT_NEAR(a.accuracy.value, 0.8, 0.04);                     // standard error 0.009
  EXPECT_EQ(a.upper.size(), 1U);
  EXPECT_NEAR(a.upper[0].nats, std::log(2.0), 0.01);
  EXPECT_EQ(report.training_rows + report.selection_rows + report.test_rows, 6000);
}

TEST(Audit, DoesNotDependOnTheNumberOfThreads) {
  const AuditInput input = channel(1500, 0.3, 2);
  EXPECT_EQ(to_json(audit(input, {.quick = true, .threads = 1})),
            to_json(audit(input, {.quick = true, .threads = 2})));
}

TEST(Audit, FurtherReleasesOfTrainingRowsAreUsed) {
  AuditInput input = channel(2000, 0.3, 3);
  const Symbols x = input.sensitive[0].code;
  int calls = 0;
  input.draw_again = [&](std::int64_t number) {
    ++calls;
    AuditTable again = channel(2000, 0.3, 3).released;
    again.columns[0] = column_of_codes(
        "z", flipped(x, 0.3, SeededRandom(100).fork("again", static_cast<std::uint64_t>(number))), 2);
    return again;
  };
  const AuditReport report = audit(input, {.quick = true, .training_releases = 3, .repeats = {4}});
  EXPECT_EQ(report.releases_per_training_row, 3);
  EXPECT_EQ(calls, 2 + 3);
  // Four looks through a channel of crossover 0.3: the number of ones is binomial either way.
  double truth = std::log(2.0);
  for (int k = 0; k <= 4; ++k) {
    const double choose = std::vector<double>{1, 4, 6, 4, 1}[static_cast<std::size_t>(k)];
    const double p1 = choose * std::pow(0.7, k) * std::pow(0.3, 4 - k);
    const double p0 = choose * std::pow(0.3, k) * std::pow(0.7, 4 - k);
    truth += 0.5 * (p1 * std::log(p1 / (p0 + p1)) + p0 * std::log(p0 / (p0 + p1)));
  }
  const AttributeAudit& a = report.attributes.at(0);
  ASSERT_EQ(a.repeats.size(), 1U);
  EXPECT_NEAR(a.repeats[0].leakage.nats, truth, 0.1);  // standard error 0.02
  EXPECT_GT(a.repeats[0].leakage.nats, a.leakage.nats + 0.05);
}

// Each release shows, by a fair coin, either R or X xor R: one tells nothing about X, two tell it half of the
// time. k I(X;Z) would be 0 for every k.
TEST(Audit, RepeatedReleasesTellWhatOneHides) {
  constexpr Index kRows = 4000;
  const SeededRandom root(12);
  const Symbols x = bits(kRows, root.fork("x"));
  const Symbols r = bits(kRows, root.fork("r"));
  const auto release = [&](std::int64_t number) {
    SeededRandom coin = root.fork("coin", static_cast<std::uint64_t>(number));
    Symbols z;
    for (std::size_t i = 0; i < x.size(); ++i) z.push_back(coin.index(2) == 0 ? r[i] : 2 + (x[i] ^ r[i]));
    AuditTable table;
    table.columns.push_back(column_of_codes("z", z, 4));
    return table;
  };
  AuditInput input;
  input.released = release(0);
  input.sensitive.push_back(column_of_codes("x", x, 2));
  input.draw_again = release;
  const AttributeAudit a = audit(input, {.quick = true, .repeats = {2, 3}}).attributes.at(0);
  EXPECT_EQ(a.verdict, AuditVerdict::kNothingFound);
  ASSERT_EQ(a.repeats.size(), 2U);
  EXPECT_NEAR(a.repeats[0].leakage.nats, 0.5 * std::log(2.0), 0.05);  // standard error 0.01
  EXPECT_NEAR(a.repeats[1].leakage.nats, 0.75 * std::log(2.0), 0.05);
}

// Z = X1 xor X2: nothing about either, everything about whether they differ.
TEST(Audit, JointLeakageOfAttributesThatAreHiddenOneByOne) {
  const SeededRandom root(4);
  const Symbols a = bits(5000, root.fork("a"));
  const Symbols b = bits(5000, root.fork("b"));
  Symbols z;
  for (std::size_t i = 0; i < a.size(); ++i) z.push_back(a[i] ^ b[i]);
  AuditInput input;
  input.released.columns.push_back(column_of_codes("z", z, 2));
  input.sensitive = {column_of_codes("a", a, 2), column_of_codes("b", b, 2)};
  const AuditReport report = audit(input, {.quick = true});
  EXPECT_LT(report.attributes[0].leakage.nats, 0.01);
  EXPECT_LT(report.attributes[1].leakage.nats, 0.01);
  ASSERT_TRUE(report.joint);
  EXPECT_NEAR(report.joint->leakage.nats, std::log(2.0), 0.01);
  EXPECT_NEAR(report.joint->entropy, 2 * std::log(2.0), 0.01);
}

TEST(Audit, SideInformationIsCountedApart) {
  AuditInput input = channel(6000, 0.3, 5);
  input.side.push_back(column_of_codes("known", flipped(input.sensitive[0].code, 0.2, SeededRandom(50)), 2));
  const AuditReport report = audit(input, {.quick = true});
  const AttributeAudit& a = report.attributes.at(0);
  ASSERT_TRUE(a.side);
  EXPECT_NEAR(a.side->side.nats, channel_information(0.2), 0.06);
  EXPECT_GT(a.side->both.nats, a.side->side.nats);
  EXPECT_GT(a.side->additional.interval95.low, 0);
  // U and Z are independent given X, so the sum is a bound; both sides are measured to about 0.03.
  EXPECT_LT(a.side->both.nats, a.side->bound + 0.05);
}

TEST(Audit, UndeclaredColumnsAreScanned) {
  AuditInput input = channel(4000, 0.5, 6);
  input.undeclared.push_back(column_of_codes("copied", input.released.columns[0].code, 2));
  input.undeclared.push_back(column_of_codes("unrelated", bits(4000, SeededRandom(60)), 2));
  std::vector<std::string> id;
  for (int i = 0; i < 4000; ++i) id.push_back(std::to_string(i) + "p");
  input.undeclared.push_back(column_of_cells("id", id, std::vector<std::string>{""}));
  const AuditReport report = audit(input, {.quick = true});
  ASSERT_EQ(report.undeclared.size(), 2U);
  EXPECT_EQ(report.undeclared[0].name, "copied");
  EXPECT_TRUE(report.undeclared[0].given_away);
  EXPECT_FALSE(report.undeclared[1].given_away);
  ASSERT_EQ(report.not_audited.size(), 1U);
  EXPECT_THAT(report.not_audited[0], HasSubstr("id"));
}

// Continuous: X and Z normal with correlation 0.8, I = 0.5108 nats.
TEST(Audit, ContinuousAttribute) {
  const SeededRandom root(7);
  const Vector<double> x = normals(6000, root.fork("x"));
  const Vector<double> z = 0.8 * x + 0.6 * normals(6000, root.fork("z"));
  AuditInput input;
  input.released.columns.push_back(column_of_numbers("z", z));
  input.sensitive.push_back(
      column_of_numbers("x", x.array().exp().matrix()));  // any scale of X leaks the same
  const AuditReport report = audit(input, {.quick = true});
  const AttributeAudit& a = report.attributes.at(0);
  EXPECT_TRUE(a.continuous);
  EXPECT_NEAR(a.leakage.nats, 0.5108, 0.06);  // bins lose about 0.02, standard error 0.015
  ASSERT_TRUE(a.r_squared);
  EXPECT_GT(a.r_squared->value, 0.2);
  bool ksg = false;
  for (const Estimate& e : a.others) {
    if (e.method.find("KSG") != std::string::npos) {
      ksg = true;
      EXPECT_NEAR(e.nats, 0.5108, 0.08);
    }
    if (e.method.find("density") != std::string::npos) {
      EXPECT_NEAR(e.nats, 0.5108, 0.06);
    }
  }
  EXPECT_TRUE(ksg);
}

// 300 persons with 10 rows each and a trait of their own in every row, which tells nothing about a bit that
// was drawn for each person. Attackers that have met a person before know the bit from the trait.
AuditInput persons(std::uint64_t seed) {
  constexpr Index kPersons = 300;
  constexpr Index kRows = 10;
  SeededRandom random(seed);
  Symbols x;
  Symbols name;
  Vector<double> trait(kPersons * kRows);
  for (Index p = 0; p < kPersons; ++p) {
    const auto bit = static_cast<std::int32_t>(random.index(2));
    const double own = random.uniform();
    for (Index r = 0; r < kRows; ++r) {
      x.push_back(bit);
      name.push_back(static_cast<std::int32_t>(p));
      trait[p * kRows + r] = own;
    }
  }
  AuditInput input;
  input.released.columns.push_back(column_of_numbers("trait", trait));
  input.sensitive.push_back(column_of_codes("x", x, 2));
  input.together = column_of_codes("person", name, kPersons);
  return input;
}

TEST(Audit, RowsOfOnePersonStayOnOneSide) {
  AuditInput input = persons(3);
  const AuditOptions options{.quick = true};
  const AuditReport report = audit(input, options);
  EXPECT_EQ(report.together, "person");
  EXPECT_EQ(report.units, 300);
  // A false alarm once in 40; the seed is fixed.
  EXPECT_EQ(report.attributes[0].leakage.interval95->low, 0);
  EXPECT_THAT(to_text(report, InformationUnit::kNats),
              HasSubstr("\"person\" (300 different) were held together"));
  EXPECT_EQ(nlohmann::json::parse(to_json(report))["together"], "person");
  // The planted fault: rows taken apart.
  input.together.reset();
  EXPECT_GT(audit(input, options).attributes[0].leakage.interval95->low, 0.2);
}

TEST(Audit, SplitKeepsUnitsTogetherAndUsesEveryRow) {
  Units unit;
  for (std::int32_t row = 0; row < 1000; ++row) unit.push_back(row % 130);
  const AttackSplit split = make_split(1000, 4, unit);
  std::map<std::int32_t, int> side;
  std::set<std::int32_t> seen;
  const auto look = [&](const std::vector<std::int32_t>& rows, int part) {
    for (const std::int32_t row : rows) {
      EXPECT_TRUE(seen.insert(row).second);
      EXPECT_EQ(side.try_emplace(unit[static_cast<std::size_t>(row)], part).first->second, part);
    }
  };
  look(split.train, 0);
  look(split.selection, 1);
  look(split.test, 2);
  EXPECT_EQ(seen.size(), 1000U);
  EXPECT_NEAR(static_cast<double>(split.train.size()), 500, 8);
  ASSERT_EQ(split.test_unit.size(), split.test.size());
  EXPECT_EQ(split.test_unit[0], unit[static_cast<std::size_t>(split.test[0])]);
}

TEST(Audit, TellsPersonsFromGroups) {
  AuditInput input = persons(3);
  input.groups.push_back(*input.together);
  EXPECT_THAT(message_of(input, ErrorCode::kBadInput), HasSubstr("300 different values, too many groups"));
  input = persons(3);
  input.together = column_of_codes("region", Symbols(3000, 0), 1);
  EXPECT_THAT(message_of(input, ErrorCode::kBadInput), HasSubstr("at least 100 persons"));
}

// Five columns of six levels each have more cells than there are rows: their shares say nothing, and a bound
// that relies on them collapses to 0. What one column gives away must still be seen in all of them together.
TEST(Audit, JointLeakageOfManyCells) {
  constexpr Index kRows = 3000;
  AuditInput input;
  SeededRandom random(11);
  for (int c = 0; c < 5; ++c) {
    Symbols x;
    for (Index i = 0; i < kRows; ++i) x.push_back(static_cast<std::int32_t>(random.index(6)));
    input.sensitive.push_back(column_of_codes(std::string(1, "abcde"[c]), x, 6));
  }
  input.released.columns.push_back(column_of_codes("z", input.sensitive[0].code, 6));
  const AuditReport report = audit(input, {.quick = true});
  ASSERT_TRUE(report.joint);
  EXPECT_EQ(report.joint->leakage.bound, Bound::kEstimate);
  EXPECT_NEAR(report.joint->leakage.nats, std::log(6.0), 0.15);
  // Upper bounds are asked for of all columns as one.
  input.sensitive.resize(2);
  std::int32_t levels = 0;
  input.upper_bounds = [&](const AttackTarget& target) {
    levels = std::max(levels, target.levels);
    return std::vector<Estimate>{{.nats = 2.5, .bound = Bound::kUpper, .method = "known"}};
  };
  const AuditReport two = audit(input, {.quick = true});
  EXPECT_EQ(levels, 36);
  ASSERT_EQ(two.joint->upper.size(), 2U);
  EXPECT_EQ(two.joint->upper[0].method, "known");
  EXPECT_NEAR(two.joint->upper[1].nats, std::log(36.0), 0.02);
  EXPECT_EQ(nlohmann::json::parse(to_json(two))["joint"]["upper_bounds"].size(), 2U);
}

TEST(Audit, LimitIsAboutTheUpperEndOfTheInterval) {
  const AuditReport report = audit(channel(3000, 0.2, 8), {.quick = true, .limit = 0.05});
  EXPECT_FALSE(report.within_limit());
  EXPECT_THAT(report.over_limit(), ::testing::ElementsAre("x"));
  AuditReport moved = report;
  moved.limit = report.attributes[0].upper_end + 1e-9;
  EXPECT_TRUE(moved.within_limit());
  // An audit that would have missed a leak of this size cannot vouch for the limit.
  moved.limit = report.attributes[0].power->nats - 1e-9;
  EXPECT_FALSE(moved.within_limit());
  moved.limit = report.attributes[0].leakage.nats;
  EXPECT_FALSE(moved.within_limit());
  moved.limit = 10;
  moved.attributes[0].verdict = AuditVerdict::kInconclusive;
  EXPECT_FALSE(moved.within_limit());
}

// Each of 700 keys stands for a value of X drawn once: the table must be learned key by key, and 2,000 rows
// are not enough to have met them all.
TEST(Audit, InconclusiveWhileTheLearningCurveRises) {
  SeededRandom random(9);
  constexpr std::int32_t kKeys = 700;
  const Symbols meaning = bits(kKeys, SeededRandom(90));
  Symbols key;
  Symbols x;
  for (int i = 0; i < 4000; ++i) {
    key.push_back(static_cast<std::int32_t>(random.index(kKeys)));
    x.push_back(meaning[static_cast<std::size_t>(key.back())]);
  }
  AuditInput input;
  input.released.columns.push_back(column_of_codes("key", key, kKeys));
  input.sensitive.push_back(column_of_codes("x", x, 2));
  const AuditReport report =
      audit(input, {.suite = SuiteOptions{.attackers = {AttackerKind::kLookup, AttackerKind::kPrior}}});
  EXPECT_EQ(report.attributes.at(0).verdict, AuditVerdict::kInconclusive);
  EXPECT_THAT(to_text(report, InformationUnit::kNats), HasSubstr("INCONCLUSIVE"));
}

TEST(Audit, RefusesWhatItCannotJudge) {
  EXPECT_THAT(message_of(channel(100, 0.2, 1), ErrorCode::kBadInput), HasSubstr("at least 300 are needed"));
  AuditInput uneven = channel(600, 0.2, 1);
  uneven.sensitive[0] = column_of_codes("x", bits(599, SeededRandom(1)), 2);
  EXPECT_THAT(message_of(uneven, ErrorCode::kBadInput), HasSubstr("\"x\" has 599 rows, the release has 600"));
  AuditInput constant = channel(600, 0.2, 1);
  constant.sensitive[0] = column_of_codes("x", Symbols(600, 1), 2);
  EXPECT_THAT(message_of(constant, ErrorCode::kBadInput), HasSubstr("\"x\" is constant"));
  AuditInput nothing;
  nothing.sensitive = constant.sensitive;
  EXPECT_THAT(message_of(nothing, ErrorCode::kBadInput), HasSubstr("nothing is released"));
  AuditInput nobody = channel(600, 0.2, 1);
  nobody.sensitive.clear();
  EXPECT_THAT(message_of(nobody, ErrorCode::kUsage), HasSubstr("no sensitive column"));
  AuditInput many = channel(600, 0.2, 1);
  Symbols levels;
  for (int i = 0; i < 600; ++i) levels.push_back(i % 50);
  many.sensitive[0] = column_of_codes("x", levels, 50);
  EXPECT_THAT(message_of(many, ErrorCode::kBadInput), HasSubstr("at least 1500 are needed"));
}

TEST(Audit, OtherMeasuresOfAKnownChannel) {
  // x is released as it is with probability 0.8: whoever sees the release names it in 80 % of the rows.
  AuditOptions options{.quick = true, .alpha = {2, 8}};
  options.gain = GainTable{{"1", "0"}, (Matrix<double>(2, 2) << 0, 1, 3, 0).finished()};
  const AuditReport report = audit(channel(6000, 0.2, 12), options);
  std::map<std::string, Estimate> found;
  for (const LeakageMeasure& m : report.attributes[0].measures) found[m.name] = m.estimate;
  const auto holds = [&](const std::string& name, double truth) {
    ASSERT_TRUE(found.contains(name)) << name;
    EXPECT_LE(found[name].interval95->low, truth) << name;
    EXPECT_GE(found[name].interval95->high, truth) << name;
  };
  holds("bayes-vulnerability", 0.8);
  holds("additive-leakage", 0.3);
  holds("bayes-security", 0.4);
  holds("min-entropy-leakage", std::log(1.6));
  holds("alpha-leakage-2", std::log(2 * (0.8 * 0.8 + 0.2 * 0.2)));
  holds("gain-vulnerability", 0.5 * 0.8 * 3 + 0.5 * 0.8);
  EXPECT_EQ(found["bayes-security"].bound, Bound::kUpper);
  EXPECT_EQ(found["bayes-vulnerability"].bound, Bound::kLower);
}

TEST(Audit, GainsThatDoNotFitAreRefused) {
  AuditOptions options{.quick = true};
  options.gain = GainTable{{"0"}, Matrix<double>::Constant(1, 1, 1)};
  EXPECT_THROW(audit(channel(1000, 0.2, 12), options), Error);
}

TEST(Audit, ControlCharactersAreShownEscaped) {
  AuditInput input = channel(1000, 0.4, 10);
  input.sensitive[0].name = "x\x1b[2J";
  const std::string text = to_text(audit(input, {.quick = true}), InformationUnit::kNats);
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, HasSubstr("\\x1B[2J"));
}

TEST(Audit, OptionsReportEveryProblem) {
  const AuditOptions bad{.training_releases = 0,
                         .repeats = {1},
                         .limit = -1,
                         .least_group_rows = 1,
                         .alpha = {1},
                         .threads = -1};
  EXPECT_EQ(bad.check().size(), 6U);
  EXPECT_TRUE(AuditOptions{}.check().empty());
}

TEST(Audit, WordsClaimOnlyWhatWasFound) {
  const AuditReport report = audit(channel(3000, 0.3, 10), {.quick = true, .limit = 0.5});
  const std::string text = to_text(report, InformationUnit::kBits);
  EXPECT_THAT(text, HasSubstr("is at least"));
  EXPECT_THAT(text, HasSubstr("95 % interval"));
  EXPECT_THAT(text, HasSubstr("bits"));
  EXPECT_THAT(text, HasSubstr("docs/attack_model.md"));
  for (const char* word : {"anonym", "safe", "secure", "private"}) EXPECT_THAT(text, Not(HasSubstr(word)));
  AttributeAudit attribute = report.attributes[0];
  EXPECT_THAT(headline(attribute, InformationUnit::kNats), HasSubstr("leakage of \"x\" is at least"));
  // Nothing seen is not nothing there: from which size on it would have been seen is said with it.
  attribute.leakage.interval95->low = 0;
  EXPECT_THAT(
      headline(attribute, InformationUnit::kNats),
      ::testing::AllOf(HasSubstr("nothing was seen of \"x\""), HasSubstr("are not seen by this audit")));
}

TEST(Audit, JsonHoldsTheReport) {
  const AuditReport report = audit(channel(3000, 0.2, 11), {.quick = true, .limit = 0.05});
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["format"], "ppan-audit");
  EXPECT_EQ(json["rows"], 3000);
  const auto& a = json["attributes"][0];
  EXPECT_EQ(a["name"], "x");
  EXPECT_EQ(a["verdict"], "leak found");
  EXPECT_DOUBLE_EQ(a["leakage"]["nats"], report.attributes[0].leakage.nats);
  EXPECT_EQ(a["leakage"]["bound"], to_string(Bound::kLower));
  EXPECT_EQ(a["attackers"].size(), report.attributes[0].attackers.size());
  EXPECT_EQ(json["within_limit"], false);
}

}  // namespace
}  // namespace ppan
