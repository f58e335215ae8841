#include "ppan/trade_off/pick.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using ::testing::HasSubstr;

CurveRow row(const std::string& series, double distortion, double leakage, const std::string& model) {
  CurveRow out;
  out.series = series;
  out.distortion = distortion;
  out.leakage = leakage;
  out.set("model", model);
  out.set(curve_column::kLeakageHigh, leakage + 0.1);
  return out;
}

// A straight line from (0, 1) to (1, 0), a trained point below it, one above it, and one without a model.
CurveTable curve() {
  CurveTable out;
  out.more_columns = {"model", std::string(curve_column::kLeakageHigh)};
  out.rows = {row("ppan/table", 0.5, 0.2, "point-01.ppan"), row("ppan/table", 0.6, 0.9, "point-02.ppan"),
              row("reference/unchanged", 0, 1, "unchanged.ppan"),
              row("reference/constant", 1, -0.01, "constant.ppan"), row("reference/noise", 0.1, 0.1, "")};
  return out;
}

template <typename Work>
std::string refusal(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return std::string(error.what()) + "; " + error.fix();
  }
  return "nothing was refused";
}

TEST(Pick, OnlyRowsWithAModelAreCandidates) {
  const Candidates found = candidates_of(curve(), {.found = true}, "curve");
  EXPECT_THAT(found.files,
              ::testing::ElementsAre("point-01.ppan", "point-02.ppan", "unchanged.ppan", "constant.ppan"));
  EXPECT_THAT(found.numbers, ::testing::ElementsAre(1, 2, 0, 0));
  EXPECT_EQ(found.points.back().leakage, 0) << "nothing leaks less than nothing";
}

TEST(Pick, IndependentRowsInsteadOfOneRowForEverybody) {
  CurveTable both = curve();
  both.rows.push_back(row("reference/independent", 1.5, 0, "independent.ppan"));
  EXPECT_THAT(candidates_of(both, {.found = true}, "curve").files,
              ::testing::ElementsAre("point-01.ppan", "point-02.ppan", "unchanged.ppan", "independent.ppan"));
}

TEST(Pick, CautionTakesTheUpperEnd) {
  EXPECT_DOUBLE_EQ(candidates_of(curve(), {}, "curve").points.front().leakage, 0.3);
}

// What is known of rows that look at nobody does not depend on what attackers happened to find in them.
TEST(Pick, AKnownBoundCountsBeforeTheAudit) {
  CurveTable both = curve();
  CurveRow independent = row("reference/independent", 1.5, 0.02, "independent.ppan");
  independent.set(curve_column::kInconclusive, "yes");
  independent.set(curve_column::kUpperEnd, 0.01);
  independent.set(curve_column::kPower, 0.5);
  both.rows.push_back(independent);
  EXPECT_THAT(candidates_of(both, {}, "curve").left_out, ::testing::SizeIs(1)) << "nothing is known yet";
  both.rows.back().set(curve_column::kUpperBound, 0.01);
  const Candidates from = candidates_of(both, {}, "curve");
  EXPECT_THAT(from.left_out, ::testing::IsEmpty());
  EXPECT_EQ(from.files.back(), "independent.ppan");
  EXPECT_DOUBLE_EQ(from.points.back().leakage, 0.01);
  EXPECT_FALSE(from.powers.back());
  // Not by what the audit could have missed.
  both.rows.back().set(curve_column::kUpperEnd, 0.3);
  EXPECT_DOUBLE_EQ(candidates_of(both, {}, "curve").points.back().leakage, 0.01);
  both.rows.back().set(curve_column::kUpperBoundHigh, 0.02);
  EXPECT_DOUBLE_EQ(candidates_of(both, {}, "curve").points.back().leakage, 0.02)
      << "the bound has an interval";
  both.rows.back().set(curve_column::kUpperBoundHigh, 0.01);
  both.rows.back().set(curve_column::kUpperEnd, 0.01);
  // A bound above what the audit allows for says nothing.
  both.rows.back().set(curve_column::kUpperBound, 0.7);
  EXPECT_THAT(candidates_of(both, {}, "curve").left_out, ::testing::SizeIs(1));
  // The entropy of the secret, which nothing exceeds, is what a reference counts with; for a point of the
  // curve it says less than an audit that worked would have said.
  both.rows.back().set(curve_column::kUpperEnd, 0.7);
  EXPECT_DOUBLE_EQ(candidates_of(both, {}, "curve").points.back().leakage, 0.7);
  both.rows.back().series = "ppan/table";
  EXPECT_THAT(candidates_of(both, {}, "curve").left_out, ::testing::SizeIs(1));
}

TEST(Pick, AnInconclusivePointIsLeftOutUnlessAccepted) {
  CurveTable both = curve();
  CurveRow& point = both.rows.front();
  point.set(curve_column::kInconclusive, "yes");
  point.set(curve_column::kUpperEnd, 0.4);
  point.set(curve_column::kForecast, 0.25);
  EXPECT_THAT(candidates_of(both, {.leakage = 0.5}, "curve").left_out, ::testing::ElementsAre("point 1"));
  const Choice accepted{.leakage = 0.5, .accept_inconclusive = true};
  const Candidates from = candidates_of(both, accepted, "curve");
  EXPECT_THAT(from.left_out, ::testing::IsEmpty());
  EXPECT_DOUBLE_EQ(from.points.front().leakage, 0.4);
  const Choice found{.leakage = 0.5, .found = true, .accept_inconclusive = true};
  EXPECT_DOUBLE_EQ(candidates_of(both, found, "curve").points.front().leakage, 0.25)
      << "0.2 were found, and more rows would find more";
}

TEST(Pick, AModelOutsideTheRunIsRefused) {
  CurveTable bad = curve();
  bad.rows.front().set("model", "../other.ppan");
  EXPECT_THAT(refusal([&] { (void)candidates_of(bad, {.found = true}, "curve"); }),
              HasSubstr("not a file of the run"));
}

TEST(Pick, ByNumberIsThatPointEvenIfAnotherIsBetter) {
  const HullMixture found = choose(candidates_of(curve(), {.found = true}, "curve"), {.point = 2});
  EXPECT_EQ(found.first, 1U);
  EXPECT_EQ(found.second_weight, 0);
}

TEST(Pick, ByLeakageAndByBudgetIsOnTheCompletedCurve) {
  const Candidates from = candidates_of(curve(), {.found = true}, "curve");
  const HullMixture leakage = choose(from, {.leakage = 0.6});
  EXPECT_NEAR(leakage.point.leakage, 0.6, 1e-12);
  EXPECT_NEAR(leakage.point.distortion, 0.25, 1e-12);  // half-way from unchanged to point 1
  EXPECT_NEAR(leakage.second_weight, 0.5, 1e-12);
  const HullMixture budget = choose(from, {.budget = 0.5});
  EXPECT_EQ(from.files[budget.first], "point-01.ppan");
}

CurveRow with_task(CurveRow row, double loss) {
  row.set(curve_column::kTaskLoss, loss);
  row.set(curve_column::kTaskLow, 0.9 - loss - 0.0196);
  row.set(curve_column::kTaskHigh, 0.9 - loss + 0.0196);
  return row;
}

// Of those that leak little enough, the one that changes least and the one that loses nothing of the task.
// One standard error of its score is 0.01 here.
TEST(Pick, ATaskComesFirstAsFarAsItCanBeTold) {
  const auto curve_with = [](double lost) {
    CurveTable out = curve();
    out.rows = {with_task(row("ppan/table", 0.2, 0.1, "point-01.ppan"), lost),
                with_task(row("ppan/redrawn", 0.4, 0.1, "redrawn-01.ppan"), 0),
                with_task(row("reference/unchanged", 0, 1, "unchanged.ppan"), 0),
                with_task(row("reference/independent", 1, 0, "independent.ppan"), 0.4)};
    return candidates_of(out, {.found = true}, "curve");
  };
  const auto picked = [](const Candidates& from, const Choice& choice) {
    const HullMixture found = choose(from, choice);
    return from.files[found.second];
  };
  EXPECT_EQ(picked(curve_with(0.008), {.leakage = 0.1}), "point-01.ppan");
  EXPECT_EQ(picked(curve_with(0.03), {.leakage = 0.1}), "redrawn-01.ppan");
  EXPECT_EQ(picked(curve_with(0.03), {.leakage = 0.1, .least_distortion = true}), "point-01.ppan");
  // Between unchanged and the redrawn column: both lose nothing, and the coin keeps to the limit.
  const Candidates from = curve_with(0.03);
  const HullMixture coin = choose(from, {.leakage = 0.55});
  EXPECT_EQ(from.files[coin.first], "unchanged.ppan");
  EXPECT_NEAR(coin.point.leakage, 0.55, 1e-12);
  EXPECT_NEAR(coin.second_weight, 0.5, 1e-12);
  EXPECT_LE(task_loss_of(from, coin).value(), 0.016);
  // Below what any point leaks, a coin with independent rows; its loss is the mean.
  const HullMixture little = choose(from, {.leakage = 0.05});
  EXPECT_NEAR(task_loss_of(from, little).value(), 0.2, 1e-12);
  EXPECT_EQ(picked(from, {.leakage = 0}), "independent.ppan");
}

TEST(Pick, SaysWhatIsNearestWhenNothingServes) {
  Candidates from = candidates_of(curve(), {.found = true}, "curve");
  from.points.pop_back();
  from.files.pop_back();
  from.task_losses.pop_back();
  from.task_errors.pop_back();
  from.numbers.pop_back();
  EXPECT_THAT(refusal([&] { (void)choose(from, {.leakage = 0.1}); }), HasSubstr("the least is 0.2"));
  EXPECT_THAT(refusal([&] { (void)choose(from, {.point = 7}); }), HasSubstr("the last one is 2"));
}

// Only what is released as it is keeps rows that look at nobody from telling nothing.
TEST(Pick, SaysWhatIsReleasedAsItIsTells) {
  CurveTable kept = curve();
  kept.rows.push_back(row("reference/independent", 1.5, 0.15, "independent.ppan"));
  const Candidates found = candidates_of(kept, {.found = true}, "curve");
  EXPECT_THAT(refusal([&] { (void)choose(found, {.leakage = 0.1}); }),
              HasSubstr("unchanged reveal 0.15 nats on their own"));
  const Candidates judged = candidates_of(kept, {}, "curve");
  EXPECT_THAT(refusal([&] { (void)choose(judged, {.leakage = 0.2}); }),
              HasSubstr("unchanged may reveal 0.25 nats on their own"));
  EXPECT_NO_THROW((void)choose(judged, {.leakage = 0.26}));
}

TEST(Pick, ExactlyOneWayToChoose) {
  const Candidates from = candidates_of(curve(), {.found = true}, "curve");
  EXPECT_THAT(refusal([&] { (void)choose(from, {}); }), HasSubstr("exactly one"));
  EXPECT_THAT(refusal([&] { (void)choose(from, {.leakage = 0.1, .point = 1}); }), HasSubstr("exactly one"));
  EXPECT_THAT(refusal([&] { (void)choose(from, {.budget = -1.0}); }), HasSubstr("budget"));
}

TEST(Pick, ADirectoryWithoutACurveIsRefused) {
  EXPECT_THAT(refusal([] { (void)candidates_of(std::filesystem::path("absent"), Choice{.found = true}); }),
              HasSubstr("no curve.csv"));
}

}  // namespace
}  // namespace ppan
