#include "arrow_column.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "ppan/core/error.h"

namespace ppan {
namespace {

template <typename Value>
Value at(const void* buffer, std::int64_t row) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(buffer) + row * static_cast<std::int64_t>(sizeof(Value)), sizeof value);
  return value;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31) return fraction == 0 ? sign * INFINITY : NAN;
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

std::int64_t whole_at(char format, const void* buffer, std::int64_t row) {
  switch (format) {
    case 'c': return at<std::int8_t>(buffer, row);
    case 'C': return at<std::uint8_t>(buffer, row);
    case 's': return at<std::int16_t>(buffer, row);
    case 'S': return at<std::uint16_t>(buffer, row);
    case 'i': return at<std::int32_t>(buffer, row);
    case 'I': return at<std::uint32_t>(buffer, row);
    default: return at<std::int64_t>(buffer, row);
  }
}

double units_per_second(char unit) {
  switch (unit) {
    case 's': return 1;
    case 'm': return 1e3;
    case 'u': return 1e6;
    default: return 1e9;
  }
}

ArrowType plain_type(const ArrowSchema& schema) {
  const std::string_view format(schema.format);
  ArrowType type;
  type.format = format;
  if (format == "n") return type;
  if (format == "b") {
    type.kind = ArrowKind::kBoolean;
  } else if (format.size() == 1 && std::string_view("cCsSiIlL").find(format[0]) != std::string_view::npos) {
    type.kind = ArrowKind::kInteger;
  } else if (format == "e" || format == "f" || format == "g") {
    type.kind = ArrowKind::kReal;
  } else if (format == "u" || format == "U" || format == "vu") {
    type.kind = ArrowKind::kText;
  } else if (format == "tdD" || format == "tdm") {
    type.kind = ArrowKind::kDate;
    type.per_unit = format == "tdm" ? 86'400'000 : 1;
  } else if (format.size() >= 3 && format.substr(0, 2) == "ts") {
    type.kind = ArrowKind::kTime;
    type.per_unit = units_per_second(format[2]);
  } else if (format.size() == 3 && (format.substr(0, 2) == "tD" || format.substr(0, 2) == "tt")) {
    type.kind = ArrowKind::kDuration;
    type.per_unit = units_per_second(format[2]);
  } else {
    throw Error(ErrorCode::kBadInput,
                fmt::format("column \"{}\" holds what cannot be used (Arrow type \"{}\")",
                            schema.name == nullptr ? "" : schema.name, format),
                "give numbers, texts, categories, booleans or times; drop or convert the column");
  }
  return type;
}

}  // namespace

ArrowType arrow_type(const ArrowSchema& schema) {
  if (schema.dictionary == nullptr) return plain_type(schema);
  ArrowType type = plain_type(*schema.dictionary);
  type.dictionary = true;
  type.index = schema.format[0];
  return type;
}

ArrowColumnView::ArrowColumnView(const ArrowType& type, const ArrowArray& array, std::int64_t parent_offset)
    : type_(&type), array_(&array), offset_(array.offset + parent_offset) {
  nothing_ = !type.dictionary && type.kind == ArrowKind::kNothing;
  if (!nothing_ && array.null_count != 0 && array.n_buffers > 0)
    validity_ = static_cast<const std::uint8_t*>(array.buffers[0]);
}

std::int64_t ArrowColumnView::whole(std::int64_t row) const {
  const std::int64_t at_row = row + offset_;
  const std::string& format = type_->format;
  if (format.size() == 1) return whole_at(format[0], array_->buffers[1], at_row);
  const bool narrow = format == "tdD" || format == "tts" || format == "ttm";
  return narrow ? at<std::int32_t>(array_->buffers[1], at_row) : at<std::int64_t>(array_->buffers[1], at_row);
}

double ArrowColumnView::number(std::int64_t row) const {
  const std::int64_t at_row = row + offset_;
  switch (type_->format[0]) {
    case 'g': return at<double>(array_->buffers[1], at_row);
    case 'f': return static_cast<double>(at<float>(array_->buffers[1], at_row));
    case 'e': return half(at<std::uint16_t>(array_->buffers[1], at_row));
    case 'L': return static_cast<double>(at<std::uint64_t>(array_->buffers[1], at_row));
    default: return static_cast<double>(whole(row)) / type_->per_unit;
  }
}

std::string_view ArrowColumnView::plain_text(const ArrowArray& array, std::int64_t row) const {
  if (type_->kind == ArrowKind::kBoolean) {
    const auto* bits = static_cast<const std::uint8_t*>(array.buffers[1]);
    return (bits[row >> 3] >> (row & 7) & 1) != 0 ? "true" : "false";
  }
  if (type_->format == "vu") {
    const char* view = static_cast<const char*>(array.buffers[1]) + row * 16;
    const auto length = at<std::int32_t>(view, 0);
    if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
    const auto buffer = at<std::int32_t>(view, 2);
    const auto first = at<std::int32_t>(view, 3);
    return {static_cast<const char*>(array.buffers[2 + buffer]) + first, static_cast<std::size_t>(length)};
  }
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  if (type_->format == "U") {
    const auto first = at<std::int64_t>(array.buffers[1], row);
    return {bytes + first, static_cast<std::size_t>(at<std::int64_t>(array.buffers[1], row + 1) - first)};
  }
  const auto first = at<std::int32_t>(array.buffers[1], row);
  return {bytes + first, static_cast<std::size_t>(at<std::int32_t>(array.buffers[1], row + 1) - first)};
}

std::string_view ArrowColumnView::text(std::int64_t row) const {
  return plain_text(*array_, row + offset_);
}

std::int64_t ArrowColumnView::code(std::int64_t row) const {
  if (missing(row)) return -1;
  const std::int64_t found = whole_at(type_->index, array_->buffers[1], row + offset_);
  // An entry may itself stand for no value.
  const ArrowArray& words = *array_->dictionary;
  if (found < 0 || found >= words.length)
    throw Error(ErrorCode::kBadInput, "a category points outside its dictionary");
  if (words.null_count != 0 && words.buffers[0] != nullptr) {
    const std::int64_t at_word = found + words.offset;
    if ((static_cast<const std::uint8_t*>(words.buffers[0])[at_word >> 3] >> (at_word & 7) & 1) == 0) return -1;
  }
  return found;
}

std::string ArrowColumnView::entry(std::int64_t code) const {
  const ArrowArray& words = *array_->dictionary;
  if (type_->kind == ArrowKind::kText || type_->kind == ArrowKind::kBoolean)
    return std::string(plain_text(words, code + words.offset));
  ArrowType type = *type_;
  type.dictionary = false;
  const ArrowColumnView values(type, words);
  if (type.kind == ArrowKind::kInteger) return fmt::to_string(values.whole(code));
  return fmt::to_string(values.number(code));
}

std::int64_t ArrowColumnView::entries() const {
  return array_->dictionary->length;
}

}  // namespace ppan
