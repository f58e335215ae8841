#include "ppan/source/csv_source.h"

#include <utility>

namespace ppan {

CsvSource::CsvSource(CsvReader reader) : RowSource(reader.source_name()), reader_(std::move(reader)) {
  std::vector<RowColumn> columns;
  for (const std::string& name : reader_.names()) columns.push_back({.name = name});
  set_columns(std::move(columns));
  const CsvOptions& options = reader_.options();
  set_style({.missing = options.missing,
             .decimal = options.decimal,
             .delimiter = reader_.delimiter(),
             .header = options.header});
}

CsvSource::CsvSource(std::unique_ptr<ByteSource> bytes, CsvOptions options)
    : CsvSource(CsvReader(std::move(bytes), std::move(options))) {}

bool CsvSource::next(RowChunk& chunk) {
  auto& csv = chunk.held<CsvChunk>();
  if (!reader_.next(csv)) return false;
  chunk.start(csv.rows(), csv.columns(), csv.first_row());
  chunk.set_lines(csv.lines());
  for (std::size_t c = 0; c < csv.columns(); ++c) {
    RowCells& cells = chunk.cells(c);
    cells.bytes = csv.bytes();
    cells.text = csv.cells() + c;
    cells.stride = csv.columns();
  }
  return true;
}

std::optional<double> CsvSource::share_read() const {
  return reader_.share_read();
}

CsvSource open_csv_source(const std::filesystem::path& path, const CsvOptions& options) {
  return CsvSource(open_csv(path, options));
}

}  // namespace ppan
