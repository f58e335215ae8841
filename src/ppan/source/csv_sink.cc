#include "ppan/source/csv_sink.h"

#include <utility>

namespace ppan {
namespace {

class TextPart final : public RowSink::Part {
 public:
  std::string text;
};

}  // namespace

CsvSink::CsvSink(ByteSink& bytes, TextStyle style) : bytes_(&bytes), style_(std::move(style)) {}

CsvSink::CsvSink(std::unique_ptr<ByteSink> bytes, TextStyle style)
    : owned_(std::move(bytes)), bytes_(owned_.get()), style_(std::move(style)) {}

void CsvSink::begin(const std::vector<RowColumn>& columns) {
  columns_ = columns;
  level_fields_.clear();
  missing_fields_.clear();
  std::vector<std::string> names;
  for (RowColumn& column : columns_) {
    column.format.mark = style_.decimal;
    names.push_back(column.name);
    const char end = &column == &columns_.back() ? '\n' : style_.delimiter;
    auto& fields = level_fields_.emplace_back();
    if (column.levels) {
      for (const std::string& level : *column.levels) {
        append_field(level, style_.delimiter, fields.emplace_back());
        fields.back() += end;
      }
    }
    append_field(column.missing_text, style_.delimiter, missing_fields_.emplace_back());
    missing_fields_.back() += end;
  }
  std::string header;
  if (style_.header) append_row(names, style_.delimiter, header);
  bytes_->write(header);
}

void CsvSink::append_rows(const RowChunk& rows, std::string& out) const {
  const auto count = static_cast<std::size_t>(rows.rows());
  std::string cell;
  for (std::size_t r = 0; r < count; ++r) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const RowColumn& column = columns_[c];
      const RowCells& cells = rows.cells(c);
      if (cells.code != nullptr) {  // a missing level has its text as any other
        out += level_fields_[c][static_cast<std::size_t>(cells.code[r])];
        continue;
      }
      if (cells.is_missing(r)) {
        out += missing_fields_[c];
        continue;
      }
      if (column.storage == CellStorage::kText) {
        append_field(cells.text_at(r), style_.delimiter, out);
      } else if (style_.decimal == style_.delimiter) {  // only a quoted number is one field then
        cell.clear();
        append_text(column, cells, r, cell);
        append_field(cell, style_.delimiter, out);
      } else {
        append_text(column, cells, r, out);
      }
      out += c + 1 < columns_.size() ? style_.delimiter : '\n';
    }
  }
}

std::unique_ptr<RowSink::Part> CsvSink::pack(const RowChunk& rows) const {
  auto part = std::make_unique<TextPart>();
  part->text.reserve(static_cast<std::size_t>(rows.rows()) * columns_.size() * 8);
  append_rows(rows, part->text);
  return part;
}

void CsvSink::write(std::unique_ptr<Part> part) {
  bytes_->write(static_cast<const TextPart&>(*part).text);
}

void CsvSink::finish() {
  if (owned_) owned_->finish();
}

}  // namespace ppan
