// Leaks in places that no learner of single columns comes by: what is planted is known, and must be found.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ppan/audit/audit.h"
#include "ppan/core/random.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr Index kRows = 3000;
const std::vector<std::string> kMarkers{"", "NA"};

// A bit, said rightly with probability 0.85 somewhere in the row, among columns that know nothing of it.
struct Hidden {
  Symbols x;
  Symbols said;
  SeededRandom random;
  AuditInput input;

  explicit Hidden(std::uint64_t seed) : random(seed) {
    std::vector<std::string> age;
    std::vector<std::string> city;
    for (Index i = 0; i < kRows; ++i) {
      x.push_back(static_cast<std::int32_t>(random.index(2)));
      said.push_back(random.uniform() < 0.85 ? x.back() : 1 - x.back());
      age.push_back(fmt::format("{}", 18 + random.index(70)));
      city.push_back(fmt::format("town {}", random.index(7)));
    }
    add("age", age);
    add("city", city);
    input.sensitive.push_back(column_of_codes("secret", x, 2));
  }
  void add(const std::string& name, const std::vector<std::string>& cells) {
    input.released.columns.push_back(column_of_cells(name, cells, kMarkers));
  }
  std::int64_t pick(std::int64_t count) { return static_cast<std::int64_t>(random.index(count)); }
};

const double kPlanted = std::log(2.0) + 0.85 * std::log(0.85) + 0.15 * std::log(0.15);  // 0.270 nats

// Seeds are fixed. What is found lies within 5 standard errors (0.02 each) of what was planted; without the
// part that is tested it is 0.
void expect_found(const Hidden& hidden, const std::string& column, const std::string& aspect) {
  const AuditReport report = audit(hidden.input, {.quick = true, .measure_power = false});
  const AttributeAudit& a = report.attributes.front();
  EXPECT_GT(a.leakage.nats, 0.8 * kPlanted - 0.03) << a.winner;
  EXPECT_LT(a.leakage.nats, kPlanted + 0.1);
  // Exactly one attacker is the chosen one, a combination of several included, and what it found is stated.
  const auto chosen = [](const AttackerScore& score) { return score.chosen; };
  ASSERT_EQ(std::count_if(a.attackers.begin(), a.attackers.end(), chosen), 1);
  const AttackerScore& strongest = *std::find_if(a.attackers.begin(), a.attackers.end(), chosen);
  EXPECT_EQ(strongest.leakage.nats, a.leakage.nats) << strongest.name;
  EXPECT_TRUE(a.winner.starts_with(strongest.name)) << a.winner;
  bool named = false;
  std::string names;
  for (const LeakSource& source : a.sources) {
    named = named || source.where == FeatureSource{column, aspect};
    names += source.where.column + " (" + source.where.aspect + ") ";
  }
  EXPECT_TRUE(named) << names;
}

TEST(HiddenPlaces, ThreeColumnsOfWhichNoTwoTell) {
  Hidden hidden(31);
  std::vector<std::string> a;
  std::vector<std::string> b;
  std::vector<std::string> c;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t first = hidden.pick(2);
    const std::int64_t second = hidden.pick(2);
    a.emplace_back(first == 0 ? "low" : "high");
    b.emplace_back(second == 0 ? "no" : "yes");
    c.emplace_back(((first + second + said) & 1) == 0 ? "left" : "right");
  }
  hidden.add("a", a);
  hidden.add("b", b);
  hidden.add("c", c);
  // Among columns that vary much and say nothing.
  for (const char* name : {"d", "e", "f", "g"}) {
    std::vector<std::string> cells;
    for (Index i = 0; i < kRows; ++i) cells.push_back(fmt::format("{:.3f}", hidden.random.uniform()));
    hidden.add(name, cells);
  }
  expect_found(hidden, "a and b and c", "together");
}

TEST(HiddenPlaces, OddNumbersTogetherWithACategory) {
  Hidden hidden(32);
  std::vector<std::string> sex;
  std::vector<std::string> amount;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t own = hidden.pick(2);
    sex.emplace_back(own == 0 ? "f" : "m");
    amount.push_back(fmt::format("{}", 2 * (500 + hidden.pick(4000)) + ((said + own) & 1)));
  }
  hidden.add("sex", sex);
  hidden.add("amount", amount);
  expect_found(hidden, "sex and amount", "together");
}

TEST(HiddenPlaces, ALetterInTextsThatAreAllDifferent) {
  Hidden hidden(33);
  std::vector<std::string> id;
  for (const std::int32_t said : hidden.said)
    id.push_back(
        fmt::format("R{:06}{}{:02}", hidden.pick(1'000'000), said == 0 ? 'K' : 'L', hidden.pick(100)));
  hidden.add("id", id);
  expect_found(hidden, "id", "text");
}

TEST(HiddenPlaces, TheDayOfTheWeek) {
  Hidden hidden(34);
  std::vector<std::string> day;
  for (const std::int32_t said : hidden.said) {
    std::string text;
    // 2021-01-04 was a Monday.
    append_date(18'631 + 7 * hidden.pick(150) + (said == 0 ? hidden.pick(5) : 5 + hidden.pick(2)), text);
    day.push_back(text);
  }
  hidden.add("day", day);
  expect_found(hidden, "day", "calendar");
}

TEST(HiddenPlaces, TheHourOfADay) {
  Hidden hidden(35);
  std::vector<std::string> at;
  for (const std::int32_t said : hidden.said) {
    std::string text;
    const std::int64_t second = (said == 0 ? 8 : 20) * 3600 + hidden.pick(4 * 3600);
    append_timestamp((18'631 + hidden.pick(700)) * kMicrosecondsPerDay + second * 1'000'000, text);
    at.push_back(text);
  }
  hidden.add("at", at);
  expect_found(hidden, "at", "calendar");
}

TEST(HiddenPlaces, ACellThatIsTheOneOfTheRowBefore) {
  Hidden hidden(49);
  std::vector<std::string> ward;
  std::int64_t last = 0;
  for (const std::int32_t said : hidden.said) {
    last = (last + (said == 1 ? 0 : 1 + hidden.pick(7))) % 8;
    ward.push_back(fmt::format("ward {}", last));
  }
  hidden.add("ward", ward);
  expect_found(hidden, "ward", "position");
}

TEST(HiddenPlaces, TwoColumnsThatHaveTheSame) {
  Hidden hidden(36);
  std::vector<std::string> home;
  std::vector<std::string> work;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t own = hidden.pick(400);
    home.push_back(fmt::format("place {}", own));
    work.push_back(fmt::format("place {}", said == 1 ? own : (own + 1 + hidden.pick(399)) % 400));
  }
  hidden.add("home", home);
  hidden.add("work", work);
  expect_found(hidden, "home and work", "equality");
}

// Relations: no column and no coarse pair of columns tells anything by itself.

TEST(HiddenPlaces, ANumberThatIsTwelveTimesAnother) {
  Hidden hidden(41);
  std::vector<std::string> monthly;
  std::vector<std::string> yearly;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t own = 1000 + hidden.pick(4000);
    monthly.push_back(fmt::format("{}", own));
    yearly.push_back(fmt::format("{}", 12 * (said == 1 ? own : 1000 + hidden.pick(4000))));
  }
  hidden.add("monthly", monthly);
  hidden.add("yearly", yearly);
  expect_found(hidden, "monthly and yearly", "relation");
}

TEST(HiddenPlaces, HowFarAPlaceIsFromTheMiddle) {
  Hidden hidden(47);
  std::vector<std::string> east;
  std::vector<std::string> north;
  for (const std::int32_t said : hidden.said) {
    // Rings of 40, of which every other one is said.
    const double radius = 80 * static_cast<double>(hidden.pick(6)) + 40 * (said + hidden.random.uniform());
    const double angle = 6.283185 * hidden.random.uniform();
    east.push_back(fmt::format("{:.1f}", 500 + radius * std::cos(angle)));
    north.push_back(fmt::format("{:.1f}", 700 + radius * std::sin(angle)));
  }
  hidden.add("east", east);
  hidden.add("north", north);
  expect_found(hidden, "east and north", "relation");
}

TEST(HiddenPlaces, TheLastDigitOfAProduct) {
  Hidden hidden(48);
  std::vector<std::string> width;
  std::vector<std::string> height;
  for (const std::int32_t said : hidden.said) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    do {
      a = 1 + hidden.pick(999);
      b = 1 + hidden.pick(999);
    } while ((a * b % 10 >= 5) != (said == 1));
    width.push_back(fmt::format("{}", a));
    height.push_back(fmt::format("{}", b));
  }
  hidden.add("width", width);
  hidden.add("height", height);
  expect_found(hidden, "width and height", "relation");
}

TEST(HiddenPlaces, RowsOnALine) {
  Hidden hidden(42);
  std::vector<std::string> a;
  std::vector<std::string> b;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t own = 100 + hidden.pick(2000);
    a.push_back(fmt::format("{}", own));
    b.push_back(fmt::format("{}", 3 * (said == 1 ? own : 100 + hidden.pick(2000)) + 17));
  }
  hidden.add("a", a);
  hidden.add("b", b);
  expect_found(hidden, "a and b", "relation");
}

TEST(HiddenPlaces, WhichOfTwoIsLarger) {
  Hidden hidden(43);
  std::vector<std::string> a;
  std::vector<std::string> b;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t one = hidden.pick(100'000);
    const std::int64_t other = hidden.pick(100'000);
    a.push_back(fmt::format("{}", said == 1 ? std::min(one, other) : std::max(one, other)));
    b.push_back(fmt::format("{}", said == 1 ? std::max(one, other) : std::min(one, other)));
  }
  hidden.add("a", a);
  hidden.add("b", b);
  expect_found(hidden, "a and b", "relation");
}

TEST(HiddenPlaces, TheLastDigitOfASum) {
  for (const bool three : {false, true}) {
    SCOPED_TRACE(three);
    Hidden hidden(44);
    std::vector<std::string> a;
    std::vector<std::string> b;
    std::vector<std::string> c;
    for (const std::int32_t said : hidden.said) {
      const std::int64_t first = 100 + hidden.pick(5000);
      const std::int64_t second = 100 + hidden.pick(5000);
      const std::int64_t sum = 5 * said + hidden.pick(5);
      const std::int64_t last = (sum + 100'000 - first - (three ? second : 0)) % 10;
      a.push_back(fmt::format("{}", first));
      b.push_back(fmt::format("{}", second));
      c.push_back(fmt::format("{}", 10 * (10 + hidden.pick(500)) + last));
    }
    hidden.add("a", a);
    hidden.add("b", b);
    hidden.add("c", c);
    expect_found(hidden, three ? "a and b and c" : "a and c", "relation");
  }
}

TEST(HiddenPlaces, TheRestBySeven) {
  Hidden hidden(45);
  std::vector<std::string> id;
  for (const std::int32_t said : hidden.said)
    id.push_back(fmt::format(
        "{}", 7 * (1000 + hidden.pick(8000)) + (said == 1 ? hidden.pick(3) : 3 + hidden.pick(4))));
  hidden.add("id", id);
  expect_found(hidden, "id", "relation");
}

TEST(HiddenPlaces, TheSumOfTheDigits) {
  Hidden hidden(46);
  std::vector<std::string> code;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t front = 1000 + hidden.pick(9000);
    const std::int64_t sum = front / 1000 + front / 100 % 10 + front / 10 % 10 + front % 10;
    code.push_back(fmt::format("{}{}", front, 2 * hidden.pick(5) + (sum + said) % 2));
  }
  hidden.add("code", code);
  expect_found(hidden, "code", "relation");
}

TEST(HiddenPlaces, APeriodOfANumber) {
  Hidden hidden(47);
  std::vector<std::string> value;
  for (const std::int32_t said : hidden.said)
    value.push_back(fmt::format(
        "{:.2f}", 27 * static_cast<double>(hidden.pick(37)) + 13.5 * (said + hidden.random.uniform())));
  hidden.add("value", value);
  expect_found(hidden, "value", "relation");
}

TEST(HiddenPlaces, WholeWeeksBetweenTwoDays) {
  Hidden hidden(48);
  std::vector<std::string> first;
  std::vector<std::string> second;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t day = 14'000 + hidden.pick(3000);
    append_date(day, first.emplace_back());
    append_date(day + 7 * hidden.pick(200) + (said == 1 ? 0 : 1 + hidden.pick(6)), second.emplace_back());
  }
  hidden.add("first", first);
  hidden.add("second", second);
  expect_found(hidden, "first and second", "relation");
}

TEST(HiddenPlaces, ThePlaceOfANumberWithinItsGroup) {
  Hidden hidden(49);
  std::vector<std::string> branch;
  std::vector<std::string> score;
  for (const std::int32_t said : hidden.said) {
    const std::int64_t own = hidden.pick(40);
    branch.push_back(fmt::format("branch {}", own));
    score.push_back(fmt::format("{}", (31 * own * own + 7919 * own) % 50'021 +
                                          (said == 1 ? 150 + hidden.pick(100) : hidden.pick(100))));
  }
  hidden.add("branch", branch);
  hidden.add("score", score);
  expect_found(hidden, "score and branch", "relation");
}

TEST(HiddenPlaces, HowManyCellsOfARowAreMissing) {
  Hidden hidden(63);
  std::vector<std::vector<std::string>> cells(6, std::vector<std::string>(kRows));
  for (std::size_t i = 0; i < static_cast<std::size_t>(kRows); ++i) {
    std::int64_t missing = hidden.said[i];
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const bool gone = c + 1 < cells.size() ? hidden.pick(2) == 0 : missing % 2 == 1;
      missing += gone ? 1 : 0;
      cells[c][i] = gone ? "" : fmt::format("{}", hidden.pick(1000));
    }
  }
  for (std::size_t c = 0; c < cells.size(); ++c) hidden.add(fmt::format("q{}", c), cells[c]);
  expect_found(hidden, "row", "missing");
}

TEST(HiddenPlaces, RowsThatOccurTwice) {
  Hidden hidden(64);
  std::vector<std::string> note(static_cast<std::size_t>(kRows));
  std::ptrdiff_t open = -1;  // a row that waits for its double
  for (std::size_t i = 0; i < note.size(); ++i) {
    note[i] = fmt::format("{}", hidden.pick(50));
    if (hidden.said[i] == 0) continue;
    if (open >= 0) {
      note[i] = note[static_cast<std::size_t>(open)];
      for (AuditColumn& column : hidden.input.released.columns) {
        column.code[i] = column.code[static_cast<std::size_t>(open)];
        if (column.numeric()) column.number[static_cast<Index>(i)] = column.number[open];
      }
      open = -1;
    } else {
      open = static_cast<std::ptrdiff_t>(i);
    }
  }
  hidden.add("note", note);
  expect_found(hidden, "row", "repeats");
}

// The cells say nothing, but rows of one class stand together in blocks of ten.
TEST(HiddenPlaces, NeighboursInTheFile) {
  Hidden hidden(37);
  Symbols x;
  std::int32_t own = 0;
  for (Index i = 0; i < kRows; ++i) {
    if (i % 10 == 0) own = static_cast<std::int32_t>(hidden.pick(2));
    x.push_back(own);
  }
  hidden.input.sensitive = {column_of_codes("secret", x, 2)};
  const AttributeAudit a = audit(hidden.input, {.quick = true, .measure_power = false}).attributes.front();
  EXPECT_GT(a.leakage.interval95->low, 0.2) << a.winner;
  bool noted = false;
  for (const std::string& note : a.notes)
    noted = noted || note.find("the order of the rows") != std::string::npos;
  EXPECT_TRUE(noted);
}

// With all these places looked at, a table that tells nothing still tells nothing: in each of 12 audits the
// lower end of the interval is above 0 with probability 0.025 at most, in three or more once in 300 sets of
// seeds.
TEST(HiddenPlaces, NothingWhereNothingIsHidden) {
  int found = 0;
  for (std::uint64_t seed = 50; seed < 62; ++seed) {
    Hidden hidden(seed);
    std::vector<std::string> id;
    std::vector<std::string> day;
    for (Index i = 0; i < kRows; ++i) {
      id.push_back(fmt::format("R{:06}{}", hidden.pick(1'000'000), hidden.pick(2) == 0 ? 'K' : 'L'));
      std::string text;
      append_date(18'631 + hidden.pick(900), text);
      day.push_back(text);
    }
    hidden.add("id", id);
    hidden.add("day", day);
    for (const char* name : {"a", "b", "c", "d"}) {
      std::vector<std::string> cells;
      for (Index i = 0; i < kRows; ++i) cells.push_back(fmt::format("{}", hidden.pick(5000)));
      hidden.add(name, cells);
    }
    const AuditReport report = audit(hidden.input, {.quick = true, .details = false, .measure_power = false});
    if (report.leakage().interval95->low > 0) ++found;
  }
  EXPECT_LE(found, 2);
}

// Evidence of two columns that different attackers read adds up.
TEST(HiddenPlaces, EvidenceOfSeveralAttackersAddsUp) {
  Hidden hidden(38);
  std::vector<std::string> id;
  Vector<double> value(kRows);
  Matrix<double> normal(kRows, 1);
  fill_normal(hidden.random, normal);
  for (Index i = 0; i < kRows; ++i) {
    const auto row = static_cast<std::size_t>(i);
    id.push_back(fmt::format("R{:06}{}", hidden.pick(1'000'000), hidden.said[row] == 0 ? 'K' : 'L'));
    value[i] = std::round(100 * (normal(i, 0) + 1.6 * hidden.x[row])) / 100;
  }
  hidden.add("id", id);
  hidden.input.released.columns.push_back(column_of_numbers("value", value));
  const AttributeAudit a = audit(hidden.input, {.quick = true, .measure_power = false}).attributes.front();
  // Alone the numbers tell 0.245 nats and the letters 0.270; together 0.407 (by simulation). Standard error
  // 0.015.
  EXPECT_GT(a.leakage.nats, 0.32) << a.winner;
  EXPECT_LT(a.leakage.nats, 0.5);
}

// A level that one row in a hundred has: the entropy of the test rows alone is off by a fifth, and no upper
// bound by itself.
TEST(HiddenPlaces, TheEntropyOfARareLevelIsNotTakenForKnown) {
  Hidden hidden(39);
  Symbols x;
  for (Index i = 0; i < kRows; ++i) x.push_back(hidden.random.uniform() < 0.01 ? 1 : 0);
  hidden.input.sensitive = {column_of_codes("secret", x, 2)};
  const AttributeAudit a = audit(hidden.input, {.quick = true, .details = false}).attributes.front();
  ASSERT_TRUE(a.power.has_value());
  const double entropy = empirical_entropy(x, 2);
  EXPECT_GE(a.upper.back().interval95->high, entropy * 1.1);
  EXPECT_GE(a.upper_end, std::min(a.power->nats, entropy));
}

// Two attributes: what both together may leak is no less than what one may.
TEST(HiddenPlaces, TogetherNoLessThanEach) {
  Hidden hidden(40);
  std::vector<std::string> copy;
  for (const std::int32_t said : hidden.said) copy.emplace_back(said == 0 ? "a" : "b");
  hidden.add("copy", copy);
  Symbols other;
  for (Index i = 0; i < kRows; ++i) other.push_back(static_cast<std::int32_t>(hidden.pick(3)));
  hidden.input.sensitive.push_back(column_of_codes("other", other, 3));
  const AuditReport report = audit(hidden.input, {.quick = true});
  for (const AttributeAudit& a : report.attributes) EXPECT_GE(report.upper_end(), a.upper_end);
}

}  // namespace
}  // namespace ppan
