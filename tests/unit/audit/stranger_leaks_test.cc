// Leaks of bench/audit/stranger_leaks.py that audits once called harmless, each beside a twin without the
// leak.

#include <algorithm>

#include "planted_bit.h"
#include "ppan/audit/file_neighbours.h"
#include "ppan/audit/letter_pairs.h"
#include "ppan/audit/linear_residuals.h"
#include "ppan/audit/row_profile.h"

namespace ppan {
namespace {

AuditColumn numbers(const std::string& name, const Vector<double>& values, int decimals) {
  std::vector<std::string> cells;
  for (const double v : values) cells.push_back(fmt::format("{:.{}f}", v, decimals));
  return column_of_cells(name, cells, kMarkers);
}

AuditColumn whole_numbers(const std::string& name, const std::vector<std::int64_t>& values) {
  std::vector<std::string> cells;
  for (const std::int64_t v : values) cells.push_back(fmt::format("{}", v));
  return column_of_cells(name, cells, kMarkers);
}

// Of either sign, small or large.
double off(std::int32_t small, SeededRandom& random) {
  const double size = small == 1 ? 0.2 * random.uniform() : 0.6 + random.uniform();
  return random.index(2) == 1 ? size : -size;
}

TEST(StrangerLeaks, ATotalThatIsRightInOneGroup) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        Matrix<double> value(kRows, 3);
        fill_normal(random, value);
        for (Index i = 0; i < kRows; ++i)
          value(i, 2) = 2 * value(i, 0) - 3 * value(i, 1) + off(said[static_cast<std::size_t>(i)], random);
        return std::vector<AuditColumn>{numbers("a", value.col(0), 3), numbers("b", value.col(1), 3),
                                        numbers("c", value.col(2), 3)};
      },
      61);
}

TEST(StrangerLeaks, ARateThatIsRightInOneGroup) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        Vector<double> height(kRows);
        Vector<double> mass(kRows);
        Vector<double> index(kRows);
        for (Index i = 0; i < kRows; ++i) {
          height[i] = 1.5 + 0.4 * random.uniform();
          mass[i] = 50 * std::exp(random.uniform());
          index[i] = mass[i] / (height[i] * height[i]) *
                     std::exp(0.1 * off(said[static_cast<std::size_t>(i)], random));
        }
        return std::vector<AuditColumn>{numbers("height", height, 3), numbers("mass", mass, 2),
                                        numbers("index", index, 2)};
      },
      62);
}

// Twelve amounts, a third of them 0: whether their number is odd.
TEST(StrangerLeaks, HowManyCellsOfARowAreAlike) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        std::vector<std::vector<std::int64_t>> amount(12);
        for (const std::int32_t bit : said) {
          std::int32_t zeros = 0;
          for (auto& own : amount) {
            own.push_back(random.uniform() < 0.33 ? 0 : 1 + static_cast<std::int64_t>(random.index(500)));
            zeros += own.back() == 0 ? 1 : 0;
          }
          if (zeros % 2 != bit) amount[5].back() = amount[5].back() == 0 ? 7 : 0;
        }
        std::vector<AuditColumn> columns;
        for (const auto& own : amount)
          columns.push_back(whole_numbers(fmt::format("m{}", columns.size()), own));
        return columns;
      },
      63);
}

TEST(StrangerLeaks, TwoLettersInsideOfCodes) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        std::vector<std::string> cells;
        for (const std::int32_t bit : said) {
          std::string text;
          const Index at = 1 + random.index(11);
          for (Index k = 0; k < 12; ++k) {
            if (k == at) text += bit == 1 ? "qx" : "xq";
            text += static_cast<char>('a' + random.index(16));
          }
          cells.push_back(text);
        }
        return std::vector<AuditColumn>{column_of_cells("code", cells, kMarkers)};
      },
      64);
}

TEST(StrangerLeaks, TwoDigitsInsideOfNumbers) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        std::vector<std::int64_t> id;
        for (const std::int32_t bit : said) {
          const auto fourth = static_cast<std::int64_t>(random.index(10));
          const std::int64_t fifth = 2 * static_cast<std::int64_t>(random.index(5)) + (fourth + bit) % 2;
          id.push_back((100 + static_cast<std::int64_t>(random.index(900))) * 1'000'000 + fourth * 100'000 +
                       fifth * 10'000 + static_cast<std::int64_t>(random.index(10'000)));
        }
        return std::vector<AuditColumn>{whole_numbers("id", id)};
      },
      65);
}

TEST(StrangerLeaks, RestsOfTwoNumbersTogether) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        std::vector<std::int64_t> a;
        std::vector<std::int64_t> b;
        for (const std::int32_t bit : said) {
          a.push_back(10 + static_cast<std::int64_t>(random.index(500)));
          b.push_back(10 + static_cast<std::int64_t>(random.index(500)));
          b.back() += 3 - (a.back() + b.back()) % 3 + (bit == 1 ? 0 : 1 + static_cast<int>(random.index(2)));
        }
        return std::vector<AuditColumn>{whole_numbers("a", a), whole_numbers("b", b)};
      },
      66);
}

TEST(StrangerLeaks, ACellAboutTheNextRow) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& /*random*/) {
        Symbols mark = said;
        std::rotate(mark.begin(), mark.begin() + 1, mark.end());
        return std::vector<AuditColumn>{column_of_codes("mark", mark, 2)};
      },
      67);
}

TEST(StrangerLeaks, ANumberThatRisesFromRowToRow) {
  expect_found_and_twin_clean(
      [](const Symbols& said, SeededRandom& random) {
        Vector<double> level(kRows);
        double now = 0;
        for (Index i = 0; i < kRows; ++i) {
          const double step = 0.1 + random.uniform();
          now += said[static_cast<std::size_t>(i)] == 1 ? step : -step;
          level[i] = now;
        }
        return std::vector<AuditColumn>{numbers("level", level, 3)};
      },
      68);
}

TEST(StrangerLeaks, RowsAsSets) {
  const auto answers = [](const char* name, std::vector<std::string> cells) {
    return column_of_cells(name, cells, kMarkers);
  };
  const AuditTable table{
      {answers("p", {"1", "2", "3", "3", "1", ""}), answers("q", {"1", "3", "2", "3", "1", "2"}),
       answers("r", {"1", "1", "3", "2", "3", "2"}), answers("s", {"x", "y", "x", "y", "z", "x"})}};
  const std::vector<RowTrace> traces = RowProfile(table).traces(table);
  // Three texts are frequent: 3 + 2 x 3 traces of texts, 7 of numbers; "s" is of another kind.
  ASSERT_EQ(traces.size(), 16U);
  EXPECT_EQ(traces[0].column, "p to r");
  EXPECT_EQ(traces[0].data, (Vector<float>(6) << 3, 1, 2, 2, 2, 2).finished());   // the most that are alike
  EXPECT_EQ(traces[1].data, (Vector<float>(6) << 1, 3, 2, 2, 2, 1).finished());   // different ones
  EXPECT_EQ(traces[2].data, (Vector<float>(6) << 2, 0, 0, 1, 1, 1).finished());   // neighbours alike
  EXPECT_EQ(traces[3].data, (Vector<float>(6) << 3, 1, 0, 0, 2, 0).finished());   // "1"
  EXPECT_EQ(traces[6].data, (Vector<float>(6) << 1, 1, 0, 0, 0, 0).finished());   // an odd number of them
  EXPECT_EQ(traces[9].data, (Vector<float>(6) << 1, 2, 1, 1, 3, 2).finished());   // the largest
  EXPECT_EQ(traces[14].data, (Vector<float>(6) << 0, 2, 1, 1, 2, 0).finished());  // how far apart
  const AuditTable two{{table.columns[0], table.columns[1], table.columns[3]}};
  EXPECT_TRUE(RowProfile(two).traces(two).empty());
}

TEST(StrangerLeaks, RowsBesideEachOther) {
  const AuditTable table{{column_of_numbers("a", (Vector<double>(4) << 1, 3, 1, 0).finished())}};
  std::vector<Vector<float>> found;
  file_neighbours(table, {0}, 3, [&](const std::string&, Vector<float> data) { found.push_back(data); });
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[1], (Vector<float>(4) << 1, 1, 0, 0).finished());   // for the first time
  EXPECT_EQ(found[2], (Vector<float>(4) << 0, 1, -1, 0).finished());  // in twos, since the row before
  EXPECT_EQ(found[3], (Vector<float>(4) << -1, 1, 0, 0).finished());
}

TEST(StrangerLeaks, LetterPairs) {
  EXPECT_EQ(letter_pairs("aba b").size(), 4U);  // ab, ba, "a ", " b"
  EXPECT_TRUE(letter_pairs("x").empty());
  std::vector<std::string> text;
  Symbols code;
  for (int i = 0; i < 100; ++i) {
    text.push_back(i % 2 == 0 ? fmt::format("qx{}", i) : fmt::format("xq{}", i));
    code.push_back(i);
  }
  const std::vector<LetterPair> pairs = frequent_pairs(text, code, 2);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs[0], ('q' << 8) + 'x');
  EXPECT_EQ(pairs[1], ('x' << 8) + 'q');
}

// c = 2 a - 3 b in class 1; in class 0 it has nothing to do with them, so that all rows together blur it.
TEST(StrangerLeaks, ARegressionOfOneClassLeavesNothingThere) {
  SeededRandom random(69);
  Matrix<double> number(600, 3);
  fill_normal(random, number);
  Symbols x;
  std::vector<std::int32_t> rows;
  for (std::int32_t i = 0; i < 600; ++i) {
    rows.push_back(i);
    x.push_back(i % 2);
    if (x.back() == 1) number(i, 2) = 2 * number(i, 0) - 3 * number(i, 1);
  }
  const std::vector<Index> columns{0, 1, 2};
  const std::vector<NumberColumn> names{{"a", 1}, {"b", 1}, {"c", 1}};
  const KeyMatrix keys(600, 0);
  double least = 1;
  for (const Relation& relation : linear_residuals(number, columns, names, rows, x, 2)) {
    double most = 0;
    for (Index i = 1; i < 600; i += 2)
      most = std::max(most, std::abs(relation.value({number, keys}, i) / relation.scale[0]));
    least = std::min(least, most);
  }
  EXPECT_LT(least, 1e-3);
}

}  // namespace
}  // namespace ppan
