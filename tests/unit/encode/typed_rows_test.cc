// The same table as text and as typed cells: one encoding, one release.

#include <gmock/gmock.h>

#include <cmath>

#include "ppan/core/error.h"
#include "ppan/encode/encoder.h"
#include "ppan/encode/row_decoder.h"
#include "ppan/read/profile.h"
#include "ppan/source/calendar.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"
#include "support/text_sink.h"

namespace ppan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kText =
    "n,price,share,day,time,flag,job\n"
    "1,12.50,0.5,2024-01-31,2024-01-31 12:30:00,true,clerk\n"
    "2,7.25,0.25,2023-12-01,2024-02-01 00:00:00,false,nurse\n"
    "3,9.00,0.125,2024-02-29,2024-03-01 08:15:30,true,clerk\n"
    ",20.75,0.75,2020-05-05,2024-01-01 23:59:59,false,nurse\n";

// The same cells, from a source that types its columns.
class TypedSource final : public RowSource {
 public:
  TypedSource() : RowSource("typed") {
    const auto integers = [](const char* name, CellMeaning meaning, const char* type) {
      return RowColumn{.name = name, .storage = CellStorage::kInteger, .meaning = meaning, .sql_type = type};
    };
    std::vector<RowColumn> columns{integers("n", CellMeaning::kPlain, "INTEGER"),
                                   integers("price", CellMeaning::kDecimal, "DECIMAL(10,2)"),
                                   {.name = "share", .storage = CellStorage::kReal},
                                   integers("day", CellMeaning::kDate, "DATE"),
                                   integers("time", CellMeaning::kTimestamp, "TIMESTAMP"),
                                   integers("flag", CellMeaning::kBoolean, "BOOLEAN"),
                                   {.name = "job"}};
    columns[1].scale = 2;
    set_columns(std::move(columns));
  }
  bool next(RowChunk& chunk) override {
    if (done_) return false;
    done_ = true;
    chunk.start(4, 7, 0);
    for (std::size_t c = 0; c < 7; ++c) chunk.buffer(c).clear();
    chunk.buffer(0).integer = {1, 2, 3, 0};
    chunk.buffer(0).missing = {0, 0, 0, 1};
    chunk.cells(0).missing = chunk.buffer(0).missing.data();
    chunk.buffer(1).integer = {1250, 725, 900, 2075};
    chunk.buffer(2).real = {0.5, 0.25, 0.125, 0.75};
    for (const char* day : {"2024-01-31", "2023-12-01", "2024-02-29", "2020-05-05"})
      chunk.buffer(3).integer.push_back(*parse_date(day));
    for (const char* time :
         {"2024-01-31 12:30:00", "2024-02-01 00:00:00", "2024-03-01 08:15:30", "2024-01-01 23:59:59"})
      chunk.buffer(4).integer.push_back(*parse_timestamp(time));
    chunk.buffer(5).integer = {1, 0, 1, 0};
    for (const char* job : {"clerk", "nurse", "clerk", "nurse"}) chunk.buffer(6).add_text(job);
    for (std::size_t c = 0; c < 7; ++c) {
      chunk.cells(c).integer = chunk.buffer(c).integer.data();
      chunk.cells(c).real = chunk.buffer(c).real.data();
      chunk.cells(c).text = chunk.buffer(c).text.data();
      chunk.cells(c).bytes = chunk.buffer(c).bytes.data();
    }
    return true;
  }

 private:
  bool done_ = false;
};

const std::vector<ColumnSpec> kSpecs{{.name = "n", .type = ColumnType::kInteger},
                                     {.name = "price", .type = ColumnType::kReal},
                                     {.name = "share", .type = ColumnType::kReal},
                                     {.name = "day", .type = ColumnType::kDate},
                                     {.name = "time", .type = ColumnType::kTimestamp},
                                     {.name = "flag"},
                                     {.name = "job"}};
const EncodingOptions kExact{.min_rows = 1, .grid_cost = 0, .missing = {""}};

std::string released_text(const Encoding& encoding, RowSource& source,
                          std::vector<RowColumn>* types = nullptr) {
  const Encoder encoder(encoding);
  std::vector<std::string> names = source.column_names();
  const auto bound = bind_columns(encoding, names, source);
  std::vector<ReleasedColumn> released;
  for (const std::string& name : names) released.push_back({.name = name, .column = encoding.index_of(name)});
  const RowDecoder decoder(encoder, released, source.columns());
  if (types != nullptr) *types = decoder.columns();
  TextSink bytes;
  CsvSink sink(bytes, source.style());
  sink.begin(decoder.columns());
  RowChunk chunk;
  RowChunk decoded;
  EncodedRows rows;
  while (source.next(chunk)) {
    encoder.encode(chunk, bound, UnknownRow::kFail, rows);
    EXPECT_TRUE(rows.faults.empty());
    decoder.decode(rows, chunk, decoded);
    sink.write(sink.pack(decoded));
  }
  return bytes.text;
}

TEST(TypedRows, AreTheSameTableAsTheirText) {
  CsvSource text{memory_source(kText)};
  TypedSource typed;
  const Table a = read_table(text, kSpecs);
  const Table b = read_table(typed, kSpecs);
  for (std::size_t c = 0; c < kSpecs.size(); ++c) {
    EXPECT_EQ(a.columns[c].missing, b.columns[c].missing);
    EXPECT_EQ(a.columns[c].code, b.columns[c].code);
    EXPECT_EQ(a.columns[c].level, b.columns[c].level);
    for (std::size_t r = 0; r < a.columns[c].number.size(); ++r) {
      if (std::isnan(a.columns[c].number[r])) continue;
      EXPECT_EQ(a.columns[c].number[r], b.columns[c].number[r]);
    }
  }
}

TEST(TypedRows, AreReleasedWithTheirTypesAndAsTheSameText) {
  CsvSource text{memory_source(kText)};
  const Encoding encoding = fit_encoding(read_table(text, kSpecs), kSpecs, kExact);
  CsvSource again{memory_source(kText)};
  EXPECT_EQ(released_text(encoding, again), kText);
  TypedSource typed;
  std::vector<RowColumn> types;
  EXPECT_EQ(released_text(encoding, typed, &types), kText);
  std::vector<std::string> kept;
  for (const RowColumn& column : types) kept.push_back(column.sql_type);
  EXPECT_THAT(kept, ElementsAre("INTEGER", "DECIMAL(10,2)", "", "DATE", "TIMESTAMP", "BOOLEAN", ""));
  EXPECT_EQ(types[1].meaning, CellMeaning::kDecimal);
  EXPECT_EQ(types[5].meaning, CellMeaning::kBoolean);
  EXPECT_EQ(types[6].storage, CellStorage::kText);
}

TEST(TypedRows, ColumnsThatMeanSomethingElseAreRefused) {
  TypedSource typed;
  const std::vector<ColumnSpec> wrong{{.name = "day", .type = ColumnType::kInteger},
                                      {.name = "n", .type = ColumnType::kDate}};
  try {
    read_table(typed, wrong);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.what(), HasSubstr("day: holds dates, but its type is integer"));
    EXPECT_THAT(error.what(), HasSubstr("n: holds numbers, but its type is date"));
  }
}

TEST(TypedRows, TypesAreNotGuessed) {
  TypedSource typed;
  const TableProfile profile = profile_table(typed);
  std::vector<ColumnType> types;
  for (const ColumnProfile& column : profile.columns) {
    types.push_back(guess_type(column).type);
    EXPECT_TRUE(guess_type(column).sure) << column.name;
  }
  EXPECT_THAT(types,
              ElementsAre(ColumnType::kInteger, ColumnType::kReal, ColumnType::kReal, ColumnType::kDate,
                          ColumnType::kTimestamp, ColumnType::kCategory, ColumnType::kCategory));
}

TEST(TypedRows, MarkersThatAreNumbersHoldForNumbers) {
  TypedSource typed;
  const std::vector<ColumnSpec> specs{{.name = "n", .type = ColumnType::kInteger, .missing = {"2"}}};
  EXPECT_EQ(read_table(typed, specs).columns[0].missing, 2);
}

}  // namespace
}  // namespace ppan
