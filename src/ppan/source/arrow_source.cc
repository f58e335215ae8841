#include "ppan/source/arrow_source.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "ppan/core/error.h"

namespace ppan {
namespace {

template <typename Value>
Value load(const void* buffer, std::int64_t row) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(buffer) + row * static_cast<std::int64_t>(sizeof(Value)),
              sizeof value);
  return value;
}

bool bit(const void* bits, std::int64_t at) {
  return (static_cast<const std::uint8_t*>(bits)[at >> 3] >> (at & 7) & 1) != 0;
}

double half(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  if (exponent == 31)
    return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                         : std::numeric_limits<double>::quiet_NaN();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25));
}

std::int64_t whole(char format, const void* buffer, std::int64_t row) {
  switch (format) {
    case 'c':
      return load<std::int8_t>(buffer, row);
    case 'C':
      return load<std::uint8_t>(buffer, row);
    case 's':
      return load<std::int16_t>(buffer, row);
    case 'S':
      return load<std::uint16_t>(buffer, row);
    case 'i':
      return load<std::int32_t>(buffer, row);
    case 'I':
      return load<std::uint32_t>(buffer, row);
    default:
      return load<std::int64_t>(buffer, row);
  }
}

std::int64_t floor_divide(std::int64_t value, std::int64_t by) {
  return value / by - (value % by < 0 ? 1 : 0);
}

// A value of a column of whole numbers, in the unit that sources have.
std::int64_t integer_at(const ArrowType& type, const ArrowArray& array, std::int64_t at) {
  const void* values = array.buffers[1];
  const std::string& format = type.format;
  if (format == "b") return bit(values, at) ? 1 : 0;
  if (format == "tdm") return floor_divide(load<std::int64_t>(values, at), 86'400'000);
  if (format[0] == 'd') {
    const auto low = load<std::int64_t>(values, 2 * at);
    if (load<std::int64_t>(values, 2 * at + 1) != (low < 0 ? -1 : 0))
      throw Error(ErrorCode::kBadInput,
                  fmt::format("column \"{}\" holds a decimal of more than 18 digits", type.name));
    return low;
  }
  if (format == "L" &&
      load<std::uint64_t>(values, at) > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    throw Error(ErrorCode::kBadInput, fmt::format("column \"{}\" holds a whole number above 2^63", type.name),
                "make it text, or a real number");
  const std::int64_t value = format.size() == 1         ? whole(format[0], values, at)
                             : arrow_width(format) == 4 ? load<std::int32_t>(values, at)
                                                        : load<std::int64_t>(values, at);
  if (type.units != 1) return floor_divide(value, type.units);
  std::int64_t scaled = 0;
  if (__builtin_mul_overflow(value, static_cast<std::int64_t>(type.microseconds), &scaled))
    throw Error(ErrorCode::kBadInput,
                fmt::format("column \"{}\" holds a time beyond 64 bits of microseconds", type.name),
                "correct the value, or drop the column");
  return scaled;
}

double real_at(const ArrowType& type, const ArrowArray& array, std::int64_t at) {
  const void* values = array.buffers[1];
  switch (type.format[0]) {
    case 'g':
      return load<double>(values, at);
    case 'f':
      return static_cast<double>(load<float>(values, at));
    case 'e':
      return half(load<std::uint16_t>(values, at));
    default: {  // a decimal of many digits
      const auto low = static_cast<double>(load<std::uint64_t>(values, 2 * at));
      const auto high = static_cast<double>(load<std::int64_t>(values, 2 * at + 1));
      return (high * 0x1.0p64 + low) / std::pow(10.0, type.scale);
    }
  }
}

std::string_view text_at(const std::string& format, const ArrowArray& array, std::int64_t at) {
  if (format == "n") return {};
  if (format == "vu") {
    const char* view = static_cast<const char*>(array.buffers[1]) + at * 16;
    const auto length = load<std::int32_t>(view, 0);
    if (length <= 12) return {view + 4, static_cast<std::size_t>(length)};
    const char* bytes = static_cast<const char*>(array.buffers[2 + load<std::int32_t>(view, 2)]);
    return {bytes + load<std::int32_t>(view, 3), static_cast<std::size_t>(length)};
  }
  const auto* bytes = static_cast<const char*>(array.buffers[2]);
  const std::int64_t first =
      format == "U" ? load<std::int64_t>(array.buffers[1], at) : load<std::int32_t>(array.buffers[1], at);
  const std::int64_t end = format == "U" ? load<std::int64_t>(array.buffers[1], at + 1)
                                         : load<std::int32_t>(array.buffers[1], at + 1);
  return {bytes + first, static_cast<std::size_t>(end - first)};
}

template <typename From>
void widen(const void* values, std::int64_t at, std::vector<std::int64_t>& to) {
  const auto* const from = static_cast<const From*>(values) + at;
  std::copy(from, from + to.size(), to.begin());
}

// Whole numbers that only have to be widened, all at once; false for others.
bool widen_all(const ArrowType& type, const void* values, std::int64_t at, std::vector<std::int64_t>& to) {
  const bool date = type.format == "tdD";
  if ((type.format.size() != 1 && !date) || type.units != 1 || type.microseconds != 1) return false;
  switch (date ? 'i' : type.format[0]) {
    case 'c':
      widen<std::int8_t>(values, at, to);
      return true;
    case 'C':
      widen<std::uint8_t>(values, at, to);
      return true;
    case 's':
      widen<std::int16_t>(values, at, to);
      return true;
    case 'S':
      widen<std::uint16_t>(values, at, to);
      return true;
    case 'i':
      widen<std::int32_t>(values, at, to);
      return true;
    case 'I':
      widen<std::uint32_t>(values, at, to);
      return true;
    default:
      return false;
  }
}

// Where the texts of "u" and "U" are, counted from the first.
template <typename Offset>
const char* point_at(const ArrowArray& array, std::int64_t at, std::vector<TextCell>& to) {
  const auto* const offset = static_cast<const Offset*>(array.buffers[1]) + at;
  for (std::size_t r = 0; r < to.size(); ++r)
    to[r] = {static_cast<std::uint32_t>(offset[r] - offset[0]),
             static_cast<std::uint32_t>(offset[r + 1] - offset[r])};
  return static_cast<const char*>(array.buffers[2]) + offset[0];
}

// The entries of a dictionary as texts; its values may be numbers.
Levels levels_of(const ArrowType& type, const ArrowArray& words) {
  Levels levels;
  ArrowType plain = type;
  plain.dictionary = false;
  RowColumn column = plain.row_column();
  for (std::int64_t i = 0; i < words.length; ++i) {
    const std::int64_t at = i + words.offset;
    if (column.storage == CellStorage::kText) {
      levels.emplace_back(text_at(type.format, words, at));
      continue;
    }
    RowCells cells;
    const std::int64_t integer = column.storage == CellStorage::kInteger ? integer_at(plain, words, at) : 0;
    const double real = column.storage == CellStorage::kReal ? real_at(plain, words, at) : 0;
    cells.integer = &integer;
    cells.real = &real;
    append_text(column, cells, 0, levels.emplace_back());
  }
  if (levels.empty()) levels.emplace_back();  // what a missing cell can be read as
  return levels;
}

}  // namespace

/// Rows of the stream, and what was made of their dictionaries.
struct ArrowSource::Batch {
  ArrowArray array{};
  std::vector<std::shared_ptr<const Levels>> levels{};  // of each column; null where it is no dictionary
  Batch() = default;
  ~Batch() {
    if (array.release != nullptr) array.release(&array);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;
};

class ArrowSource::Stream {
 public:
  explicit Stream(ArrowArrayStream stream) : stream_(stream) {}
  ~Stream() {
    if (schema_.release != nullptr) schema_.release(&schema_);
    if (stream_.release != nullptr) stream_.release(&stream_);
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  const ArrowSchema& schema() {
    if (schema_.release == nullptr) require(stream_.get_schema(&stream_, &schema_));
    return schema_;
  }
  // False at the end.
  bool next(ArrowArray& array) {
    require(stream_.get_next(&stream_, &array));
    return array.release != nullptr;
  }

 private:
  void require(int status) {
    if (status == 0) return;
    const char* why = stream_.get_last_error == nullptr ? nullptr : stream_.get_last_error(&stream_);
    throw Error(ErrorCode::kIo,
                fmt::format("the frame could not be read: {}", why == nullptr ? std::strerror(status) : why));
  }
  ArrowArrayStream stream_;
  ArrowSchema schema_{};
};

ArrowSource::ArrowSource(ArrowArrayStream stream, std::string name)
    : RowSource(std::move(name)), stream_(std::make_unique<Stream>(stream)) {
  const ArrowSchema& schema = stream_->schema();
  if (std::string_view(schema.format) != "+s")
    throw Error(ErrorCode::kBadInput, fmt::format("{} is not a table", this->name()),
                "give a frame with named columns");
  for (std::int64_t c = 0; c < schema.n_children; ++c) types_.push_back(arrow_type(*schema.children[c]));
  std::vector<RowColumn> columns;
  for (const ArrowType& type : types_) columns.push_back(type.row_column());
  // Text is text: what stands for "no value" is flagged.
  TextStyle style;
  style.missing.clear();
  set_style(std::move(style));
  fetch();
  for (std::size_t c = 0; c < columns.size() && batch_; ++c) columns[c].levels = batch_->levels[c];
  set_columns(std::move(columns));
}

ArrowSource::~ArrowSource() = default;

// The next batch that has rows.
bool ArrowSource::fetch() {
  const std::shared_ptr<const Batch> before = std::exchange(batch_, nullptr);
  position_ = 0;
  auto batch = std::make_shared<Batch>();
  while (stream_->next(batch->array) && batch->array.length == 0) batch = std::make_shared<Batch>();
  if (batch->array.release == nullptr) return false;
  if (batch->array.n_children != static_cast<std::int64_t>(types_.size()))
    throw Error(ErrorCode::kBadInput, fmt::format("{} changes its columns", name()));
  for (std::size_t c = 0; c < types_.size(); ++c) {
    const ArrowArray& array = *batch->array.children[c];
    std::shared_ptr<const Levels> levels;
    if (types_[c].dictionary) {
      Levels made = levels_of(types_[c], *array.dictionary);
      const bool same = before != nullptr && *before->levels[c] == made;
      levels = same ? before->levels[c] : std::make_shared<const Levels>(std::move(made));
    }
    batch->levels.push_back(std::move(levels));
  }
  batch_ = std::move(batch);
  return true;
}

void ArrowSource::fill(std::size_t c, std::int64_t first, std::int64_t rows, RowChunk& chunk) const {
  const ArrowType& type = types_[c];
  const ArrowArray& array = *batch_->array.children[c];
  const std::int64_t from = array.offset + batch_->array.offset + first;
  const auto count = static_cast<std::size_t>(rows);
  RowCells& cells = chunk.cells(c);
  CellBuffer& own = chunk.buffer(c);
  own.clear();
  const void* validity =
      type.format == "n" || array.null_count == 0 || array.n_buffers == 0 ? nullptr : array.buffers[0];
  if (validity != nullptr || type.format == "n") {
    own.missing.resize(count);
    for (std::size_t r = 0; r < count; ++r)
      own.missing[r] = validity != nullptr && bit(validity, from + static_cast<std::int64_t>(r)) ? 0 : 1;
    cells.missing = own.missing.data();
  }
  const auto present = [&](std::size_t r) { return cells.missing == nullptr || cells.missing[r] == 0; };
  if (type.dictionary) {
    const ArrowArray& words = *array.dictionary;
    const void* word_validity = words.null_count == 0 ? nullptr : words.buffers[0];
    own.code.resize(count);
    for (std::size_t r = 0; r < count; ++r) {
      const std::int64_t code =
          present(r) ? whole(type.index, array.buffers[1], from + static_cast<std::int64_t>(r)) : 0;
      if (present(r) && (code < 0 || code >= words.length))
        throw Error(ErrorCode::kBadInput,
                    fmt::format("column \"{}\": a code outside its dictionary", type.name));
      own.code[r] = static_cast<std::int32_t>(code);
      if (word_validity == nullptr || !present(r) || bit(word_validity, code + words.offset)) continue;
      own.missing.resize(count);  // the entry itself stands for no value
      own.missing[r] = 1;
      cells.missing = own.missing.data();
    }
    cells.code = own.code.data();
    cells.levels = batch_->levels[c].get();
  } else if (type.storage == CellStorage::kReal) {
    if (type.format == "g") {
      cells.real = static_cast<const double*>(array.buffers[1]) + from;
      return;
    }
    own.real.resize(count);
    for (std::size_t r = 0; r < count; ++r)
      own.real[r] = real_at(type, array, from + static_cast<std::int64_t>(r));
    cells.real = own.real.data();
  } else if (type.storage == CellStorage::kInteger) {
    if (type.format == "l" || (type.format.starts_with("tsu:"))) {
      cells.integer = static_cast<const std::int64_t*>(array.buffers[1]) + from;
      return;
    }
    own.integer.resize(count);
    const bool widened = widen_all(type, array.buffers[1], from, own.integer);
    for (std::size_t r = 0; r < count && !widened; ++r)
      own.integer[r] = present(r) ? integer_at(type, array, from + static_cast<std::int64_t>(r)) : 0;
    cells.integer = own.integer.data();
  } else if (type.format == "u" || type.format == "U") {
    own.text.resize(count);
    cells.bytes = type.format == "u" ? point_at<std::int32_t>(array, from, own.text)
                                     : point_at<std::int64_t>(array, from, own.text);
    cells.text = own.text.data();
  } else {
    for (std::size_t r = 0; r < count; ++r)
      own.add_text(present(r) ? text_at(type.format, array, from + static_cast<std::int64_t>(r))
                              : std::string_view());
    cells.bytes = own.bytes.data();
    cells.text = own.text.data();
  }
}

bool ArrowSource::next(RowChunk& chunk) {
  if (!batch_ || position_ == batch_->array.length) {
    if (!batch_ || !fetch()) return false;
  }
  const std::int64_t rows = std::min(kChunkRows, batch_->array.length - position_);
  chunk.start(rows, types_.size(), row_);
  chunk.held<std::shared_ptr<const Batch>>() = batch_;
  for (std::size_t c = 0; c < types_.size(); ++c) fill(c, position_, rows, chunk);
  position_ += rows;
  row_ += rows;
  return true;
}

}  // namespace ppan
