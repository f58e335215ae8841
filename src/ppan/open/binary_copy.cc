#include "ppan/open/binary_copy.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "ppan/core/error.h"
#include "ppan/source/calendar.h"

namespace ppan {
namespace {

constexpr std::string_view kSignature("PGCOPY\n\xFF\r\n\0", 11);
constexpr std::int64_t kEpochDays = 10'957;  // 2000-01-01, where PostgreSQL counts from
constexpr std::int64_t kEpochMicros = kEpochDays * kMicrosecondsPerDay;
constexpr std::uint16_t kNumericNegative = 0x4000;
constexpr std::uint16_t kNumericSpecial = 0xC000;

// A number of so many bytes, most significant first.
template <typename T>
T load(const char* from) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) value = value << 8U | static_cast<unsigned char>(from[i]);
  return static_cast<T>(value);
}

template <typename T>
void store(T value, std::string& out) {
  std::array<char, sizeof(T)> bytes;
  auto rest = static_cast<std::make_unsigned_t<T>>(value);
  for (std::size_t i = sizeof(T); i-- > 0;
       rest = static_cast<decltype(rest)>(static_cast<std::uint64_t>(rest) >> 8U))
    bytes[i] = static_cast<char>(rest & 0xFFU);
  out.append(bytes.data(), bytes.size());
}

[[noreturn]] void unfit(const RowColumn& column) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("a value of column \"{}\" does not fit its type in the database", column.name));
}

std::size_t bytes_of(CopyType type) {
  switch (type) {
    case CopyType::kBoolean:
      return 1;
    case CopyType::kInt2:
      return 2;
    case CopyType::kInt4:
    case CopyType::kFloat4:
    case CopyType::kDate:
      return 4;
    case CopyType::kInt8:
    case CopyType::kFloat8:
    case CopyType::kTimestamp:
      return 8;
    case CopyType::kNumeric:
    case CopyType::kText:
      break;
  }
  return 0;  // any
}

std::int64_t integer_of(CopyType type, std::string_view field) {
  const char* const bytes = field.data();
  switch (type) {
    case CopyType::kBoolean:
      return bytes[0] != 0 ? 1 : 0;
    case CopyType::kInt2:
      return load<std::int16_t>(bytes);
    case CopyType::kInt4:
      return load<std::int32_t>(bytes);
    case CopyType::kInt8:
      return load<std::int64_t>(bytes);
    case CopyType::kDate:
      return load<std::int32_t>(bytes) + kEpochDays;
    default:
      break;
  }
  const auto value = load<std::int64_t>(bytes);
  // "infinity" and what lies beyond every calendar are the ends of it.
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() - kEpochMicros;
  return value > kFar ? std::numeric_limits<std::int64_t>::max() : value + kEpochMicros;
}

}  // namespace

CopyNumeric parse_numeric(std::string_view field, int scale) {
  const auto refuse = [](const char* what) -> CopyNumeric { throw Error(ErrorCode::kBadInput, what); };
  if (field.size() < 8) return refuse("a numeric field is too short");
  const auto count = load<std::int16_t>(field.data());
  const auto weight = load<std::int16_t>(field.data() + 2);
  const auto sign = load<std::uint16_t>(field.data() + 4);
  if (count < 0 || field.size() != 8 + 2 * static_cast<std::size_t>(count))
    return refuse("a numeric field is damaged");
  CopyNumeric out;
  if ((sign & kNumericSpecial) == kNumericSpecial) {
    out.finite = false;
    return out;
  }
  // Digits of 10000 each: digit i counts 10000^(weight - i).
  bool fits = true;
  std::int64_t scaled = 0;
  double real = 0;
  const int places = (scale + 3) / 4;  // digits behind the point
  const auto digit_at = [&](int i) {
    return i < count && i >= 0
               ? static_cast<int>(load<std::uint16_t>(field.data() + 8 + 2 * static_cast<std::size_t>(i)))
               : 0;
  };
  for (int i = 0; i < count; ++i) {
    if (digit_at(i) > 9999) return refuse("a numeric field is damaged");
    real += digit_at(i) * std::pow(10000.0, weight - i);
  }
  for (int i = 0; fits && i <= weight + places; ++i) {
    fits = i < 8 && !__builtin_mul_overflow(scaled, std::int64_t{10'000}, &scaled) &&
           !__builtin_add_overflow(scaled, std::int64_t{digit_at(i)}, &scaled);
  }
  for (int extra = places * 4 - scale; extra > 0; --extra) scaled /= 10;
  const bool negative = sign == kNumericNegative;
  out.real = negative ? -real : real;
  out.scaled = negative ? -scaled : scaled;
  if (!fits && scale > 0) return refuse("a numeric value is too large");
  return out;
}

void CopyReader::damaged(const char* what) const {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: the rows are damaged: {}", name_, what), "ask again");
}

void CopyReader::feed(std::string_view bytes) {
  if (at_ > 0 && at_ >= bytes_.size() / 2) {
    bytes_.erase(0, at_);
    at_ = 0;
  }
  bytes_.append(bytes);
}

bool CopyReader::take_header() {
  const std::string_view rest = std::string_view(bytes_).substr(at_);
  if (rest.size() < kSignature.size() + 8) return false;
  if (!rest.starts_with(kSignature)) damaged("they do not begin as binary rows do");
  const auto flags = load<std::uint32_t>(rest.data() + kSignature.size());
  if ((flags & 0xFFFF0000U) != 0) damaged("they have flags that are not known");
  const auto extension = load<std::uint32_t>(rest.data() + kSignature.size() + 4);
  if (extension > (1U << 20U)) damaged("their header is too long");
  if (rest.size() < kSignature.size() + 8 + extension) return false;
  at_ += kSignature.size() + 8 + extension;
  begun_ = true;
  return true;
}

std::size_t CopyReader::row_end() const {
  std::size_t at = at_ + 2;
  for (std::size_t c = 0; c < types_.size(); ++c) {
    if (bytes_.size() < at + 4) return 0;
    const auto length = load<std::int32_t>(bytes_.data() + at);
    if (length < -1) damaged("a field has a negative length");
    at += 4 + static_cast<std::size_t>(length < 0 ? 0 : length);
  }
  return at <= bytes_.size() ? at : 0;
}

std::int64_t CopyReader::take(RowChunk& chunk, const std::vector<RowColumn>& columns, std::int64_t rows,
                              std::int64_t most) {
  if (!begun_ && !take_header()) return rows;
  while (rows < most && !ended_ && bytes_.size() - at_ >= 2) {
    const auto fields = load<std::int16_t>(bytes_.data() + at_);
    if (fields == -1) {
      ended_ = true;
      break;
    }
    if (static_cast<std::size_t>(fields) != types_.size()) damaged("a row has another number of fields");
    const std::size_t end = row_end();
    if (end == 0) break;
    take_row(chunk, columns);
    at_ = end;
    ++rows;
  }
  return rows;
}

void CopyReader::take_row(RowChunk& chunk, const std::vector<RowColumn>& columns) {
  std::size_t at = at_ + 2;
  for (std::size_t c = 0; c < types_.size(); ++c) {
    CellBuffer& to = chunk.buffer(c);
    const auto length = load<std::int32_t>(bytes_.data() + at);
    at += 4;
    const bool missing = length < 0;
    const std::string_view field(bytes_.data() + at, missing ? 0 : static_cast<std::size_t>(length));
    at += field.size();
    const CopyType type = types_[c];
    if (!missing && bytes_of(type) != 0 && field.size() != bytes_of(type))
      damaged("a field has another length");
    CopyNumeric number;
    if (!missing && type == CopyType::kNumeric) number = parse_numeric(field, columns[c].scale);
    to.missing.push_back(missing || !number.finite ? 1 : 0);
    if (columns[c].storage == CellStorage::kText) {
      to.add_text(field);
    } else if (columns[c].storage == CellStorage::kReal) {
      double value = number.real;
      if (!missing && type == CopyType::kFloat4)
        value = static_cast<double>(std::bit_cast<float>(load<std::uint32_t>(field.data())));
      if (!missing && type == CopyType::kFloat8)
        value = std::bit_cast<double>(load<std::uint64_t>(field.data()));
      to.real.push_back(value);
    } else {
      to.integer.push_back(missing                      ? 0
                           : type == CopyType::kNumeric ? number.scaled
                                                        : integer_of(type, field));
    }
  }
}

void append_copy_header(std::string& out) {
  out.append(kSignature);
  store(std::int32_t{0}, out);
  store(std::int32_t{0}, out);
}

void append_copy_end(std::string& out) {
  store(std::int16_t{-1}, out);
}

namespace {

// A multiple of 10^-scale as digits of 10000 each.
void append_numeric(std::int64_t value, int scale, std::string& out) {
  std::array<std::int16_t, 12>
      digits{};  // least significant first; the point lies behind a whole number of them
  const int places = (scale + 3) / 4;
  auto rest = value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  std::size_t count = 0;
  if (places * 4 > scale) {
    std::uint64_t power = 1;
    for (int i = places * 4 - scale; i > 0; --i) power *= 10;
    const std::uint64_t low = 10'000 / power;  // what the lowest digit holds of the value
    digits[count++] = static_cast<std::int16_t>(rest % low * power);
    rest /= low;
  }
  for (; rest > 0; rest /= 10'000) digits[count++] = static_cast<std::int16_t>(rest % 10'000);
  while (count > 0 && digits[count - 1] == 0) --count;
  const auto weight = static_cast<std::int16_t>(static_cast<int>(count) - 1 - places);
  store(static_cast<std::int32_t>(8 + 2 * count), out);
  store(static_cast<std::int16_t>(count), out);
  store(count == 0 ? std::int16_t{0} : weight, out);
  store(value < 0 ? kNumericNegative : std::uint16_t{0}, out);
  store(static_cast<std::int16_t>(scale), out);
  for (std::size_t i = count; i-- > 0;) store(digits[i], out);
}

template <typename T>
void append_integer(std::int64_t value, const RowColumn& column, std::string& out) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) unfit(column);
  store(static_cast<std::int32_t>(sizeof(T)), out);
  store(static_cast<T>(value), out);
}

}  // namespace

void append_copy_row(const std::vector<RowColumn>& columns, const std::vector<CopyType>& types,
                     const RowChunk& rows, std::size_t row, std::string& out) {
  store(static_cast<std::int16_t>(columns.size()), out);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    const RowColumn& column = columns[c];
    const RowCells& cells = rows.cells(c);
    if (cells.is_missing(row) || (column.storage == CellStorage::kReal && std::isnan(cells.real[row]))) {
      store(std::int32_t{-1}, out);
      continue;
    }
    switch (types[c]) {
      case CopyType::kText: {
        const std::string_view text = cells.text_at(row);
        store(static_cast<std::int32_t>(text.size()), out);
        out += text;
        break;
      }
      case CopyType::kFloat4:
        store(std::int32_t{4}, out);
        store(std::bit_cast<std::uint32_t>(static_cast<float>(cells.real[row])), out);
        break;
      case CopyType::kFloat8:
        store(std::int32_t{8}, out);
        store(std::bit_cast<std::uint64_t>(cells.real[row]), out);
        break;
      case CopyType::kNumeric:
        append_numeric(cells.integer[row], column.scale, out);
        break;
      case CopyType::kBoolean:
        store(std::int32_t{1}, out);
        out += cells.integer[row] != 0 ? '\1' : '\0';
        break;
      case CopyType::kInt2:
        append_integer<std::int16_t>(cells.integer[row], column, out);
        break;
      case CopyType::kInt4:
        append_integer<std::int32_t>(cells.integer[row], column, out);
        break;
      case CopyType::kInt8:
        append_integer<std::int64_t>(cells.integer[row], column, out);
        break;
      case CopyType::kDate:
        append_integer<std::int32_t>(cells.integer[row] - kEpochDays, column, out);
        break;
      case CopyType::kTimestamp:
        append_integer<std::int64_t>(cells.integer[row] - kEpochMicros, column, out);
        break;
    }
  }
}

}  // namespace ppan
