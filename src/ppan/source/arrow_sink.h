#pragma once

// Released rows as an Arrow stream in memory. Data frames of other libraries adopt it without another copy.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ppan/source/arrow_type.h"
#include "ppan/source/row_sink.h"

namespace ppan {

/// Cells of one column in Arrow's layout, except that the flags of missing cells take a byte each until the
/// stream is exported.
struct ArrowCells {
  std::vector<char> values{};           ///< Fixed width: the values; texts: their bytes.
  std::vector<std::int64_t> offsets{};  ///< Texts: ends of the cells.
  std::vector<std::uint8_t> missing{};  ///< Empty: none so far.
  std::int64_t rows = 0;
};

class ArrowSink final : public RowSink {
 public:
  /// Columns take the types of the columns of the same name in `like`, where their values fit.
  explicit ArrowSink(std::vector<ArrowType> like = {});
  ~ArrowSink() override;

  void begin(const std::vector<RowColumn>& columns) override;
  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override;
  void write(std::unique_ptr<Part> part) override;
  void finish() override {}

  /// What was written; the sink is empty afterwards. The stream owns its memory.
  [[nodiscard]] ArrowArrayStream take();

 private:
  struct Rows;
  struct Column {
    RowColumn from{};
    ArrowType type{};
    Levels levels{};  ///< Dictionaries: entries so far.
    std::unordered_map<std::string, std::int32_t> codes{};
  };
  void pack_codes(const Column& column, const RowCells& cells, std::int64_t rows, ArrowCells& out) const;

  std::vector<ArrowType> like_;
  std::vector<Column> columns_;
  std::vector<std::unique_ptr<Rows>> batches_;
};

}  // namespace ppan
