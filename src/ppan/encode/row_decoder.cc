#include "ppan/encode/row_decoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "ppan/encode/encode_all.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr double kMostInteger = 9e18;

// The text of a level as an integer of this meaning.
std::optional<std::int64_t> integer_of(const std::string& text, const RowColumn& column) {
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      for (const char* const yes : {"true", "True", "TRUE"}) {
        if (text == yes) return 1;
      }
      for (const char* const no : {"false", "False", "FALSE"}) {
        if (text == no) return 0;
      }
      return std::nullopt;
    case CellMeaning::kDate:
      return parse_date(text);
    case CellMeaning::kTimestamp:
    case CellMeaning::kInstant:
      return parse_timestamp(text);
    case CellMeaning::kDecimal: {
      const ParsedNumber number = parse_number(text, column.format.mark);
      const double scaled = number.value * std::pow(10.0, column.scale);
      if (!number.ok() || number.decimals > column.scale || std::abs(scaled) > 0x1.0p53) return std::nullopt;
      return std::llround(scaled);
    }
    case CellMeaning::kPlain:
      break;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const RowColumn* find_column(std::span<const RowColumn> columns, const std::string& name) {
  const auto at = std::find_if(columns.begin(), columns.end(), [&](const auto& c) { return c.name == name; });
  return at == columns.end() ? nullptr : &*at;
}

// What a decoded number is to a sink.
RowColumn number_type(const ColumnEncoding& column, const RowColumn* input) {
  RowColumn out{.name = column.name, .storage = CellStorage::kReal, .format = column.format};
  out.missing_text = column.missing_text;
  const bool typed = input != nullptr && input->storage != CellStorage::kText;
  const auto integers = [&](CellMeaning meaning) {
    out.storage = CellStorage::kInteger;
    out.meaning = meaning;
    if (typed && input->meaning == meaning) out.sql_type = input->sql_type;
    return out;
  };
  if (column.type == ColumnType::kDate) return integers(CellMeaning::kDate);
  if (column.type == ColumnType::kTimestamp) {
    const bool instant = typed && input->meaning == CellMeaning::kInstant;
    return integers(instant ? CellMeaning::kInstant : CellMeaning::kTimestamp);
  }
  const double most = std::max(std::abs(column.least), std::abs(column.most));
  const int decimals = column.format.decimals.value_or(kMostDecimals + 1);
  if (typed && input->meaning == CellMeaning::kDecimal && decimals <= input->scale &&
      most * std::pow(10.0, input->scale) < 0x1.0p53) {
    out.scale = input->scale;
    return integers(CellMeaning::kDecimal);
  }
  const bool was_real = typed && input->storage == CellStorage::kReal;
  if (was_real) out.sql_type = input->sql_type;
  const bool was_whole = typed && !was_real && input->meaning == CellMeaning::kPlain;
  if (was_real || (column.type != ColumnType::kInteger && !was_whole) || decimals != 0 || most > kMostInteger)
    return out;
  return integers(CellMeaning::kPlain);
}

void set_missing(const EncodedColumn& from, std::int32_t code, std::span<const std::uint32_t> which,
                 std::vector<std::uint8_t>& to) {
  to.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) to[i] = from.code[which[i]] == code ? 1 : 0;
}

// The cells of some rows of a column, by copies that stay small: text is pointed at.
template <typename T>
const T* take(const T* from, std::size_t stride, std::span<const std::uint32_t> which, std::vector<T>& to) {
  if (from == nullptr) return nullptr;
  to.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i) to[i] = from[which[i] * stride];
  return to.data();
}

void decode_numbers(const EncodedColumn& from, const ColumnEncoding& column, const RowColumn& type,
                    std::span<const std::uint32_t> which, CellBuffer& buffer, RowCells& to) {
  if (column.may_be_missing) {
    set_missing(from, 1, which, buffer.missing);
    to.missing = buffer.missing.data();
  }
  if (which.size() == from.value.size()) {
    buffer.real.assign(from.value.begin(), from.value.end());
  } else {
    take(from.value.data(), 1, which, buffer.real);
  }
  decode_all(column, buffer.real);
  if (type.storage == CellStorage::kReal) {
    to.real = buffer.real.data();
    return;
  }
  const double power = type.meaning == CellMeaning::kDecimal ? std::pow(10.0, type.scale) : 1;
  buffer.integer.resize(which.size());
  for (std::size_t i = 0; i < which.size(); ++i)
    buffer.integer[i] = static_cast<std::int64_t>(std::nearbyint(buffer.real[i] * power));
  to.integer = buffer.integer.data();
}

void take_rows(const RowCells& from, std::span<const std::uint32_t> which, CellBuffer& buffer, RowCells& to) {
  to = from;
  to.stride = 1;
  to.text = take(from.text, from.stride, which, buffer.text);
  to.code = take(from.code, 1, which, buffer.code);
  to.integer = take(from.integer, 1, which, buffer.integer);
  to.real = take(from.real, 1, which, buffer.real);
  to.missing = take(from.missing, 1, which, buffer.missing);
}

}  // namespace

RowDecoder::RowDecoder(const Encoder& encoder, std::vector<ReleasedColumn> columns,
                       std::span<const RowColumn> input)
    : encoder_(&encoder), columns_(std::move(columns)) {
  level_integers_.resize(columns_.size());
  level_reals_.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const ReleasedColumn& released = columns_[i];
    if (released.kept) {
      types_.push_back(input[released.source]);
      types_.back().name = released.name;
      continue;
    }
    const ColumnEncoding& column = encoder.encoding().columns[static_cast<std::size_t>(released.column)];
    const RowColumn* const before = find_column(input, column.name);
    if (column.numeric()) {
      types_.push_back(number_type(column, before));
      continue;
    }
    RowColumn type{.name = column.name, .missing_text = column.missing_text};
    if (before != nullptr && before->storage != CellStorage::kText) {
      const bool real = before->storage == CellStorage::kReal;
      bool all = true;
      for (std::size_t l = 0; all && l < column.levels.size(); ++l) {
        const bool missing = static_cast<std::int32_t>(l) == column.missing_level;
        const ParsedNumber number = parse_number(column.levels[l], column.format.mark);
        const auto whole = real ? std::optional<std::int64_t>(0) : integer_of(column.levels[l], *before);
        all = missing || (real ? number.ok() : whole.has_value());
        level_reals_[i].push_back(missing ? 0 : number.value);
        level_integers_[i].push_back(missing ? 0 : whole.value_or(0));
      }
      if (all) {
        types_.push_back(*before);
        types_.back().missing_text = column.missing_text;
        continue;
      }
    } else if (before != nullptr) {
      type.sql_type = before->sql_type;
    }
    type.levels = std::make_shared<const Levels>(column.levels);
    types_.push_back(std::move(type));
  }
}

void RowDecoder::decode(const EncodedRows& rows, const RowChunk& chunk, RowChunk& out) const {
  std::vector<std::uint32_t> which;
  which.reserve(static_cast<std::size_t>(rows.rows));
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows.rows); ++r) {
    if (rows.bad.empty() || rows.bad[r] == 0) which.push_back(static_cast<std::uint32_t>(r));
  }
  const bool all = which.size() == static_cast<std::size_t>(rows.rows);
  out.start(static_cast<std::int64_t>(which.size()), columns_.size(), chunk.first_row());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    RowCells& to = out.cells(i);
    CellBuffer& buffer = out.buffer(i);
    if (columns_[i].kept) {
      if (all) {
        to = chunk.cells(columns_[i].source);
      } else {
        take_rows(chunk.cells(columns_[i].source), which, buffer, to);
      }
      continue;
    }
    const EncodedColumn& from = rows.columns[rows.position_of(columns_[i].column)];
    const ColumnEncoding& column = encoder_->encoding().columns[static_cast<std::size_t>(columns_[i].column)];
    if (column.numeric()) {
      decode_numbers(from, column, types_[i], which, buffer, to);
      continue;
    }
    if (column.missing_level) {
      set_missing(from, *column.missing_level, which, buffer.missing);
      to.missing = buffer.missing.data();
    }
    if (types_[i].levels) {
      to.levels = types_[i].levels.get();
      to.code = all ? from.code.data() : take(from.code.data(), 1, which, buffer.code);
    } else if (types_[i].storage == CellStorage::kReal) {
      buffer.real.resize(which.size());
      for (std::size_t k = 0; k < which.size(); ++k)
        buffer.real[k] = level_reals_[i][static_cast<std::size_t>(from.code[which[k]])];
      to.real = buffer.real.data();
    } else {
      buffer.integer.resize(which.size());
      for (std::size_t k = 0; k < which.size(); ++k)
        buffer.integer[k] = level_integers_[i][static_cast<std::size_t>(from.code[which[k]])];
      to.integer = buffer.integer.data();
    }
  }
}

}  // namespace ppan
