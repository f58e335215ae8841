#pragma once

// Small tables for tests: written as text, read and encoded as a user's would be.

#include <fmt/format.h>

#include <numeric>
#include <string>
#include <vector>

#include "ppan/encode/encoder.h"
#include "ppan/read/table.h"
#include "ppan/source/byte_source.h"
#include "ppan/source/csv_source.h"

namespace ppan::testing {

inline Table table_of(const std::string& csv, const Schema& schema) {
  CsvSource reader(memory_source(csv));
  return read_table(reader, schema.columns);
}

struct EncodedTable {
  Schema schema;
  Encoding encoding;
  EncodedRows rows;  ///< Every column.
};

inline EncodedTable encoded(const std::string& csv, const Schema& schema) {
  const Table table = table_of(csv, schema);
  EncodedTable out{schema, fit_encoding(table, schema.columns, {.min_rows = 1, .grid_cost = 0}), {}};
  std::vector<std::int32_t> every(out.encoding.columns.size());
  std::iota(every.begin(), every.end(), 0);
  Encoder(out.encoding).encode(table, every, UnknownRow::kFail, out.rows);
  return out;
}

inline ColumnSpec category(std::string name) {
  return {.name = std::move(name)};
}
inline ColumnSpec real(std::string name) {
  return {.name = std::move(name), .type = ColumnType::kReal, .encoding = NumericEncoding::kStandard};
}

/// A sensitive coin x, a colour that shows it with probability 1 - `hidden` (otherwise drawn at random), an
/// unrelated shape, a number that grows with x unless `hidden` is 1, and is missing in a tenth of the rows.
inline std::string mixed_csv(int rows, double hidden, std::uint64_t seed) {
  SeededRandom random(seed);
  const std::vector<std::string> colours{"red", "green", "blue"};
  const std::vector<std::string> shapes{"round", "square", "long", "flat"};
  std::string csv = "x,colour,shape,size\n";
  for (int r = 0; r < rows; ++r) {
    const bool x = random.uniform() < 0.5;
    const bool shown = random.uniform() >= hidden;
    const auto colour = shown ? (x ? 0 : 1) : random.index(3);
    const auto shape = random.index(4);
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.uniform();  // near normal, mean 6, variance 1
    const double size = sum - 6 + (x ? 2.0 : 0.0) * (1 - hidden);
    const bool missing = random.uniform() < 0.1;
    csv += fmt::format("{},{},{},{}\n", x ? "yes" : "no", colours[static_cast<std::size_t>(colour)],
                       shapes[static_cast<std::size_t>(shape)], missing ? "" : fmt::format("{:.3f}", size));
  }
  return csv;
}
inline Schema mixed_schema() {
  Schema schema;
  schema.columns = {category("x"), category("colour"), category("shape"), real("size")};
  schema.sensitive = {"x"};
  schema.useful = {"colour", "shape", "size"};
  return schema;
}

}  // namespace ppan::testing
