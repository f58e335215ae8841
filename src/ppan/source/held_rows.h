#pragma once

// Rows kept in memory, to be read any number of times.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/source/row_sink.h"
#include "ppan/source/row_source.h"

namespace ppan {

/// SHA-256 of columns and cells: equal for equal tables, however they were divided into chunks.
class RowFingerprint {
 public:
  explicit RowFingerprint(std::vector<RowColumn> columns);
  void add(const RowChunk& chunk);
  [[nodiscard]] std::string finish();

 private:
  void add(std::string_view text);
  std::vector<RowColumn> columns_;
  std::string block_;
  std::string cell_;
};

/// All rows of a source, and what it says about them.
class HeldRows {
 public:
  HeldRows() = default;
  /// Reads the remaining rows of `source`.
  explicit HeldRows(RowSource& source);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::string fingerprint() const;
  /// A source that reads them from the start. This must outlive it.
  [[nodiscard]] std::unique_ptr<RowSource> open() const;

 private:
  friend class HeldSource;
  friend class HeldSink;
  std::string name_;
  std::vector<RowColumn> columns_;
  TextStyle style_;
  std::vector<RowChunk> chunks_;
  std::int64_t rows_ = 0;
};

/// Keeps what is written to it.
class HeldSink final : public RowSink {
 public:
  /// `name` and `style` are those of rows().
  explicit HeldSink(std::string name, TextStyle style = {});

  void begin(const std::vector<RowColumn>& columns) override;
  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override;
  void write(std::unique_ptr<Part> part) override;
  void finish() override {}
  [[nodiscard]] const HeldRows& rows() const { return rows_; }

 private:
  HeldRows rows_;
};

}  // namespace ppan
