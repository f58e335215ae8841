#pragma once

// Delimited text as a sink.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "ppan/source/csv_writer.h"
#include "ppan/source/row_sink.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// Writes rows as delimited text in the given style.
class CsvSink final : public RowSink {
 public:
  /// `bytes` must outlive the sink, which does not finish it: finish() does nothing.
  CsvSink(ByteSink& bytes, TextStyle style);
  /// Owns where the bytes go.
  CsvSink(std::unique_ptr<ByteSink> bytes, TextStyle style);

  void begin(const std::vector<RowColumn>& columns) override;
  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override;
  void write(std::unique_ptr<Part> part) override;
  void finish() override;

 private:
  void append_rows(const RowChunk& rows, std::string& out) const;

  std::unique_ptr<ByteSink> owned_;
  ByteSink* bytes_;
  TextStyle style_;
  std::vector<RowColumn> columns_;
  // Quoted as need be, and with what follows the column in a row: a delimiter or a line end.
  std::vector<std::vector<std::string>> level_fields_;
  std::vector<std::string> missing_fields_;
};

}  // namespace ppan
