#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "ppan/core/cell_text.h"
#include "ppan/core/random.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/encoding.h"
#include "ppan/encode/layout.h"
#include "ppan/encode/row_decoder.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"
#include "support/text_sink.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

CsvSource reader_of(std::string text, const CsvOptions& options = {}) {
  return CsvSource(memory_source(std::move(text), "t.csv"), options);
}

struct Fitted {
  Table table;
  Encoding encoding;
};

// Tables of a few rows: every row counts, and nothing is rounded.
const EncodingOptions kExact{.min_rows = 1, .grid_cost = 0};

Fitted fit(const std::string& text, const std::vector<ColumnSpec>& specs, EncodingOptions options = kExact) {
  auto reader = reader_of(text);
  Fitted out;
  out.table = read_table(reader, specs);
  options.missing = reader.style().missing;
  out.encoding = fit_encoding(out.table, specs, options);
  return out;
}

std::string repeat(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

constexpr const char* kPeople =
    "age,job,pay,id\n"
    "30,clerk,1.50,a\n"
    "?,\"say \"\"x\"\"\",2.25,b\n"
    "41,,?,c\n"
    "55,clerk,0.00,d\n";
const std::vector<ColumnSpec> kPeopleSpecs{{.name = "age", .type = ColumnType::kInteger, .weight = 2},
                                           {.name = "job"},
                                           {.name = "pay", .type = ColumnType::kReal}};

TEST(Encoding, NumbersAreStandardised) {
  const auto [table, encoding] =
      fit("x\n2\n4\n4\n4\n5\n5\n7\n9\n", {{.name = "x", .type = ColumnType::kInteger}});
  const ColumnEncoding& x = encoding.columns[0];
  EXPECT_EQ(x.mean, 5);  // the textbook sample with mean 5 and deviation 2
  EXPECT_EQ(x.scale, 2);
  EXPECT_EQ(x.encode(9), 2);
  EXPECT_EQ(x.encode(100), 2);  // clamped
  EXPECT_EQ(x.decode(1.1), 7);
  EXPECT_EQ(x.decode(-50), 2);
  EXPECT_EQ(x.decode(std::nan("")), 5);
  EXPECT_TRUE(x.knot.empty());
  EXPECT_EQ(x.width(), 1);
}

TEST(Encoding, HeavyTailsBecomeNormalScores) {
  SeededRandom random(7);
  Matrix<double> draws(5000, 1);
  fill_normal(random, draws);
  std::string text = "x\n";
  for (Index i = 0; i < draws.rows(); ++i) text += std::to_string(std::exp(2 * draws(i, 0))) + "\n";
  const auto [table, encoding] = fit(text, {{.name = "x", .type = ColumnType::kReal}});
  const ColumnEncoding& x = encoding.columns[0];
  ASSERT_GT(x.knot.size(), 200U);
  ASSERT_LE(x.knot.size(), 321U);
  // log x is normal with deviation 2, so the score of x is (log x) / 2 up to sampling: the standard error of
  // a sample quantile within one deviation of the middle is below 0.025 at 5,000 rows; 0.12 is five of them.
  for (const double z : {-1.0, 0.0, 1.0}) EXPECT_NEAR(x.encode(std::exp(2 * z)), z, 0.12);
  for (const double value : table.columns[0].number) {
    ASSERT_NEAR(x.decode(x.encode(value)), value, 1e-9 * value);
    ASSERT_LT(std::abs(x.encode(value)), 4.5);
  }
  const auto standard =
      fit(text, {{.name = "x", .type = ColumnType::kReal, .encoding = NumericEncoding::kStandard}}).encoding;
  EXPECT_TRUE(standard.columns[0].knot.empty());
}

TEST(Encoding, TheRuleForHeavyTails) {
  // 999 zeros and ones and one value 30 deviations away; and the same without it.
  const std::string calm = "x\n" + repeat("0\n1\n2\n", 400);
  EXPECT_TRUE(fit(calm, {{.name = "x", .type = ColumnType::kInteger}}).encoding.columns[0].knot.empty());
  EXPECT_FALSE(
      fit(calm + "30\n", {{.name = "x", .type = ColumnType::kInteger}}).encoding.columns[0].knot.empty());
  EXPECT_FALSE(fit(calm, {{.name = "x", .type = ColumnType::kInteger, .encoding = NumericEncoding::kRank}})
                   .encoding.columns[0]
                   .knot.empty());
}

TEST(Encoding, ValuesWhoseSquaresCannotBeRepresentedAreRefused) {
  EXPECT_THROW(fit("x\n-1e308\n1e308\n0\n1\n", {{.name = "x", .type = ColumnType::kReal}}), Error);
  const auto encoding = fit("x\n-1e100\n1e100\n0\n1\n", {{.name = "x", .type = ColumnType::kReal}}).encoding;
  EXPECT_TRUE(std::isfinite(encoding.columns[0].encode(1e100)));
}

TEST(Encoding, LevelsAreOrderedByFrequency) {
  const auto encoding = fit("c\nb\na\nb\n\nc\nb\na\n", {{.name = "c"}}).encoding;
  EXPECT_THAT(encoding.columns[0].levels, ElementsAre("b", "a", "c", ""));
  EXPECT_EQ(encoding.columns[0].missing_level, 3);
  EXPECT_EQ(encoding.columns[0].other_level, std::nullopt);
  EXPECT_EQ(encoding.columns[0].share[0], 0.429);  // 3 of 7, to three decimals
}

TEST(Encoding, RareLevelsAreAlwaysGrouped) {
  const auto levels = [](const std::string& text, std::int64_t min_rows) {
    return fit(text, {{.name = "c"}}, {.min_rows = min_rows}).encoding.columns[0].levels;
  };
  const std::string text = "c\n" + repeat("a\nb\n", 499) + repeat("x\ny\nz\n", 2);
  EXPECT_THAT(levels(text, 5), ElementsAre("a", "b", "other"));
  EXPECT_THAT(levels(text, 1), ElementsAre("a", "b", "x", "y", "z"));
  // A lone rare level is not kept, and its group is not left with one person.
  EXPECT_THAT(levels("c\n" + repeat("a\n", 300) + repeat("b\n", 200) + "x\n", 5), ElementsAre("a", "other"));
  EXPECT_THAT(levels("c\n" + repeat("a\nb\n", 10) + "x\n", 100), ElementsAre("other"));
}

TEST(Encoding, NoNumberOfASinglePersonIsKept) {
  std::string text = "x,y\n";
  for (int i = 0; i < 400; ++i) text += std::to_string(1000 + i) + "," + std::to_string(i * i) + "\n";
  text += "987654,123456789\n1,-5555555\n";
  const auto encoding = fit(text,
                            {{.name = "x", .type = ColumnType::kInteger},
                             {.name = "y", .type = ColumnType::kInteger, .encoding = NumericEncoding::kRank}},
                            {.min_rows = 5})
                            .encoding;
  const std::string json = to_json(encoding).dump();
  for (const char* alone : {"987654", "123456789", "5555555"})
    EXPECT_EQ(json.find(alone), std::string::npos) << alone;
  // Five rows lie at or beyond each end.
  EXPECT_GE(encoding.columns[0].least, 1003);
  EXPECT_LE(encoding.columns[0].most, 1396);
}

TEST(Encoding, GridsHideDigits) {
  // Whole numbers of deviation about 290: rounding to 50 costs 50^2 / 12 / 290^2 = 0.0025, and 0.0005 more at
  // the end of the range, which moves to 950; rounding to 20 costs 0.0004.
  std::string text = "x\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + "\n";
  const std::vector<ColumnSpec> spec{{.name = "x", .type = ColumnType::kInteger}};
  const auto grid = [&](double cost) {
    return fit(text, spec, {.grid_cost = cost}).encoding.columns[0].grid;
  };
  EXPECT_EQ(grid(0), 1);
  EXPECT_EQ(grid(0.0005), 20);
  EXPECT_EQ(grid(0.004), 50);
  const ColumnEncoding column = fit(text, spec, {}).encoding.columns[0];
  for (const double x : {3.0, 17.0, 512.0, 993.0})
    EXPECT_EQ(std::fmod(column.decode(column.encode(x)), column.grid), 0);
  // What is declared is used, and must be a decimal number that fits the type.
  EXPECT_EQ(fit(text, {{.name = "x", .type = ColumnType::kInteger, .grid = 7}}, {}).encoding.columns[0].grid,
            7);
  EXPECT_THROW(fit(text, {{.name = "x", .type = ColumnType::kInteger, .grid = 0.5}}, {}), Error);
  EXPECT_THROW(fit(text, {{.name = "x", .type = ColumnType::kReal, .grid = 1.0 / 3}}, {}), Error);
}

// Released times are those that a clock shows: whole days of a year, minutes of an hour.
TEST(Encoding, TimesHaveAGridOfTheClock) {
  const auto grid = [](std::int64_t step_seconds) {
    std::string text = "t\n";
    for (std::int64_t i = 0; i < 1000; ++i) {
      append_timestamp((i * step_seconds + i % 7) * 1'000'000, text);
      text += '\n';
    }
    return fit(text, {{.name = "t", .type = ColumnType::kTimestamp}}, {}).encoding.columns[0].grid / 1e6;
  };
  // A step d costs d^2/12 of a variance of (1000 s)^2/12: up to 0.022 of the whole range.
  EXPECT_EQ(grid(86'400), 20 * 86'400);  // 22 days are allowed
  EXPECT_EQ(grid(3600), 12 * 3600);      // 22 hours
  EXPECT_EQ(grid(60), 15 * 60);          // 22 minutes
}

TEST(Encoding, SharedValuesStayAsTheyAre) {
  // Ten amounts that many people have: rounding them to thousands would cost next to nothing, and yet each is
  // a value that the column has and its neighbour is not. With one person each they are rounded.
  const std::vector<int> amounts{0, 594, 3103, 4064, 5178, 7298, 7688, 14084, 15024, 99999};
  std::string shared = "x\n";
  for (int i = 0; i < 1000; ++i) shared += std::to_string(amounts[i % 10]) + "\n";
  const std::vector<ColumnSpec> spec{{.name = "x", .type = ColumnType::kInteger}};
  const ColumnEncoding column = fit(shared, spec, {}).encoding.columns[0];
  EXPECT_EQ(column.grid, 1);
  for (const int x : amounts) EXPECT_EQ(column.decode(column.encode(x)), x);
  std::string own = "x\n";
  for (int i = 0; i < 250; ++i) own += std::to_string(97 * i) + "\n";
  EXPECT_GT(fit(own, spec, {}).encoding.columns[0].grid, 1);
}

TEST(Encoding, WrittenAsTheColumnIs) {
  std::string text = "price,rate\n";
  for (int i = 0; i < 300; ++i)
    text += std::to_string(i) + ".50," + std::to_string(i) + (i % 2 ? ".5" : "") + "\n";
  const Encoding encoding = fit(text,
                                {{.name = "price", .type = ColumnType::kReal, .grid = 0.5},
                                 {.name = "rate", .type = ColumnType::kReal, .grid = 0.5, .range = {10, 20}}},
                                {})
                                .encoding;
  const Encoder encoder(encoding);
  const auto written = [&](std::int32_t column, double x) {
    std::string out;
    encoder.append_cell(column, encoding.columns[static_cast<std::size_t>(column)].encode(x), 0, out);
    return out;
  };
  EXPECT_EQ(written(0, 17.3), "17.50");
  EXPECT_EQ(written(0, 17.1), "17.00");
  EXPECT_EQ(written(1, 12.6), "12.5");
  EXPECT_EQ(written(1, 12.9), "13");
  EXPECT_EQ(written(1, 200), "20");  // the range that was declared
}

TEST(Encoding, ALevelNamedLikeTheGroupJoinsIt) {
  const auto column =
      fit("c\n" + repeat("a\nother\n", 499) + "x\ny\n", {{.name = "c"}}, {}).encoding.columns[0];
  EXPECT_THAT(column.levels, ElementsAre("a", "other"));
  EXPECT_EQ(column.other_level, 1);
}

TEST(Encoding, ManyLevelsAreBounded) {
  std::string text = "c,d\n";
  for (int i = 0; i < 3000; ++i)
    text += "v" + std::to_string(i) + "," + (i == 0 ? "" : std::to_string(i % 300)) + "\n";
  const auto encoding = fit(text, {{.name = "c"}, {.name = "d", .max_levels = 10}}).encoding;
  EXPECT_EQ(encoding.columns[0].levels.size(), 64U);
  EXPECT_EQ(encoding.columns[0].other_level, 63);
  EXPECT_EQ(encoding.columns[1].levels.size(), 10U);  // eight of its own, the grouped one and missing
  EXPECT_EQ(encoding.columns[1].other_level, 8);
  EXPECT_EQ(encoding.columns[1].missing_level, 9);
}

TEST(Encoding, SurvivesJson) {
  const auto encoding = fit(kPeople, kPeopleSpecs).encoding;
  EXPECT_EQ(encoding_from_json(nlohmann::json::parse(to_json(encoding).dump())), encoding);
}

TEST(Encoding, DamagedJsonIsRefused) {
  const auto encoding = fit(kPeople, kPeopleSpecs).encoding;
  const auto refused = [&](const std::function<void(nlohmann::json&)>& damage) {
    auto json = to_json(encoding);
    damage(json);
    EXPECT_THROW(encoding_from_json(json), Error) << json.dump();
  };
  refused([](auto& j) { j["columns"][0]["scale"] = 0; });
  refused([](auto& j) { j["columns"][0]["least"] = 1000; });
  refused([](auto& j) { j["columns"][0]["knot"] = {1, 2}; });
  refused([](auto& j) { j["columns"][0]["knot"] = {2, 1}, j["columns"][0]["score"] = {0, 1}; });
  refused([](auto& j) { j["columns"][0].erase("mean"); });
  refused([](auto& j) { j["columns"][0]["name"] = "job"; });
  refused([](auto& j) { j["columns"][0]["format"]["decimals"] = 99; });
  refused([](auto& j) { j["columns"][1]["levels"] = nlohmann::json::array(); });
  refused([](auto& j) { j["columns"][1]["missing_level"] = 17; });
  refused([](auto& j) { j["columns"][1]["type"] = "identifier"; });
  refused([](auto& j) { j = 5; });
}

TEST(Encoding, ColumnsWithoutValuesAreRefused) {
  EXPECT_THAT([] { fit("x\n?\nNA\n", {{.name = "x", .type = ColumnType::kReal}}); },
              testing::ThrowsMessage<Error>("column 'x' has no value in any row"));
  EXPECT_THROW(fit("x\n", {{.name = "x"}}), Error);
}

TEST(Encoder, RoundTripGivesTheTableBack) {
  const auto [table, encoding] = fit(kPeople, kPeopleSpecs);
  const Encoder encoder(encoding);
  auto reader = reader_of(kPeople);
  const auto bound = bind_columns(encoding, std::vector<std::string>{"age", "job", "pay"}, reader);
  const RowDecoder decoder(encoder,
                           {{.name = "age", .column = 0},
                            {.name = "job", .column = 1},
                            {.name = "pay", .column = 2},
                            {.name = "id", .kept = true, .source = 3}},
                           reader.columns());
  TextSink bytes;
  CsvSink sink(bytes, reader.style());
  sink.begin(decoder.columns());
  RowChunk chunk;
  RowChunk decoded;
  EncodedRows rows;
  EncodedRows again;
  Matrix<float> matrix;
  const Layout layout = make_layout(encoding, std::vector<std::int32_t>{0, 1, 2});
  EXPECT_EQ(layout.width, 2 + 3 + 2);
  while (reader.next(chunk)) {
    encoder.encode(chunk, bound, UnknownRow::kFail, rows);
    EXPECT_TRUE(rows.faults.empty());
    to_matrix(rows, layout, matrix);
    from_matrix<float>(matrix, layout, again);
    decoder.decode(again, chunk, decoded);
    sink.write(sink.pack(decoded));
  }
  EXPECT_EQ(bytes.text, kPeople);

  EncodedRows from_table;
  encoder.encode(table, std::vector<std::int32_t>{0, 1, 2}, UnknownRow::kFail, from_table);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(from_table.columns[i].value, rows.columns[i].value);
    EXPECT_EQ(from_table.columns[i].code, rows.columns[i].code);
  }
  std::string cell;
  encoder.append_cell(2, rows.columns[2].value[0], 0, cell);
  EXPECT_EQ(cell, "1.50");
}

TEST(Encoder, CellsThatCannotBeEncodedFollowThePolicy) {
  const auto encoding = fit("n,m,c\n1,,a\n2,5,a\n3,7,b\n", {{.name = "n", .type = ColumnType::kInteger},
                                                            {.name = "m", .type = ColumnType::kReal},
                                                            {.name = "c"}})
                            .encoding;
  const Encoder encoder(encoding);
  const std::string text = "c,m,n\na,1,1\nz,x,1\na,,\nNA,6,2.5\n";
  const auto run = [&](UnknownRow policy) {
    auto reader = reader_of(text);
    RowChunk chunk;
    reader.next(chunk);
    EncodedRows rows;
    encoder.encode(chunk, bind_columns(encoding, std::vector<std::string>{"n", "m", "c"}, reader), policy,
                   rows);
    return rows;
  };
  const EncodedRows rejected = run(UnknownRow::kReject);
  EXPECT_THAT(rejected.bad, ElementsAre(0, 1, 1, 1));
  std::vector<std::string> what;
  for (const CellFault& f : rejected.faults)
    what.push_back(std::to_string(f.line) + " " + with_values(f.what));
  EXPECT_THAT(
      what, ElementsAre("4 the value is missing, but in training none was", "5 \"2.5\" is not a whole number",
                        "3 \"x\" is not a number", "3 \"z\" is an unknown level",
                        "5 the value is missing, but in training none was"));
  const Error error = first_fault(rejected, encoding, "t.csv");
  EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  EXPECT_STREQ(error.what(), "t.csv line 3, column \"m\": the cell is not a number");
  EXPECT_EQ(error.what_with_values(), "t.csv line 3, column \"m\": \"x\" is not a number");
  EXPECT_EQ(error.fix(), "fix the row, or choose release.unknown = \"reject\" or \"nearest\"");

  const EncodedRows nearest = run(UnknownRow::kNearest);
  EXPECT_TRUE(nearest.faults.empty());
  EXPECT_EQ(nearest.replaced, 5);
  EXPECT_THAT(nearest.bad, ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(nearest.columns[2].code, ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(nearest.columns[0].value[2], 0);
  EXPECT_THAT(nearest.columns[1].code, ElementsAre(0, 0, 1, 0));
}

TEST(Encoder, UnknownLevelsJoinTheGroup) {
  const auto encoding =
      fit("c\n" + repeat("a\nb\n", 499) + repeat("x\ny\n", 3), {{.name = "c"}}, {}).encoding;
  const Encoder encoder(encoding);
  EXPECT_EQ(encoder.code_of(0, "a"), 0);
  EXPECT_EQ(encoder.code_of(0, "x"), 2);
  EXPECT_EQ(encoder.code_of(0, "never seen"), 2);
}

// Few levels are told apart by length and first bytes before anything else, many by a hash; both must know
// each level from its neighbours, at every length round the eight bytes compared first.
TEST(Encoder, LevelsThatLookAlikeAreToldApart) {
  const std::string letters = "abcdefghijkl";
  for (const std::size_t count : {2U, 6U, 11U}) {
    for (std::size_t length = 1; length <= letters.size(); ++length) {
      std::string text = "c\n";
      std::vector<std::string> levels;
      for (std::size_t i = 0; i < count; ++i) {  // one letter changed, at every place; then two
        std::string level = letters.substr(0, length);
        level[i % length] = static_cast<char>('A' + i / length);
        levels.push_back(level);
        text += repeat(level + "\n", 9);
      }
      for (const std::size_t more : {0U, 20U}) {
        std::string table = text;
        for (std::size_t i = 0; i < more; ++i) table += repeat("other" + std::to_string(i) + "\n", 9);
        const auto encoding = fit(table, {{.name = "c"}}).encoding;
        const Encoder encoder(encoding);
        for (const std::string& level : levels) {
          const std::int32_t code = encoder.code_of(0, level);
          ASSERT_GE(code, 0) << level;
          EXPECT_EQ(encoding.columns[0].levels[static_cast<std::size_t>(code)], level);
        }
        EXPECT_EQ(encoder.code_of(0, letters.substr(0, length)), -1);
        EXPECT_EQ(encoder.code_of(0, levels.front() + "x"), -1);
        EXPECT_EQ(encoder.code_of(0, ""), -1);
      }
    }
  }
}

TEST(Encoder, ColumnsThatAreNotThereAreAllNamed) {
  const auto encoding = fit(kPeople, kPeopleSpecs).encoding;
  const auto reader = reader_of("aeg,pay\n1,2\n");
  EXPECT_THAT(
      [&] {
        bind_columns(encoding, std::vector<std::string>{"age", "job", "pay"}, reader);
      },
      testing::ThrowsMessage<Error>("t.csv lacks columns that the model needs\n"
                                    "  age: unknown column 'age' (did you mean 'aeg'?)\n"
                                    "  job: unknown column 'job' (known: aeg, pay)"));
}

TEST(Encoder, DecimalCommasComeBack) {
  const CsvOptions options{.delimiter = ';', .decimal = ','};
  const std::string text = "x\n1,50\n2,25\n";
  auto reader = reader_of(text, options);
  const std::vector<ColumnSpec> specs{{.name = "x", .type = ColumnType::kReal}};
  const Table table = read_table(reader, specs);
  const Encoder encoder(fit_encoding(table, specs, {}), ',');
  std::string cell;
  encoder.append_cell(0, encoder.encoding().columns[0].encode(2.25), 0, cell);
  EXPECT_EQ(cell, "2,25");
}

TEST(Layout, BlocksFollowEachOther) {
  const auto encoding = fit(kPeople, kPeopleSpecs).encoding;
  const Layout layout = make_layout(encoding, std::vector<std::int32_t>{1, 0});
  ASSERT_EQ(layout.blocks.size(), 2U);
  EXPECT_EQ(layout.blocks[0].kind, BlockKind::kCategory);
  EXPECT_EQ(layout.blocks[0].width, 3);
  EXPECT_EQ(layout.blocks[1].kind, BlockKind::kNumberOrMissing);
  EXPECT_EQ(layout.blocks[1].first, 3);
  EXPECT_EQ(layout.blocks[1].weight, 2);
  EXPECT_EQ(layout.width, 5);
}

TEST(Layout, MatricesDecodeToTheNearestRow) {
  const auto encoding = fit(kPeople, kPeopleSpecs).encoding;
  const Layout layout = make_layout(encoding, std::vector<std::int32_t>{1, 0});
  Matrix<double> matrix(2, 5);
  matrix << 0.2, 0.5, 0.5, 1.5, 0.4,  //
      0.9, 0.1, 0.95, 7, 0.6;
  EncodedRows rows;
  from_matrix<double>(matrix, layout, rows);
  EXPECT_THAT(rows.columns[0].code, ElementsAre(1, 2));
  EXPECT_THAT(rows.columns[1].code, ElementsAre(0, 1));
  EXPECT_THAT(rows.columns[1].value, ElementsAre(1.5, 0));
}

TEST(Layout, ColumnsAsAttributes) {
  const auto [table, encoding] = fit(kPeople, kPeopleSpecs);
  const Encoder encoder(encoding);
  EncodedRows rows;
  encoder.encode(table, std::vector<std::int32_t>{0, 1, 2}, UnknownRow::kFail, rows);
  const auto job = to_attribute<float>(rows, encoding, 1);
  EXPECT_EQ(job.levels, 3);
  EXPECT_THAT(job.code, ElementsAre(0, 1, 2, 0));
  const auto age = to_attribute<double>(rows, encoding, 0);
  EXPECT_FALSE(age.finite());
  EXPECT_EQ(age.width(), 2);
  EXPECT_EQ(age.value(1, 1), 1);
}

TEST(Layout, JointCodesSplitAgain) {
  const std::string text = "a,b,n\nx,p,1\ny,q,2\nz,q,3\nx,,3\n";
  const auto [table, encoding] =
      fit(text, {{.name = "a"}, {.name = "b"}, {.name = "n", .type = ColumnType::kInteger}});
  const Encoder encoder(encoding);
  const std::vector<std::int32_t> columns{0, 1};
  EXPECT_EQ(joint_levels(encoding, columns), 9);
  EXPECT_EQ(joint_levels(encoding, std::vector<std::int32_t>{0, 2}), std::nullopt);
  EncodedRows rows;
  encoder.encode(table, columns, UnknownRow::kFail, rows);
  const Symbols joint = join_codes(rows, encoding, columns);
  for (const std::int32_t code : joint) EXPECT_LT(code, 9);
  EncodedRows split;
  split_codes(joint, encoding, columns, split);
  EXPECT_EQ(split.columns[0].code, rows.columns[0].code);
  EXPECT_EQ(split.columns[1].code, rows.columns[1].code);
}

}  // namespace
}  // namespace ppan
