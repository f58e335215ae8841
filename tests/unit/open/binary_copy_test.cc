#include "ppan/open/binary_copy.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "ppan/core/error.h"

namespace ppan {
namespace {

using testing::ElementsAre;

const std::vector<RowColumn> kColumns{
    {.name = "flag", .storage = CellStorage::kInteger, .meaning = CellMeaning::kBoolean},
    {.name = "small", .storage = CellStorage::kInteger},
    {.name = "large", .storage = CellStorage::kInteger},
    {.name = "price", .storage = CellStorage::kInteger, .meaning = CellMeaning::kDecimal, .scale = 2},
    {.name = "real", .storage = CellStorage::kReal},
    {.name = "text"},
    {.name = "day", .storage = CellStorage::kInteger, .meaning = CellMeaning::kDate},
    {.name = "time", .storage = CellStorage::kInteger, .meaning = CellMeaning::kTimestamp}};
const std::vector<CopyType> kTypes{CopyType::kBoolean, CopyType::kInt2,     CopyType::kInt8,
                                   CopyType::kNumeric, CopyType::kFloat8,   CopyType::kText,
                                   CopyType::kDate,    CopyType::kTimestamp};

// Two rows and one without values.
void fill(RowChunk& chunk) {
  chunk.start(3, kColumns.size(), 0);
  chunk.buffer(0).integer = {1, 0, 0};
  chunk.buffer(1).integer = {-32768, 32767, 0};
  chunk.buffer(2).integer = {std::numeric_limits<std::int64_t>::min(),
                             std::numeric_limits<std::int64_t>::max(), 0};
  chunk.buffer(3).integer = {-1'234'567'805, 5, 0};
  chunk.buffer(4).real = {-1.5, 1e300, 0};
  for (const char* text : {"a, \"b\"", "", ""}) chunk.buffer(5).add_text(text);
  chunk.buffer(6).integer = {-719'162, 20'000, 0};
  chunk.buffer(7).integer = {-1, 1'700'000'000'123'456, 0};
  for (std::size_t c = 0; c < kColumns.size(); ++c) {
    CellBuffer& buffer = chunk.buffer(c);
    buffer.missing = {0, 0, 1};
    RowCells& cells = chunk.cells(c);
    cells.missing = buffer.missing.data();
    cells.integer = buffer.integer.data();
    cells.real = buffer.real.data();
    cells.text = buffer.text.data();
    cells.bytes = buffer.bytes.data();
  }
}

TEST(BinaryCopy, RowsComeBackHoweverTheyAreCut) {
  RowChunk in;
  fill(in);
  std::string bytes;
  append_copy_header(bytes);
  for (std::size_t r = 0; r < 3; ++r) append_copy_row(kColumns, kTypes, in, r, bytes);
  append_copy_end(bytes);
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    CopyReader reader("test", kTypes);
    RowChunk out;
    out.start(0, kColumns.size(), 0);
    std::int64_t rows = 0;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
      reader.feed(std::string_view(bytes).substr(at, step));
      rows = reader.take(out, kColumns, rows, 100);
    }
    EXPECT_TRUE(reader.ended());
    ASSERT_EQ(rows, 3);
    for (std::size_t c = 0; c < kColumns.size(); ++c) {
      EXPECT_THAT(out.buffer(c).missing, ElementsAre(0, 0, 1));
      EXPECT_EQ(out.buffer(c).integer, in.buffer(c).integer) << kColumns[c].name;
      EXPECT_EQ(out.buffer(c).real, in.buffer(c).real);
      EXPECT_EQ(out.buffer(c).bytes, in.buffer(c).bytes);
    }
  }
}

TEST(BinaryCopy, EveryCutAndEveryFlippedByteIsBadInputOrFewerRows) {
  RowChunk in;
  fill(in);
  std::string bytes;
  append_copy_header(bytes);
  for (std::size_t r = 0; r < 3; ++r) append_copy_row(kColumns, kTypes, in, r, bytes);
  append_copy_end(bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(~damaged[i]);
    for (const std::string& text : {damaged, bytes.substr(0, i)}) {
      CopyReader reader("test", kTypes);
      RowChunk out;
      out.start(0, kColumns.size(), 0);
      try {
        reader.feed(text);
        EXPECT_LE(reader.take(out, kColumns, 0, 100), 3);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kBadInput);
      }
    }
  }
}

TEST(BinaryCopy, ValuesThatDoNotFitAreRefused) {
  RowChunk in;
  fill(in);
  in.buffer(1).integer[0] = 40'000;
  std::string bytes;
  EXPECT_THROW(append_copy_row(kColumns, kTypes, in, 0, bytes), Error);
}

TEST(BinaryCopy, NumericOfTheManual) {
  // 12345.678: digits 1, 2345, 6780 of weight 1.
  const std::string field("\0\3\0\1\0\0\0\3\0\1\x09\x29\x1A\x7C", 14);
  EXPECT_DOUBLE_EQ(parse_numeric(field, 0).real, 12345.678);
  EXPECT_EQ(parse_numeric(field, 3).scaled, 12'345'678);
  EXPECT_EQ(parse_numeric(field, 2).scaled, 1'234'567);
  const std::string nan("\0\0\0\0\xC0\0\0\0", 8);
  EXPECT_FALSE(parse_numeric(nan, 2).finite);
  EXPECT_THROW(parse_numeric(field.substr(0, 13), 2), Error);
}

}  // namespace
}  // namespace ppan
