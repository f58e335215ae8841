#include "ppan/source/arrow_type.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "ppan/core/error.h"

namespace ppan {
namespace {

constexpr std::string_view kIntegers = "cCsSiIlL";

[[noreturn]] void refuse(const ArrowType& type) {
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("column \"{}\" holds what cannot be used (Arrow type \"{}\")", type.name, type.format),
      "give numbers, texts, categories, booleans, dates or times; drop or convert the column");
}

void take_unit(char unit, ArrowType& type) {
  switch (unit) {
    case 's':
      type.microseconds = 1'000'000;
      break;
    case 'm':
      type.microseconds = 1'000;
      break;
    case 'u':
      break;
    case 'n':
      type.units = 1'000;
      break;
    default:
      refuse(type);
  }
}

// "d:18,2" or "d:18,2,128".
void take_decimal(ArrowType& type) {
  const std::string_view text = std::string_view(type.format).substr(2);
  const std::size_t comma = text.find(',');
  int precision = 0;
  int bits = 128;
  if (comma == std::string_view::npos) refuse(type);
  const std::size_t second = text.find(',', comma + 1);
  std::from_chars(text.data(), text.data() + comma, precision);
  std::from_chars(text.data() + comma + 1, text.data() + text.size(), type.scale);
  if (second != std::string_view::npos)
    std::from_chars(text.data() + second + 1, text.data() + text.size(), bits);
  if (bits != 128 || type.scale < 0 || type.scale > 18) refuse(type);
  type.storage = precision <= 18 ? CellStorage::kInteger : CellStorage::kReal;
  type.meaning = precision <= 18 ? CellMeaning::kDecimal : CellMeaning::kPlain;
}

void take_format(ArrowType& type) {
  const std::string_view format = type.format;
  const auto whole = [&](CellMeaning meaning) {
    type.storage = CellStorage::kInteger;
    type.meaning = meaning;
  };
  if (format == "n" || format == "u" || format == "U" || format == "vu") {
    type.storage = CellStorage::kText;
  } else if (format == "b") {
    whole(CellMeaning::kBoolean);
  } else if (format.size() == 1 && kIntegers.find(format[0]) != std::string_view::npos) {
    whole(CellMeaning::kPlain);
  } else if (format == "e" || format == "f" || format == "g") {
    type.storage = CellStorage::kReal;
  } else if (format == "tdD" || format == "tdm") {
    whole(CellMeaning::kDate);
  } else if (format.starts_with("ts") && format.size() >= 4 && format[3] == ':') {
    whole(format.size() == 4 ? CellMeaning::kTimestamp : CellMeaning::kInstant);
    take_unit(format[2], type);
  } else if ((format.starts_with("tD") || format.starts_with("tt")) && format.size() == 3) {
    whole(CellMeaning::kPlain);  // durations and times of day: microseconds
    take_unit(format[2], type);
  } else if (format.starts_with("d:")) {
    take_decimal(type);
  } else {
    refuse(type);
  }
}

std::string format_of(const RowColumn& column) {
  if (column.storage == CellStorage::kText) return "u";
  if (column.storage == CellStorage::kReal) return "g";
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      return "b";
    case CellMeaning::kDate:
      return "tdD";
    case CellMeaning::kTimestamp:
      return "tsu:";
    case CellMeaning::kInstant:
      return "tsu:UTC";
    case CellMeaning::kDecimal:
      return fmt::format("d:18,{}", column.scale);
    case CellMeaning::kPlain:
      break;
  }
  return "l";
}

}  // namespace

RowColumn ArrowType::row_column() const {
  RowColumn column;
  column.name = name;
  column.storage = dictionary ? CellStorage::kText : storage;
  column.meaning = dictionary ? CellMeaning::kPlain : meaning;
  column.scale = scale;
  return column;
}

ArrowType arrow_type(const ArrowSchema& schema) {
  ArrowType type;
  type.name = schema.name == nullptr ? "" : schema.name;
  type.dictionary = schema.dictionary != nullptr;
  type.format = type.dictionary ? schema.dictionary->format : schema.format;
  take_format(type);
  if (type.dictionary) {
    type.index = schema.format[0];
    type.ordered = (schema.flags & ARROW_FLAG_DICTIONARY_ORDERED) != 0;
    if (type.format.starts_with("d:") || type.format == "n") refuse(type);
  }
  return type;
}

ArrowType arrow_type(const RowColumn& column) {
  ArrowType type;
  type.name = column.name;
  type.dictionary = column.levels != nullptr;
  type.format = format_of(column);
  take_format(type);
  return type;
}

int arrow_width(const std::string& format) {
  switch (format[0]) {
    case 'c':
    case 'C':
      return 1;
    case 's':
    case 'S':
    case 'e':
      return 2;
    case 'i':
    case 'I':
    case 'f':
      return 4;
    case 'l':
    case 'L':
    case 'g':
      return 8;
    case 'd':
      return 16;
    case 't':
      return format == "tdD" || format == "tts" || format == "ttm" ? 4 : 8;
    default:
      return 0;
  }
}

}  // namespace ppan
