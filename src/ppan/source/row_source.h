#pragma once

// Where rows come from.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ppan/source/row_chunk.h"

namespace ppan {

/// How the text cells of a table are to be read, and how text made from it is to be written.
struct TextStyle {
  /// Texts that mean "no value", compared without surrounding spaces.
  std::vector<std::string> missing{"", "NA", "N/A", "NaN", "nan", "null", "NULL", "?"};
  char decimal = '.';    ///< Decimal mark, '.' or ','.
  char delimiter = ',';  ///< Of delimited text.
  bool header = true;    ///< The first line of delimited text holds the names.
};

/// A table, read once from start to end.
class RowSource {
 public:
  virtual ~RowSource() = default;
  RowSource(const RowSource&) = delete;
  RowSource& operator=(const RowSource&) = delete;

  /// At least one column; the names are different and none is empty.
  [[nodiscard]] const std::vector<RowColumn>& columns() const { return columns_; }
  [[nodiscard]] std::vector<std::string> column_names() const;
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] const TextStyle& style() const { return style_; }
  /// What messages call it: a path or an address, without password.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// The next rows, at least one; false when there are no more. Rows come in the order of the source. Not for
  /// several threads at a time. Throws Error(kBadInput) for rows that do not match columns(), and Error(kIo)
  /// with the source's own message when it fails.
  virtual bool next(RowChunk& chunk) = 0;
  /// Says, before the first next(), which columns will be looked at: a source may leave the cells of the
  /// others unset, so that they need not be read. Without it all of them are there.
  virtual void need_only(const std::vector<bool>& /*columns*/) {}
  /// The number of rows, if it is known without reading them.
  [[nodiscard]] virtual std::optional<std::int64_t> row_count() const { return std::nullopt; }
  /// Fraction of the source that was read so far, 0 to 1, if it is known.
  [[nodiscard]] virtual std::optional<double> share_read() const { return std::nullopt; }

 protected:
  explicit RowSource(std::string name) : name_(std::move(name)) {}
  /// Takes the columns. Throws Error(kBadInput) for names that are empty or repeated, and for no columns at
  /// all.
  void set_columns(std::vector<RowColumn> columns);
  void set_style(TextStyle style) { style_ = std::move(style); }
  void set_name(std::string name) { name_ = std::move(name); }

 private:
  std::string name_;
  std::vector<RowColumn> columns_;
  TextStyle style_;
};

/// Default maximum number of rows in a chunk: enough for loops to run at full speed, few enough to stay in
/// cache.
inline constexpr std::int64_t kChunkRows = 1024;

}  // namespace ppan
