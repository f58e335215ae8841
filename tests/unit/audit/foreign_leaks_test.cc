// Leaks of bench/audit/foreign_leaks.py that audits once called harmless, each beside a twin without the
// leak.

#include <array>

#include "planted_bit.h"
#include "ppan/audit/least_likely_match.h"
#include "ppan/audit/text_words.h"
#include "ppan/audit/unaligned_audit.h"
#include "ppan/audit/written_date.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

std::vector<AuditColumn> days(const Symbols& said, SeededRandom& random, const char* form) {
  std::vector<std::string> cells;
  for (const std::int32_t bit : said) {
    // 1970-01-05 was a Monday: one group comes from Monday to Wednesday, the other from Thursday to Saturday.
    const std::int64_t day = 4 + 7 * random.index(2500) + 3 * bit + random.index(3);
    std::string iso;
    append_date(day, iso);
    cells.push_back(fmt::format(fmt::runtime(form), fmt::arg("y", iso.substr(0, 4)),
                                fmt::arg("m", iso.substr(5, 2)), fmt::arg("d", iso.substr(8, 2))));
  }
  return {column_of_cells("day", cells, kMarkers)};
}

TEST(ForeignLeaks, DaysOfTheWeekHoweverDatesAreWritten) {
  for (const char* form : {"{d}.{m}.{y}", "{m}/{d}/{y}", "{y}/{m}/{d}"}) {
    SCOPED_TRACE(form);
    expect_found_and_twin_clean(
        [&](const Symbols& said, SeededRandom& random) { return days(said, random, form); }, 51);
  }
}

TEST(ForeignLeaks, WrittenDates) {
  const auto day = written_date("31.12.2023", DateOrder::kDayFirst);
  ASSERT_TRUE(day);
  EXPECT_EQ(day->microseconds, *parse_date("2023-12-31") * kMicrosecondsPerDay);
  EXPECT_FALSE(day->time);
  const auto time = written_date(" 2/1/99 07:30 ", DateOrder::kMonthFirst);
  ASSERT_TRUE(time);
  EXPECT_EQ(time->microseconds, *parse_timestamp("1999-02-01 07:30:00"));
  EXPECT_TRUE(time->time);
  for (const char* text :
       {"", "31.12", "31.12.", "31.12-2023", "31.13.2023", "1.2.3.4", "12.5", "1.2.20233", "99999999999.1.2"})
    EXPECT_FALSE(written_date(text, DateOrder::kDayFirst)) << text;
}

TEST(ForeignLeaks, Words) {
  EXPECT_EQ(words_of("No pain, no GAIN 42x"), (std::vector<std::string>{"42", "gain", "no", "pain", "x"}));
  EXPECT_TRUE(words_of(" ;,").empty());
}

// Notes of twelve words out of fifty, and words of their own among them.
std::vector<AuditColumn> notes(SeededRandom& random, const std::function<std::string(std::size_t)>& own) {
  std::vector<std::string> cells;
  for (Index i = 0; i < kRows; ++i) {
    std::string text;
    const auto place = static_cast<int>(random.index(12));
    for (int w = 0; w < 12; ++w) {
      if (w == place) text += own(static_cast<std::size_t>(i));
      text += fmt::format("w{} ", static_cast<char>('a' + random.index(25)));
    }
    cells.push_back(text);
  }
  return {column_of_cells("note", cells, kMarkers)};
}

TEST(ForeignLeaks, AWordAnywhereInAText) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        return notes(random, [&](std::size_t i) { return said[i] == 1 ? "insulin " : ""; });
      },
      52);
}

TEST(ForeignLeaks, TwoWordsTogether) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        return notes(random, [&](std::size_t i) {
          const auto first = static_cast<std::int32_t>(random.index(2));
          return fmt::format("{}{}", first == 1 ? "fever " : "", (first ^ said[i]) == 1 ? "north " : "");
        });
      },
      53);
}

TEST(ForeignLeaks, RowsPutTogetherByTurns) {
  const auto found = [](bool leaks) {
    SeededRandom random(54);
    AuditInput input;
    Symbols x;
    for (Index i = 0; i < kRows; ++i) {
      const std::int32_t turn = i % 4 < 2 ? 1 : 0;
      x.push_back(random.uniform() < (leaks ? 0.85 : 0.5) ? turn : 1 - turn);
    }
    input.released.columns = {ages(random)};
    input.sensitive = {column_of_codes("secret", x, 2)};
    return audit(input, {.quick = true, .measure_power = false}).leakage().nats;
  };
  EXPECT_GT(found(true), 0.8 * kPlanted);
  EXPECT_LT(found(false), 0.02);
}

// The signs of two of a hundred numbers.
TEST(ForeignLeaks, TwoColumnsOfAWideTable) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        constexpr Index kColumns = 100;
        Matrix<double> value(kRows, kColumns);
        fill_normal(random, value);
        std::vector<AuditColumn> columns;
        for (Index i = 0; i < kRows; ++i) {
          const double sign = said[static_cast<std::size_t>(i)] == 1 ? 1 : -1;
          value(i, 77) = std::copysign(value(i, 77), sign * value(i, 31));
        }
        for (Index c = 0; c < kColumns; ++c) {
          const Vector<double> rounded = (value.col(c).array() * 100).round() / 100;
          columns.push_back(column_of_numbers(fmt::format("c{}", c), rounded));
        }
        return columns;
      },
      55);
}

// A bit enciphered by one that attackers know: nothing by itself, 0.270 nats to them. A limit of half of it
// passed.
TEST(ForeignLeaks, WhatTheReleaseAddsToSideColumnsIsHeldAgainstTheLimit) {
  for (const bool leaks : {true, false}) {
    SeededRandom random(56);
    const Bits bits(random, leaks);
    AuditInput input;
    Symbols key;
    Symbols mark;
    for (const std::int32_t bit : bits.said) {
      key.push_back(static_cast<std::int32_t>(random.index(2)));
      mark.push_back(bit ^ key.back());
    }
    input.released.columns = {column_of_codes("mark", mark, 2), ages(random)};
    input.sensitive = {column_of_codes("secret", bits.x, 2)};
    input.side = {column_of_codes("key", key, 2)};
    const AuditReport report = audit(input, {.quick = true, .limit = 0.5 * kPlanted});
    const AttributeAudit& a = report.attributes.front();
    EXPECT_EQ(report.within_limit(), !leaks);
    EXPECT_EQ(a.verdict, leaks ? AuditVerdict::kLeakFound : AuditVerdict::kNothingFound);
    EXPECT_GT(a.upper_end, leaks ? kPlanted : 0);
  }
}

// 0.5 log(1 + 10^4) = 4.61 nats: more than 20 bins hold.
TEST(ForeignLeaks, ANumberGivenAwayExactlyIsMoreThanItsBins) {
  SeededRandom random(57);
  Matrix<double> normal(1000, 2);
  fill_normal(random, normal);
  AuditInput input;
  input.sensitive = {column_of_numbers("secret", normal.col(0))};
  const Vector<double> close = normal.col(0) + 0.01 * normal.col(1);
  input.released.columns = {column_of_numbers("score", close)};
  const AuditReport report = audit(input, {.quick = true, .measure_power = false});
  EXPECT_GT(report.upper_end(), 0.5 * std::log(1 + 1e4));
}

// Pay moved by up to 2 of 90,000 and age by up to 2 of 70: by chance 0.2 other rows are as near in pay alone
// and 280 in age alone, so that the right row wins unless another is near in both, in fewer than 2 % of
// 4,000. Where ties are forgotten, an age that agrees outweighs everything and hardly one match in ten is
// right.
TEST(ForeignLeaks, MovedRowsAreMatchedByWhatIsLeastLikelyByChance) {
  constexpr Index kPeople = 4000;
  SeededRandom random(59);
  Vector<double> age(2 * kPeople);
  Vector<double> pay(2 * kPeople);
  for (Index i = 0; i < kPeople; ++i) {
    age[i] = static_cast<double>(18 + random.index(70));
    pay[i] = static_cast<double>(10'000 + random.index(90'000));
    age[kPeople + i] = age[i] + static_cast<double>(random.index(5) - 2);
    pay[kPeople + i] = pay[i] + static_cast<double>(random.index(5) - 2);
  }
  const AuditTable both{{column_of_numbers("age", age), column_of_numbers("pay", pay)}};
  const LikelyMatch match = least_likely_match(both, kPeople, kPeople);
  int right = 0;
  for (std::int32_t i = 0; i < kPeople; ++i) right += match.row[static_cast<std::size_t>(i)] == i ? 1 : 0;
  EXPECT_GT(right, kPeople * 9 / 10);
}

// A synthetic table of which 40 % are rows of people: 0.4 log 2 = 0.277 nats to whoever knows age, zip and
// job of one.
TEST(ForeignLeaks, CopiesOfPeopleInSyntheticTables) {
  for (const double copies : {0.4, 0.0}) {
    SeededRandom random(58);
    std::vector<std::vector<std::string>> person(4);
    for (Index i = 0; i < kRows; ++i) {
      person[0].push_back(fmt::format("{}", 18 + random.index(70)));
      person[1].push_back(fmt::format("{}", 10'000 + random.index(90'000)));
      person[2].push_back(fmt::format("job {}", random.index(30)));
      person[3].push_back(random.index(2) == 1 ? "yes" : "no");
    }
    std::vector<std::vector<std::string>> drawn(4);
    for (Index i = 0; i < kRows; ++i) {
      const bool copy = random.uniform() < copies;
      const auto whom = static_cast<std::size_t>(random.index(kRows));
      for (std::size_t c = 0; c < 4; ++c)
        drawn[c].push_back(person[c][copy ? whom : static_cast<std::size_t>(random.index(kRows))]);
    }
    UnalignedInput input;
    const std::array<const char*, 4> name{"age", "zip", "job", "ill"};
    for (std::size_t c = 0; c < 4; ++c) {
      input.original.columns.push_back(column_of_cells(name[c], person[c], kMarkers));
      input.released.columns.push_back(column_of_cells(name[c], drawn[c], kMarkers));
    }
    input.sensitive = {"ill"};
    const UnalignedReport report = audit_unaligned(input, {.quick = true, .limit = 0.1});
    const UnalignedFinding& found = report.attributes.front();
    // Of 3,000 people 1 - exp(-0.4) = 33 % are copied at least once.
    const double truth = (1 - std::exp(-copies)) * std::log(2.0);
    EXPECT_EQ(report.over_limit().empty(), copies == 0) << found.upper_end;
    EXPECT_GT(found.upper_end, truth);
    EXPECT_GT(found.nearest.value, 0.8 * truth - 0.02);
  }
}

}  // namespace
}  // namespace ppan
