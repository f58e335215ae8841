#include "ppan/source/row_chunk.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr std::array<double, 19> kPowers{1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                         1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};

void append_integer(std::int64_t value, std::string& out) {
  std::array<char, 24> text;
  out.append(text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr);
}

void append_decimal(std::int64_t value, int scale, char mark, std::string& out) {
  std::array<char, 24> text;
  const auto magnitude =
      value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  const auto count =
      static_cast<int>(std::to_chars(text.data(), text.data() + text.size(), magnitude).ptr - text.data());
  if (value < 0) out += '-';
  for (int i = count; i <= scale; ++i) {  // a digit before the mark, and zeros behind it
    out += '0';
    if (i == count && scale > 0) out += mark;
  }
  for (int i = 0; i < count; ++i) {
    if (scale > 0 && i > 0 && i == count - scale) out += mark;
    out += text[static_cast<std::size_t>(i)];
  }
}

}  // namespace

void CellBuffer::clear() {
  bytes.clear();
  text.clear();
  code.clear();
  integer.clear();
  real.clear();
  missing.clear();
}

void RowChunk::start(std::int64_t rows, std::size_t columns, std::int64_t first_row) {
  rows_ = rows;
  first_row_ = first_row;
  lines_ = nullptr;
  cells_.assign(columns, RowCells{});
}

CellBuffer& RowChunk::buffer(std::size_t column) {
  while (buffers_.size() <= column) buffers_.push_back(std::make_unique<CellBuffer>());
  return *buffers_[column];
}

void copy_rows(const RowChunk& from, RowChunk& to) {
  const auto rows = static_cast<std::size_t>(from.rows());
  to.start(from.rows(), from.columns(), from.first_row());
  const auto copy = [rows](const auto* cells, auto& buffer) {
    if (cells != nullptr) buffer.assign(cells, cells + rows);
    return cells == nullptr ? nullptr : std::as_const(buffer).data();
  };
  for (std::size_t c = 0; c < from.columns(); ++c) {
    const RowCells& cells = from.cells(c);
    RowCells& out = to.cells(c);
    CellBuffer& buffer = to.buffer(c);
    out.levels = cells.levels;
    out.code = copy(cells.code, buffer.code);
    out.integer = copy(cells.integer, buffer.integer);
    out.real = copy(cells.real, buffer.real);
    out.missing = copy(cells.missing, buffer.missing);
    if (cells.text == nullptr) continue;
    buffer.bytes.clear();
    buffer.text.clear();
    for (std::size_t r = 0; r < rows; ++r)
      buffer.add_text(cells.is_missing(r) ? std::string_view() : cells.text_at(r));
    out.text = buffer.text.data();
    out.bytes = buffer.bytes.data();
  }
}

double number_at(const RowColumn& column, const RowCells& cells, std::size_t row) {
  if (column.storage == CellStorage::kReal) return cells.real[row];
  const auto value = static_cast<double>(cells.integer[row]);
  return column.meaning == CellMeaning::kDecimal ? value / kPowers[static_cast<std::size_t>(column.scale)]
                                                 : value;
}

void append_text(const RowColumn& column, const RowCells& cells, std::size_t row, std::string& out) {
  if (cells.is_missing(row) || (column.storage == CellStorage::kReal && std::isnan(cells.real[row]))) {
    out += column.missing_text;
    return;
  }
  if (column.storage == CellStorage::kText) {
    out += cells.text_at(row);
    return;
  }
  if (column.storage == CellStorage::kReal) {
    append_number(cells.real[row], column.format, out);
    return;
  }
  const std::int64_t value = cells.integer[row];
  switch (column.meaning) {
    case CellMeaning::kPlain:
      append_integer(value, out);
      break;
    case CellMeaning::kBoolean:
      out += value != 0 ? "true" : "false";
      break;
    case CellMeaning::kDecimal:
      append_decimal(value, column.scale, column.format.mark, out);
      break;
    case CellMeaning::kDate:
      append_date(value, out);
      break;
    case CellMeaning::kTimestamp:
    case CellMeaning::kInstant:
      append_timestamp(value, out);
      break;
  }
}

}  // namespace ppan
