// For tables of every shape rapidcheck thinks of: text -> table -> encoding -> rows -> text changes nothing.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "ppan/encode/encoder.h"
#include "ppan/encode/layout.h"
#include "ppan/encode/row_decoder.h"
#include "ppan/source/csv_sink.h"
#include "ppan/source/csv_source.h"
#include "ppan/source/csv_writer.h"
#include "support/text_sink.h"

namespace ppan {
namespace {

using Row = std::vector<std::string>;

rc::Gen<std::string> integer_cell() {
  return rc::gen::map(rc::gen::inRange(-1000000000, 1000000001), [](int n) { return std::to_string(n); });
}

rc::Gen<std::string> fixed_cell(int decimals) {
  return rc::gen::map(rc::gen::inRange(-100000000, 100000001), [decimals](int n) {
    double power = 1;
    for (int i = 0; i < decimals; ++i) power *= 10;
    std::string out;
    append_number(n / power, {.decimals = decimals, .fixed = true}, out);
    return out;
  });
}

rc::Gen<std::string> word_cell() {
  return rc::gen::map(
      rc::gen::container<std::string>(rc::gen::elementOf(std::string("abc ,;\"\n\r\t'\xC3\xA9"))),
      [](std::string text) {
        // Keep the two bytes of the accented letter together, so that the text stays UTF-8.
        std::string out;
        for (const char c : text)
          out += c == '\xC3' || c == '\xA9' ? std::string("\xC3\xA9") : std::string(1, c);
        return out;
      });
}

rc::Gen<std::string> cell_of(int kind, bool holes) {
  rc::Gen<std::string> cell = kind == 0   ? integer_cell()
                              : kind == 1 ? fixed_cell(2)
                              : kind == 2 ? fixed_cell(4)
                                          : word_cell();
  if (!holes) return cell;
  return rc::gen::weightedOneOf<std::string>({{4, cell}, {1, rc::gen::just(std::string("?"))}});
}

RC_GTEST_PROP(RoundTrip, ReproducesTheTable, ()) {
  const int columns = *rc::gen::inRange(1, 6);
  const int count = *rc::gen::inRange(1, 40);
  std::vector<ColumnSpec> specs;
  std::vector<rc::Gen<std::string>> cells;
  for (int c = 0; c < columns; ++c) {
    const int kind = *rc::gen::inRange(0, 4);
    const bool holes = *rc::gen::arbitrary<bool>();
    ColumnSpec spec;
    spec.name = "c" + std::to_string(c);
    spec.type = kind == 0 ? ColumnType::kInteger : kind == 3 ? ColumnType::kCategory : ColumnType::kReal;
    if (kind != 3)
      spec.encoding =
          *rc::gen::element(NumericEncoding::kAuto, NumericEncoding::kRank, NumericEncoding::kStandard);
    specs.push_back(spec);
    cells.push_back(cell_of(kind, holes));
  }
  std::string text;
  Row header;
  for (const ColumnSpec& spec : specs) header.push_back(spec.name);
  append_row(header, ',', text);
  for (int r = 0; r < count; ++r) {
    Row row;
    for (const auto& cell : cells) row.push_back(*cell);
    append_row(row, ',', text);
  }

  CsvOptions options{.delimiter = ',', .missing = {"?"}, .chunk_rows = 7};
  CsvSource reader(memory_source(text), options);
  const Table table = read_table(reader, specs);
  for (const TableColumn& column : table.columns) {
    // A numeric column without numbers cannot be encoded, and one without values has no format to keep.
    RC_PRE(!is_numeric(column.type) || column.missing < table.rows);
  }
  const Encoding fitted =
      fit_encoding(table, specs, {.max_levels = 4096, .min_rows = 1, .grid_cost = 0, .missing = {"?"}});
  const Encoding encoding = encoding_from_json(nlohmann::json::parse(to_json(fitted).dump()));
  const Encoder encoder(encoding);
  std::vector<ReleasedColumn> released;
  for (int c = 0; c < columns; ++c)
    released.push_back({.name = specs[static_cast<std::size_t>(c)].name, .column = c});
  CsvSource again(memory_source(text), options);
  const auto bound = bind_columns(encoding, header, again);
  const Layout layout = make_layout(encoding, encoding.indices_of(header));
  const RowDecoder decoder(encoder, released, again.columns());
  TextSink bytes;
  CsvSink sink(bytes, again.style());
  sink.begin(decoder.columns());
  RowChunk chunk;
  RowChunk typed;
  EncodedRows rows;
  EncodedRows decoded;
  Matrix<double> matrix;
  while (again.next(chunk)) {
    encoder.encode(chunk, bound, UnknownRow::kFail, rows);
    RC_ASSERT(rows.faults.empty());
    to_matrix(rows, layout, matrix);
    from_matrix<double>(matrix, layout, decoded);
    decoder.decode(decoded, chunk, typed);
    sink.write(sink.pack(typed));
  }
  RC_ASSERT(bytes.text == text);
}

RC_GTEST_PROP(RoundTrip, NumbersStayInRangeAndOnTheGrid, (double v)) {
  const std::vector<ColumnSpec> specs{
      {.name = "x",
       .type = ColumnType::kReal,
       .encoding = *rc::gen::element(NumericEncoding::kRank, NumericEncoding::kStandard)}};
  CsvSource reader(memory_source("x\n1.5\n2.25\n-3\n40.75\n"));
  const ColumnEncoding column =
      fit_encoding(read_table(reader, specs), specs, {.min_rows = 1, .grid_cost = 0}).columns[0];
  const double x = column.decode(v);
  RC_ASSERT(x >= -3 && x <= 40.75);
  RC_ASSERT(x * 100 == std::nearbyint(x * 100) || std::abs(x * 100 - std::nearbyint(x * 100)) < 1e-9);
}

}  // namespace
}  // namespace ppan
