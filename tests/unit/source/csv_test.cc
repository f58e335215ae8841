#include "ppan/source/csv.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "ppan/core/file.h"
#include "ppan/source/csv_writer.h"

namespace ppan {
namespace {

using Rows = std::vector<std::vector<std::string>>;
using testing::ElementsAre;

CsvReader reader_of(std::string text, CsvOptions options = {}) {
  return CsvReader(memory_source(std::move(text), "t.csv"), std::move(options));
}

Rows rows_of(CsvReader& reader) {
  Rows rows;
  CsvChunk chunk;
  while (reader.next(chunk)) {
    for (std::int64_t r = 0; r < chunk.rows(); ++r) {
      std::vector<std::string> row;
      for (std::size_t c = 0; c < chunk.columns(); ++c) row.emplace_back(chunk.cell(r, c));
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

Rows rows_of(std::string text, CsvOptions options = {}) {
  auto reader = reader_of(std::move(text), std::move(options));
  return rows_of(reader);
}

// what() and fix(), as a person would see them.
std::string error_of(std::string text, CsvOptions options = {}, ErrorCode code = ErrorCode::kBadInput) {
  try {
    rows_of(std::move(text), std::move(options));
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    return error.what_with_values() + "\n  fix: " + error.fix_with_values();
  }
  return "no error";
}

// Hands out one byte per call, so that every boundary falls everywhere.
class TrickleSource final : public ByteSource {
 public:
  TrickleSource(std::string bytes, std::size_t step)
      : ByteSource("t.csv"), bytes_(std::move(bytes)), step_(step) {}
  std::size_t read(char* to, std::size_t count) override {
    const std::size_t got = std::min({step_, count, bytes_.size() - used_});
    std::copy_n(bytes_.data() + used_, got, to);
    used_ += got;
    return got;
  }

 private:
  std::string bytes_;
  std::size_t step_;
  std::size_t used_ = 0;
};

TEST(Csv, PlainRows) {
  auto reader = reader_of("a,b\n1,x\n2,y\n");
  EXPECT_THAT(reader.names(), ElementsAre("a", "b"));
  EXPECT_EQ(reader.find("b"), 1U);
  EXPECT_EQ(reader.find("c"), std::nullopt);
  EXPECT_EQ(rows_of(reader), (Rows{{"1", "x"}, {"2", "y"}}));
}

TEST(Csv, ANameThatBeginsAsAByteOrderMarkIsWrittenSoThatItComesBack) {
  auto reader = reader_of(
      "\xEF\xBB\xBF\xEF\xBB\xBF"
      "a,b\n");
  ASSERT_THAT(reader.names(), ElementsAre("\xEF\xBB\xBF"
                                          "a",
                                          "b"));
  std::string written;
  append_row(reader.names(), ',', written);
  EXPECT_THAT(reader_of(written).names(), ElementsAre("\xEF\xBB\xBF"
                                                      "a",
                                                      "b"));
}

TEST(Csv, LastLineNeedsNoLineEnd) {
  EXPECT_EQ(rows_of("a,b\n1,x\n2,"), (Rows{{"1", "x"}, {"2", ""}}));
}

TEST(Csv, ANameThatBeginsAsAZipArchiveIsWrittenSoThatItComesBack) {
  const std::vector<std::string> names{"PK\x03\x04", "b"};
  std::string written;
  append_row(names, ',', written);
  EXPECT_THAT(reader_of(written).names(), ElementsAre("PK\x03\x04", "b"));
}

TEST(Csv, QuotesHoldDelimitersLineEndsAndQuotes) {
  EXPECT_EQ(rows_of("a,b\n\"x,y\",\"he said \"\"no\"\"\"\n\"two\nlines\",\"\"\n"),
            (Rows{{"x,y", "he said \"no\""}, {"two\nlines", ""}}));
}

TEST(Csv, QuoteInsideAnUnquotedFieldIsText) {
  EXPECT_EQ(rows_of("a,b\n5\" pipe,x\"y\"\n"), (Rows{{"5\" pipe", "x\"y\""}}));
}

TEST(Csv, CarriageReturnsBelongToLineEndsOnly) {
  EXPECT_EQ(rows_of("a,b\r\n1,\"x\"\r\n2,y\rz\r\n"), (Rows{{"1", "x"}, {"2", "y\rz"}}));
}

TEST(Csv, ByteOrderMarkIsNotPartOfTheName) {
  EXPECT_THAT(reader_of("\xEF\xBB\xBF"
                        "a,b\n1,2\n")
                  .names(),
              ElementsAre("a", "b"));
}

TEST(Csv, BlankLinesAreSkippedExceptInOneColumn) {
  EXPECT_EQ(rows_of("\n\na,b\n\n1,2\n\r\n3,4\n\n"), (Rows{{"1", "2"}, {"3", "4"}}));
  EXPECT_EQ(rows_of("a\n1\n\n2\n"), (Rows{{"1"}, {""}, {"2"}}));
}

TEST(Csv, WithoutHeaderColumnsAreNumberedAndNoRowIsLost) {
  auto reader = reader_of("1,\"a \"\"q\"\"\"\n2,b\n", {.header = false});
  EXPECT_THAT(reader.names(), ElementsAre("column1", "column2"));
  EXPECT_EQ(rows_of(reader), (Rows{{"1", "a \"q\""}, {"2", "b"}}));
}

TEST(Csv, AnUnnamedColumnGetsItsNumber) {
  EXPECT_THAT(reader_of(",a\n0,1\n").names(), ElementsAre("column1", "a"));
}

TEST(Csv, TrimDropsSpacesOutsideQuotes) {
  const CsvOptions trim{.delimiter = ',', .trim = true};
  EXPECT_EQ(rows_of("a, b\n 1 , \" x \" \n", trim), (Rows{{"1", " x "}}));
  EXPECT_EQ(rows_of("a, b\n 1 , x\n", {.delimiter = ','}), (Rows{{" 1 ", " x"}}));
}

TEST(Csv, DelimiterIsDetected) {
  EXPECT_EQ(reader_of("a;b\n1,5;2,5\n").delimiter(), ';');
  EXPECT_EQ(reader_of("a\tb c\n1\t2,3\n").delimiter(), '\t');
  EXPECT_EQ(reader_of("a|b\n1|2\n").delimiter(), '|');
  EXPECT_EQ(reader_of("a\n1\n").delimiter(), ',');
  EXPECT_EQ(reader_of("a,b\n\"1;2;3\",2\n").delimiter(), ',');
}

TEST(Csv, LinesCountEmbeddedLineEnds) {
  auto reader = reader_of("a,b\n\"x\ny\",1\n2,3\n");
  CsvChunk chunk;
  ASSERT_TRUE(reader.next(chunk));
  EXPECT_EQ(chunk.line(0), 2);
  EXPECT_EQ(chunk.line(1), 4);
}

TEST(Csv, ChunksCoverTheFileInOrder) {
  std::string text = "n,text\n";
  for (int i = 0; i < 1000; ++i) text += std::to_string(i) + ",\"v " + std::to_string(i) + "\"\n";
  auto reader = reader_of(text, {.chunk_rows = 7});
  CsvChunk chunk;
  std::int64_t seen = 0;
  while (reader.next(chunk)) {
    EXPECT_EQ(chunk.first_row(), seen);
    EXPECT_LE(chunk.rows(), 7);
    for (std::int64_t r = 0; r < chunk.rows(); ++r, ++seen) {
      EXPECT_EQ(chunk.cell(r, 0), std::to_string(seen));
      EXPECT_EQ(chunk.cell(r, 1), "v " + std::to_string(seen));
      EXPECT_EQ(chunk.line(r), seen + 2);
    }
  }
  EXPECT_EQ(seen, 1000);
}

TEST(Csv, WhereReadsEndDoesNotMatter) {
  std::string text = "a,b,c\r\n";
  for (int i = 0; i < 60; ++i)
    text += "\"q\"\"" + std::to_string(i) + "\",plain\xC3\xA9,\"two\r\nlines\"\r\n" +
            std::string(i % 5, 'x') + ",,\r\n";
  const Rows whole = rows_of(text);
  ASSERT_EQ(whole.size(), 120U);
  for (const std::size_t step : {1U, 2U, 3U, 7U, 63U, 64U, 65U}) {
    CsvReader reader(std::make_unique<TrickleSource>(text, step));
    EXPECT_EQ(rows_of(reader), whole) << "step " << step;
  }
}

TEST(Csv, RowsLongerThanABlockAreRead) {
  const std::string big(300000, 'x');
  EXPECT_EQ(rows_of("a,b\n\"" + big + "\",1\n" + big + ",2\n"), (Rows{{big, "1"}, {big, "2"}}));
}

TEST(Csv, GzipFilesAreReadAndDamageIsSeen) {
  const auto path = std::filesystem::temp_directory_path() / "ppan_csv_test.csv.gz";
  std::string text = "a,b\n";
  for (int i = 0; i < 20000; ++i) text += std::to_string(i) + ",x\n";
  {
    const auto sink = open_sink(path);
    sink->write(text);
    sink->finish();
  }
  auto reader = open_csv(path);
  EXPECT_EQ(rows_of(reader).size(), 20000U);
  const std::string packed = read_file(path);
  write_file(path, packed + packed);  // members of a concatenated file follow each other
  auto twice = open_csv(path);
  EXPECT_EQ(rows_of(twice).size(), 40001U);
  write_file(path, packed.substr(0, packed.size() / 2));
  EXPECT_THROW(
      {
        auto cut = open_csv(path);
        rows_of(cut);
      },
      Error);
  std::filesystem::remove(path);
}

TEST(Csv, MissingMarkersIgnoreSpaces) {
  const CsvOptions options;
  for (const char* cell : {"", "  ", "NA", " NA ", "?", "NaN", "null"})
    EXPECT_TRUE(is_missing(cell, options.missing));
  for (const char* cell : {"0", "none", "na!", "-"}) EXPECT_FALSE(is_missing(cell, options.missing));
}

TEST(CsvError, RaggedRow) {
  EXPECT_EQ(error_of("a,b,c\n1,2,3\n4,5\n"),
            "t.csv line 3: the row has 2 fields, but the header has 3\n"
            "  options: delimiter=, (detected)  header=true\n"
            "  fix: quote fields that hold the delimiter or a line end, or set read.delimiter");
  EXPECT_EQ(error_of("a;b\n1;2;3\n", {.delimiter = ';'}),
            "t.csv line 2: the row has 3 fields, but the header has 2\n"
            "  options: delimiter=; (given)  header=true\n"
            "  fix: quote fields that hold the delimiter or a line end, or set read.delimiter");
}

TEST(CsvError, RepeatedName) {
  EXPECT_EQ(error_of("a,b,a\n1,2,3\n"),
            "t.csv line 1: fields 1 and 3 of the header are both named \"a\"\n"
            "  fix: rename one of them, or set read.header = false");
}

TEST(CsvError, EmptyFile) {
  EXPECT_EQ(error_of(""), "t.csv is empty\n  fix: ");
  EXPECT_EQ(error_of("\n\n"), "t.csv holds no rows\n  fix: ");
}

TEST(CsvError, UnclosedQuote) {
  EXPECT_EQ(
      error_of("a,b\n1,\"x\n2,y\n"),
      "t.csv line 2: a quoted field in the row that starts here is never closed; it begins \"x\\n2,y\\n\"\n"
      "  options: delimiter=, (detected)  header=true\n"
      "  fix: close the quote, or write a quote inside a field as \"\"");
}

TEST(CsvError, TextBehindAQuote) {
  EXPECT_THAT(error_of("a,b\n1,\"x\"y\n"),
              testing::HasSubstr("t.csv line 2: text follows a closing quote: \"\\\"x\\\"y"));
}

TEST(CsvError, BinaryFiles) {
  EXPECT_EQ(error_of(std::string("a,b\n1,\0\n", 8)),
            "t.csv line 2: the file holds a NUL byte, so it is not text\n"
            "  fix: give a CSV or TSV file (UTF-8)");
  EXPECT_THAT(error_of("\x1F\x8B\x08 and so on"), testing::HasSubstr("compressed with gzip"));
  EXPECT_THAT(error_of(std::string("PK\x03\x04", 4) + "rest"), testing::HasSubstr("spreadsheet"));
  EXPECT_THAT(error_of("\xFF\xFE"
                       "a"),
              testing::HasSubstr("UTF-16"));
  EXPECT_THAT(error_of("a,b\r1,2\r"), testing::HasSubstr("carriage return alone"));
}

TEST(CsvError, InvalidUtf8NamesTheLine) {
  EXPECT_EQ(error_of("a,b\n1,caf\xE9\n"),
            "t.csv line 2: byte 0x0A is not valid UTF-8\n"
            "  fix: convert the file, for example: iconv -f LATIN1 -t UTF-8 in.csv > out.csv");
  // Overlong, surrogate, beyond U+10FFFF, stray continuation, cut at the end.
  for (const char* bad : {"\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80", "\x80", "\xE2\x82"})
    EXPECT_THAT(error_of(std::string("a\n12345678") + bad), testing::HasSubstr("UTF-8")) << bad;
  EXPECT_EQ(rows_of("a\n\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\n"),
            (Rows{{"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"}}));
}

TEST(CsvError, Caps) {
  CsvOptions options;
  options.limits = {.field_bytes = 10, .row_bytes = 100, .columns = 3};
  EXPECT_THAT(error_of("a,b\n12345678901,1\n", options),
              testing::HasSubstr("field 1 is longer than 10 bytes"));
  EXPECT_THAT(error_of("a,b,c,d\n", options), testing::HasSubstr("more than 3 fields"));
  options.limits.field_bytes = std::size_t{1} << 20U;
  EXPECT_THAT(error_of("a,b\n1,\"" + std::string(100000, 'x'), options),
              testing::HasSubstr("longer than 100 bytes"));
  EXPECT_EQ(rows_of("a,b\n1234567890,1\n", options), (Rows{{"1234567890", "1"}}));
}

// Reads all of `text`, `step` bytes at a time, and returns what the reader did, in bytes for each of the
// text.
double work_per_byte(std::string text, std::size_t step, CsvOptions options = {}) {
  class Steps final : public ByteSource {
   public:
    Steps(std::string bytes, std::size_t size) : ByteSource("t.csv"), bytes_(std::move(bytes)), size_(size) {}
    std::size_t read(char* to, std::size_t count) override {
      const std::size_t got = bytes_.copy(to, std::min(count, size_), used_);
      used_ += got;
      return got;
    }

   private:
    std::string bytes_;
    std::size_t size_;
    std::size_t used_ = 0;
  };
  const auto size = static_cast<double>(text.size());
  CsvReader reader(std::make_unique<Steps>(std::move(text), step), std::move(options));
  CsvChunk chunk;
  while (reader.next(chunk)) {
  }
  return static_cast<double>(reader.work()) / size;
}

// Four times the text may take four times the work and no more, whatever the text is and however it arrives.
TEST(Csv, WorkIsLinear) {
  const auto repeated = [](const std::string& part, std::size_t bytes) {
    std::string out;
    while (out.size() < bytes) out += part;
    return out;
  };
  const std::size_t small = std::size_t{1} << 19U;
  const std::vector<std::pair<const char*, std::function<std::string(std::size_t)>>> texts{
      {"rows", [&](std::size_t n) { return "a,b\n" + repeated("1,2\n", n); }},
      {"blank lines before the header", [&](std::size_t n) { return repeated("\n", n) + "a,b\n1,2\n"; }},
      {"blank lines after it", [&](std::size_t n) { return "a,b\n" + repeated("\r\n", n) + "1,2\n"; }},
      {"quoted blanks before it", [&](std::size_t n) { return repeated("\"\"\n", n) + "a,b\n1,2\n"; }},
      {"one long row", [&](std::size_t n) { return "a,b\n1,\"" + repeated("\"\"", n) + "\"\n"; }},
      {"a long row, then short ones",
       [&](std::size_t n) { return "a,b\n1,\"" + repeated("x\n", n) + "\"\n" + repeated("1,2\n", n); }}};
  CsvOptions options;
  options.delimiter = ',';
  options.chunk_rows = 16;
  options.limits.field_bytes = std::size_t{1} << 24U;
  for (const auto& [name, text] : texts) {
    for (const std::size_t step : {std::size_t{1} << 20U, std::size_t{100}}) {
      const double once = work_per_byte(text(small), step, options);
      const double four_times = work_per_byte(text(4 * small), step, options);
      EXPECT_LT(four_times, 1.5 * once + 1) << name << ", " << step << " bytes at a time";
      EXPECT_LT(four_times, 40) << name << ", " << step << " bytes at a time";
    }
  }
}

TEST(ByteSource, ACompressedFileUnpacksToNoMoreThanAllowed) {
  const auto path =
      std::filesystem::temp_directory_path() / ("ppan_bomb_" + std::to_string(::getpid()) + ".csv.gz");
  {
    const auto sink = open_sink(path);
    sink->write("a,b\n");
    for (int i = 0; i < 1000; ++i) sink->write(std::string(1000, '\n'));
    sink->finish();
  }
  CsvOptions options;
  options.limits.unpacked_bytes = 500000;
  std::string message;
  try {
    CsvReader reader = open_csv(path, options);
    CsvChunk chunk;
    while (reader.next(chunk)) {
    }
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kBadInput);
    EXPECT_THAT(error.fix(), testing::HasSubstr("--max-unpacked"));
    message = error.what();
  }
  EXPECT_THAT(message, testing::HasSubstr("unpacks to more than 500000 bytes"));
  options.limits.unpacked_bytes = 1000004;
  CsvReader reader = open_csv(path, options);
  CsvChunk chunk;
  EXPECT_FALSE(reader.next(chunk));
  std::filesystem::remove(path);
}

TEST(ByteSource, AHeadThatWasReadIsPutBack) {
  auto source = memory_source("abcdef");
  std::string head(2, '\0');
  ASSERT_EQ(source->read(head.data(), 2), 2U);
  const auto whole = continued_source(head, std::move(source));
  std::string all;
  char byte = 0;
  while (whole->read(&byte, 1) == 1) all += byte;
  EXPECT_EQ(all, "abcdef");
}

TEST(CsvError, BadOptionsAreAllListed) {
  const std::string text =
      error_of("a\n", {.delimiter = '"', .decimal = ';', .chunk_rows = 0}, ErrorCode::kUsage);
  for (const char* field : {"delimiter", "decimal", "chunk_rows"})
    EXPECT_THAT(text, testing::HasSubstr(field));
}

TEST(CsvError, MissingFileAndDirectory) {
  try {
    open_csv("/nonexistent/t.csv");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_STREQ(error.what(), "cannot open /nonexistent/t.csv: No such file or directory");
  }
  EXPECT_THROW(open_csv("/"), Error);
}

TEST(Guess, SemicolonsDecimalCommasAndSpaces) {
  const auto guess = guess_csv("name;x\na;1,5\nb;2,25\n");
  EXPECT_EQ(guess.delimiter, ';');
  EXPECT_EQ(guess.decimal, ',');
  EXPECT_TRUE(guess.header);
  EXPECT_TRUE(guess.unsure.empty());
  EXPECT_TRUE(guess_csv("39, State-gov, 77516\n50, Private, 83311\n").trim);
  EXPECT_FALSE(guess_csv("39, State-gov, 77516\n50, Private, 83311\n").header);
}

TEST(Guess, SaysWhenItCannotTell) {
  EXPECT_EQ(guess_csv("a,b\nx,y\n").unsure.size(), 1U);
  EXPECT_EQ(guess_csv("a\n1\n").unsure.size(), 1U);
}

TEST(Writer, QuotesOnlyWhereNeeded) {
  std::string out;
  append_row(std::vector<std::string>{"plain", "with,comma", "say \"x\"", "two\nlines", "", " edge", "a;b"},
             ',', out);
  EXPECT_EQ(out, "plain,\"with,comma\",\"say \"\"x\"\"\",\"two\nlines\",, edge,a;b\n");
}

TEST(Writer, WhatIsWrittenReadsBackEqual) {
  const Rows rows{{"a\"b", " x ", "1,5"}, {"\r", "\n", "\t"}, {"", "\"", "\"\""}};
  for (const char delimiter : {',', ';', '\t', '|'}) {
    std::string text;
    append_row(std::vector<std::string>{"p", "q", "r"}, delimiter, text);
    for (const auto& row : rows) append_row(row, delimiter, text);
    EXPECT_EQ(rows_of(text, {.delimiter = delimiter, .decimal = '.'}), rows);
  }
}

TEST(Sink, NothingIsLeftWithoutFinish) {
  const auto directory = std::filesystem::temp_directory_path() / "ppan_sink_test";
  std::filesystem::remove_all(directory);
  std::filesystem::create_directory(directory);
  const auto path = directory / "out.csv";
  write_file(path, "before");
  {
    const auto sink = open_sink(path);
    sink->write("half");
  }
  EXPECT_EQ(read_file(path), "before");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory), {}), 1);
  {
    const auto sink = open_sink(path);
    sink->write("after");
    sink->finish();
  }
  EXPECT_EQ(read_file(path), "after");
  std::filesystem::remove_all(directory);
  EXPECT_THROW(open_sink(path), Error);
}

TEST(Sink, FullDiskIsAnError) {
  const auto sink = open_sink("/dev/full");
  try {
    sink->write("x");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  }
}

}  // namespace
}  // namespace ppan
