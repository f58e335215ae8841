#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ppan/core/error.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"
#include "ppan/source/held_rows.h"
#include "support/text_sink.h"

namespace ppan {
namespace {

using testing::ElementsAre;

std::string date(std::int64_t days) {
  std::string out;
  append_date(days, out);
  return out;
}
std::string timestamp(std::int64_t microseconds) {
  std::string out;
  append_timestamp(microseconds, out);
  return out;
}

TEST(Calendar, EveryDayComesBack) {
  EXPECT_EQ(date(0), "1970-01-01");
  EXPECT_EQ(date(19'753), "2024-01-31");
  EXPECT_EQ(date(kFirstDay), "0001-01-01");
  EXPECT_EQ(date(kLastDay), "9999-12-31");
  EXPECT_EQ(date(kLastDay + 5), "9999-12-31");
  for (std::int64_t day = kFirstDay; day <= kLastDay; day += 97) ASSERT_EQ(parse_date(date(day)), day);
}

TEST(Calendar, TimesComeBackWithTheDigitsThatTheyHave) {
  for (const char* text : {"1969-12-31 23:59:59.999999", "2024-02-29 00:00:00", "2024-01-31 12:30:00.5"})
    EXPECT_EQ(timestamp(parse_timestamp(text).value()), text);
  EXPECT_EQ(parse_timestamp("2024-01-31T12:30:00Z"), parse_timestamp("2024-01-31 14:30:00+02:00"));
  EXPECT_EQ(parse_timestamp("2024-01-31"), parse_timestamp(" 2024-01-31 00:00 "));
}

TEST(Calendar, WhatIsNoDateIsNone) {
  for (const char* text :
       {"", "2024-02-30", "2023-02-29", "2024-13-01", "24-01-01", "2024-1-1", "2024-01-01x", "0000-01-01"})
    EXPECT_FALSE(parse_date(text)) << text;
  for (const char* text : {"2024-01-01 24:00:00", "2024-01-01 12", "2024-01-01 12:00:00+",
                           "2024-01-01 12:00:00.", "2024-01-01_12:00"})
    EXPECT_FALSE(parse_timestamp(text)) << text;
}

TEST(RowChunk, CellsHaveOneText) {
  const auto text = [](const RowColumn& column, std::int64_t value) {
    RowCells cells;
    cells.integer = &value;
    std::string out;
    append_text(column, cells, 0, out);
    return out;
  };
  const RowColumn decimal{.storage = CellStorage::kInteger, .meaning = CellMeaning::kDecimal, .scale = 2};
  EXPECT_EQ(text(decimal, 1250), "12.50");
  EXPECT_EQ(text(decimal, -5), "-0.05");
  EXPECT_EQ(text(decimal, 0), "0.00");
  EXPECT_EQ(text({.storage = CellStorage::kInteger, .meaning = CellMeaning::kDecimal}, 7), "7");
  EXPECT_EQ(text({.storage = CellStorage::kInteger}, std::numeric_limits<std::int64_t>::min()),
            "-9223372036854775808");
  EXPECT_EQ(text({.storage = CellStorage::kInteger, .meaning = CellMeaning::kBoolean}, 1), "true");
  EXPECT_EQ(text({.storage = CellStorage::kInteger, .meaning = CellMeaning::kDate}, 19'753), "2024-01-31");
  RowCells cells;
  const double nan = std::nan("");
  cells.real = &nan;
  std::string out;
  append_text({.storage = CellStorage::kReal, .missing_text = "NA"}, cells, 0, out);
  EXPECT_EQ(out, "NA");
}

TEST(DecimalsOfValue, AreThoseOfTheShortestText) {
  EXPECT_EQ(decimals_of_value(12), 0);
  EXPECT_EQ(decimals_of_value(0.1), 1);
  EXPECT_EQ(decimals_of_value(-2.25), 2);
  EXPECT_EQ(decimals_of_value(1e300), 0);
  EXPECT_GT(decimals_of_value(1.0 / 3), kMostDecimals);
}

TEST(CsvRows, ComeOutAsTheyWentIn) {
  const std::string text = "a,\"b,c\"\n1,\"x \"\"y\"\"\"\n,\n3,z\n";
  CsvSource source(memory_source(text, "t.csv"), {.chunk_rows = 2});
  EXPECT_THAT(source.column_names(), ElementsAre("a", "b,c"));
  TextSink bytes;
  CsvSink sink(bytes, source.style());
  sink.begin(source.columns());
  RowChunk chunk;
  std::vector<std::int64_t> lines;
  while (source.next(chunk)) {
    for (std::int64_t r = 0; r < chunk.rows(); ++r) lines.push_back(chunk.position(r));
    sink.write(sink.pack(chunk));
  }
  EXPECT_EQ(bytes.text, text);
  EXPECT_THAT(lines, ElementsAre(2, 3, 4));
}

TEST(CsvSink, QuotesANumberWhoseMarkIsTheDelimiter) {
  TextSink bytes;
  CsvSink sink(bytes, {.decimal = ',', .delimiter = ','});
  sink.begin({{.name = "x", .storage = CellStorage::kReal}});
  RowChunk chunk;
  chunk.start(1, 1, 0);
  chunk.buffer(0).real = {1.5};
  chunk.cells(0).real = chunk.buffer(0).real.data();
  sink.write(sink.pack(chunk));
  EXPECT_EQ(bytes.text, "x\n\"1,5\"\n");
}

TEST(HeldRows, CanBeReadAgainAndHaveAFingerprintOfTheirCells) {
  const auto held = [](const char* text, std::int64_t chunk_rows) {
    CsvSource source(memory_source(text), {.delimiter = ',', .chunk_rows = chunk_rows});
    return HeldRows(source);
  };
  const HeldRows rows = held("a,b\n1,2\n3,4\n5,6\n", 2);
  EXPECT_EQ(rows.rows(), 3);
  for (int time = 0; time < 2; ++time) {
    const auto source = rows.open();
    TextSink bytes;
    CsvSink sink(bytes, source->style());
    sink.begin(source->columns());
    for (RowChunk chunk; source->next(chunk);) sink.write(sink.pack(chunk));
    EXPECT_EQ(bytes.text, "a,b\n1,2\n3,4\n5,6\n");
  }
  EXPECT_EQ(rows.fingerprint(), held("a,b\n1,2\n3,4\n5,6\n", 1).fingerprint());
  EXPECT_NE(rows.fingerprint(), held("a,b\n1,2\n3,4\n5,7\n", 2).fingerprint());
  EXPECT_NE(held("a,b\n1,23\n", 2).fingerprint(), held("a,b\n12,3\n", 2).fingerprint());
}

TEST(RowSource, NamesMustTellColumnsApart) {
  class Named final : public RowSource {
   public:
    explicit Named(std::vector<RowColumn> columns) : RowSource("test") { set_columns(std::move(columns)); }
    bool next(RowChunk& /*chunk*/) override { return false; }
  };
  EXPECT_THROW(Named({}), Error);
  EXPECT_THROW(Named({{.name = ""}}), Error);
  EXPECT_THROW(Named({{.name = "a"}, {.name = "a"}}), Error);
  EXPECT_EQ(Named({{.name = "a"}, {.name = "b"}}).find("b"), 1U);
}

}  // namespace
}  // namespace ppan
