// Arrow streams, in and out. The sink's own stream is the producer, so that no library of Arrow is needed;
// that other programs read and write the same is what python/tests shows.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/source/arrow_sink.h"
#include "ppan/source/arrow_source.h"

namespace ppan {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

RowColumn column(const std::string& name, CellStorage storage, CellMeaning meaning = CellMeaning::kPlain) {
  RowColumn out;
  out.name = name;
  out.storage = storage;
  out.meaning = meaning;
  return out;
}

// Two rows of each kind, the second missing where that can be.
void fill(RowChunk& chunk, const std::vector<RowColumn>& columns) {
  static const std::vector<double> reals{1.5, std::numeric_limits<double>::quiet_NaN()};
  static const std::vector<std::int64_t> integers{1, 0};
  static const std::vector<std::int32_t> codes{1, 0};
  static const std::vector<std::uint8_t> missing{0, 1};
  chunk.start(2, columns.size(), 0);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    RowCells& cells = chunk.cells(c);
    cells.missing = missing.data();
    cells.real = reals.data();
    cells.integer = integers.data();
    if (columns[c].storage != CellStorage::kText) continue;
    if (columns[c].levels) {
      cells.code = codes.data();
      cells.levels = columns[c].levels.get();
      continue;
    }
    CellBuffer& own = chunk.buffer(c);
    own.clear();
    own.add_text("grün");
    own.add_text("");
    cells.bytes = own.bytes.data();
    cells.text = own.text.data();
  }
}

std::vector<RowColumn> every_kind() {
  std::vector<RowColumn> columns{column("text", CellStorage::kText),
                                 column("level", CellStorage::kText),
                                 column("real", CellStorage::kReal),
                                 column("whole", CellStorage::kInteger),
                                 column("flag", CellStorage::kInteger, CellMeaning::kBoolean),
                                 column("day", CellStorage::kInteger, CellMeaning::kDate),
                                 column("time", CellStorage::kInteger, CellMeaning::kTimestamp),
                                 column("instant", CellStorage::kInteger, CellMeaning::kInstant),
                                 column("price", CellStorage::kInteger, CellMeaning::kDecimal)};
  columns[1].levels = std::make_shared<const Levels>(Levels{"no", "yes"});
  columns[8].scale = 2;
  return columns;
}

ArrowArrayStream stream_of(const std::vector<RowColumn>& columns, int chunks,
                           std::vector<ArrowType> like = {}) {
  ArrowSink sink(std::move(like));
  sink.begin(columns);
  RowChunk chunk;
  for (int i = 0; i < chunks; ++i) {
    fill(chunk, columns);
    sink.write(sink.pack(chunk));
  }
  sink.finish();
  return sink.take();
}

std::vector<std::string> texts_of(ArrowSource& source) {
  std::vector<std::string> out;
  RowChunk chunk;
  while (source.next(chunk)) {
    for (std::size_t r = 0; r < static_cast<std::size_t>(chunk.rows()); ++r) {
      std::string& line = out.emplace_back();
      for (std::size_t c = 0; c < source.columns().size(); ++c) {
        if (c > 0) line += '|';
        append_text(source.columns()[c], chunk.cells(c), r, line);
      }
    }
  }
  return out;
}

TEST(Arrow, EveryKindComesBackAsItWas) {
  ArrowSource source(stream_of(every_kind(), 1));
  EXPECT_EQ(source.columns()[4].meaning, CellMeaning::kBoolean);
  EXPECT_EQ(source.columns()[8].scale, 2);
  EXPECT_THAT(texts_of(source), ElementsAre("grün|yes|1.5|1|true|1970-01-02|1970-01-01 00:00:00.000001|"
                                            "1970-01-01 00:00:00.000001|0.01",
                                            "||||||||"));
}

TEST(Arrow, ChunksKeepTheirOrderAndCount) {
  ArrowSource source(stream_of(every_kind(), 700));
  std::int64_t rows = 0;
  RowChunk chunk;
  while (source.next(chunk)) {
    EXPECT_EQ(chunk.first_row(), rows);
    EXPECT_LE(chunk.rows(), kChunkRows);
    rows += chunk.rows();
  }
  EXPECT_EQ(rows, 1400);
  EXPECT_FALSE(source.next(chunk));
}

TEST(Arrow, ColumnsTakeTheTypesTheyAreToBeLike) {
  std::vector<ArrowType> like(3);
  like[0].name = "whole";
  like[0].format = "c";
  like[0].storage = CellStorage::kInteger;
  like[1].name = "text";
  like[1].format = "U";
  like[2].name = "real";
  like[2].format = "f";
  like[2].storage = CellStorage::kReal;
  ArrowSource source(stream_of(every_kind(), 1, like));
  EXPECT_EQ(source.types()[0].format, "U");
  EXPECT_EQ(source.types()[2].format, "f");
  EXPECT_EQ(source.types()[3].format, "c");
  EXPECT_THAT(texts_of(source)[0], HasSubstr("grün|yes|1.5|1|"));
}

TEST(Arrow, AStreamWithoutRowsHasColumns) {
  ArrowSource source(stream_of(every_kind(), 0));
  EXPECT_EQ(source.columns().size(), 9U);
  RowChunk chunk;
  EXPECT_FALSE(source.next(chunk));
}

TEST(Arrow, TextIsNeverTakenForMissing) {
  ArrowSource source(stream_of(every_kind(), 1));
  EXPECT_TRUE(source.style().missing.empty());
}

TEST(Arrow, ColumnsOfOneNameAreRefused) {
  EXPECT_THROW(
      ArrowSource source(stream_of({column("a", CellStorage::kReal), column("a", CellStorage::kReal)}, 1)),
      Error);
}

TEST(Arrow, WhatCannotBeUsedIsNamed) {
  ArrowSchema schema{};
  schema.format = "+l";
  schema.name = "friends";
  try {
    static_cast<void>(arrow_type(schema));
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("friends"));
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
  }
}

}  // namespace
}  // namespace ppan
