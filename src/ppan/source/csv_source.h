#pragma once

// Delimited text as a source: cells are views into the text that was read.

#include <filesystem>

#include "ppan/source/csv.h"
#include "ppan/source/row_source.h"

namespace ppan {

class CsvSource final : public RowSource {
 public:
  explicit CsvSource(CsvReader reader);
  /// As CsvReader's constructor.
  explicit CsvSource(std::unique_ptr<ByteSource> bytes, CsvOptions options = {});

  bool next(RowChunk& chunk) override;
  [[nodiscard]] std::optional<double> share_read() const override;

 private:
  CsvReader reader_;
};

/// Opens "-", plain and .gz files.
CsvSource open_csv_source(const std::filesystem::path& path, const CsvOptions& options = {});

}  // namespace ppan
