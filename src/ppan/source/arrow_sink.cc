#include "ppan/source/arrow_sink.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace ppan {
namespace {

constexpr std::int64_t kBatchRows = std::int64_t{1} << 20U;
constexpr std::size_t kBatchBytes = std::size_t{1}
                                    << 30U;  // so that 32 bits count the bytes of a text column

bool is_text(const ArrowType& type) {
  return type.format == "u" || type.format == "U" || type.format == "vu" || type.format == "n";
}

template <typename Value>
void store(ArrowCells& out, Value value) {
  const std::size_t at = out.values.size();
  out.values.resize(at + sizeof value);
  std::memcpy(out.values.data() + at, &value, sizeof value);
}

template <typename Value>
void store_within(ArrowCells& out, std::int64_t value) {
  if constexpr (std::is_unsigned_v<Value>) {
    const auto least = std::max<std::int64_t>(value, 0);
    store(out, static_cast<Value>(std::min<std::uint64_t>(static_cast<std::uint64_t>(least),
                                                          std::numeric_limits<Value>::max())));
  } else {
    store(out, static_cast<Value>(std::clamp<std::int64_t>(value, std::numeric_limits<Value>::min(),
                                                           std::numeric_limits<Value>::max())));
  }
}

// A whole number in the unit and width of the column.
void store_integer(const ArrowType& type, std::int64_t value, ArrowCells& out) {
  if (type.units != 1) value *= type.units;
  if (type.microseconds != 1) value /= type.microseconds;
  switch (type.format[0]) {
    case 'c':
      return store_within<std::int8_t>(out, value);
    case 'C':
    case 'b':
      return store_within<std::uint8_t>(out, value);
    case 's':
      return store_within<std::int16_t>(out, value);
    case 'S':
      return store_within<std::uint16_t>(out, value);
    case 'i':
      return store_within<std::int32_t>(out, value);
    case 'I':
      return store_within<std::uint32_t>(out, value);
    case 'L':
      return store_within<std::uint64_t>(out, value);
    case 'd':
      store(out, value);
      return store(out, std::int64_t{value < 0 ? -1 : 0});
    default:
      break;
  }
  if (type.format == "tdm") return store(out, value * 86'400'000);
  if (arrow_width(type.format) == 4) return store_within<std::int32_t>(out, value);
  store(out, value);
}

void store_real(const ArrowType& type, double value, ArrowCells& out) {
  if (type.format == "f") return store(out, static_cast<float>(value));
  if (type.format == "g") return store(out, value);
  store_integer(type, std::isnan(value) ? 0 : std::llround(value), out);
}

void store_text(std::string_view text, ArrowCells& out) {
  out.values.insert(out.values.end(), text.begin(), text.end());
  out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
}

// Whole numbers of a width that every value is cut to, all at once; false for others.
bool store_integers(const ArrowType& type, const std::int64_t* values, std::size_t rows, ArrowCells& out) {
  const auto all = [&]<typename Value>(Value) {
    out.values.resize(rows * sizeof(Value));
    auto* to = out.values.data();
    for (std::size_t r = 0; r < rows; ++r, to += sizeof(Value)) {
      const auto value = static_cast<Value>(std::clamp<std::int64_t>(
          values[r], std::numeric_limits<Value>::min(), std::numeric_limits<Value>::max()));
      std::memcpy(to, &value, sizeof value);
    }
    return true;
  };
  if (type.format.size() != 1 || type.units != 1 || type.microseconds != 1) return false;
  switch (type.format[0]) {
    case 'c':
      return all(std::int8_t{});
    case 'C':
    case 'b':
      return all(std::uint8_t{});
    case 's':
      return all(std::int16_t{});
    case 'i':
      return all(std::int32_t{});
    case 'l':
      return all(std::int64_t{});
    default:
      return false;
  }
}

void store_texts(const RowCells& cells, std::size_t rows, ArrowCells& out) {
  out.offsets.resize(rows);
  std::size_t size = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (!cells.is_missing(r)) size += cells.text_at(r).size();
    out.offsets[r] = static_cast<std::int64_t>(size);
  }
  out.values.resize(size);
  char* to = out.values.data();
  for (std::size_t r = 0; r < rows; ++r) {
    if (!cells.is_missing(r)) to = std::ranges::copy(cells.text_at(r), to).out;
  }
}

void flag_missing(const RowCells& cells, std::size_t row, ArrowCells& out) {
  if (!cells.is_missing(row)) return;
  if (out.missing.empty()) out.missing.resize(static_cast<std::size_t>(out.rows));
  out.missing[row] = 1;
}

// `like` where the values of the column can be written so.
bool fits(const RowColumn& column, const ArrowType& like) {
  if (column.storage == CellStorage::kText) return like.dictionary || is_text(like);
  if (like.dictionary || is_text(like)) return false;
  if (column.storage == CellStorage::kReal) return like.format == "f" || like.format == "g";
  return like.storage == CellStorage::kInteger && like.meaning == column.meaning &&
         like.scale == column.scale;
}

// What an exported array or schema keeps until it is released.
struct Exported {
  std::string format{};
  std::string name{};
  std::vector<std::vector<char>> memory{};
  std::vector<const void*> buffers{};
  std::vector<ArrowArray> arrays{};
  std::vector<ArrowArray*> array_pointers{};
  std::vector<ArrowSchema> schemas{};
  std::vector<ArrowSchema*> schema_pointers{};
  ArrowArray dictionary{};
  ArrowSchema dictionary_schema{};
};

void release_array(ArrowArray* array) {
  for (std::int64_t i = 0; i < array->n_children; ++i) {
    if (array->children[i]->release != nullptr) array->children[i]->release(array->children[i]);
  }
  if (array->dictionary != nullptr && array->dictionary->release != nullptr)
    array->dictionary->release(array->dictionary);
  delete static_cast<Exported*>(array->private_data);
  array->release = nullptr;
}

void release_schema(ArrowSchema* schema) {
  for (std::int64_t i = 0; i < schema->n_children; ++i) {
    if (schema->children[i]->release != nullptr) schema->children[i]->release(schema->children[i]);
  }
  if (schema->dictionary != nullptr && schema->dictionary->release != nullptr)
    schema->dictionary->release(schema->dictionary);
  delete static_cast<Exported*>(schema->private_data);
  schema->release = nullptr;
}

void finish_array(std::unique_ptr<Exported> own, std::int64_t length, std::int64_t nulls, ArrowArray& out) {
  out = {};
  out.length = length;
  out.null_count = nulls;
  out.n_buffers = static_cast<std::int64_t>(own->buffers.size());
  out.buffers = own->buffers.data();
  for (ArrowArray& child : own->arrays) own->array_pointers.push_back(&child);
  out.n_children = static_cast<std::int64_t>(own->arrays.size());
  out.children = own->array_pointers.data();
  out.dictionary = own->dictionary.release != nullptr ? &own->dictionary : nullptr;
  out.release = release_array;
  out.private_data = own.release();
}

std::vector<char> bits_of(const std::vector<std::uint8_t>& flags, std::int64_t rows, bool inverted) {
  std::vector<char> bits(static_cast<std::size_t>((rows + 7) / 8));
  for (std::size_t r = 0; r < static_cast<std::size_t>(rows); ++r) {
    if ((r < flags.size() && flags[r] != 0) != inverted)
      bits[r >> 3U] = static_cast<char>(bits[r >> 3U] | 1 << (r & 7U));
  }
  return bits;
}

template <typename Offset>
std::vector<char> offsets_of(const std::vector<std::int64_t>& ends) {
  std::vector<char> out((ends.size() + 1) * sizeof(Offset));
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const auto end = static_cast<Offset>(ends[i]);
    std::memcpy(out.data() + (i + 1) * sizeof end, &end, sizeof end);
  }
  return out;
}

void add_memory(Exported& own, std::vector<char> memory) {
  // A buffer of no bytes still has an address.
  if (memory.empty()) memory.reserve(1);
  own.buffers.push_back(memory.data());
  own.memory.push_back(std::move(memory));
}

void export_cells(const std::string& format, ArrowCells cells, ArrowArray& out) {
  auto own = std::make_unique<Exported>();
  own->memory.reserve(3);
  const auto nulls = std::count(cells.missing.begin(), cells.missing.end(), 1);
  if (nulls > 0) {
    cells.missing.resize(static_cast<std::size_t>(cells.rows));
    add_memory(*own, bits_of(cells.missing, cells.rows, true));
  } else {
    own->buffers.push_back(nullptr);
  }
  if (format == "u") add_memory(*own, offsets_of<std::int32_t>(cells.offsets));
  if (format == "U") add_memory(*own, offsets_of<std::int64_t>(cells.offsets));
  if (format == "b") {
    const std::vector<std::uint8_t> flags(cells.values.begin(), cells.values.end());
    add_memory(*own, bits_of(flags, cells.rows, false));
  } else {
    add_memory(*own, std::move(cells.values));
  }
  finish_array(std::move(own), cells.rows, nulls, out);
}

void export_schema(std::string format, std::string name, std::int64_t flags, std::unique_ptr<Exported> own,
                   ArrowSchema& out) {
  out = {};
  own->format = std::move(format);
  own->name = std::move(name);
  out.format = own->format.c_str();
  out.name = own->name.c_str();
  out.flags = flags;
  for (ArrowSchema& child : own->schemas) own->schema_pointers.push_back(&child);
  out.n_children = static_cast<std::int64_t>(own->schemas.size());
  out.children = own->schema_pointers.data();
  out.dictionary = own->dictionary_schema.release != nullptr ? &own->dictionary_schema : nullptr;
  out.release = release_schema;
  out.private_data = own.release();
}

std::string out_format(const ArrowType& type) {
  if (type.dictionary) return "i";
  return type.format == "vu" ? "U" : type.format == "n" ? "u" : type.format;
}

void export_column_schema(const ArrowType& type, ArrowSchema& out) {
  auto own = std::make_unique<Exported>();
  if (type.dictionary)
    export_schema("u", "", ARROW_FLAG_NULLABLE, std::make_unique<Exported>(), own->dictionary_schema);
  const std::int64_t flags = ARROW_FLAG_NULLABLE | (type.ordered ? ARROW_FLAG_DICTIONARY_ORDERED : 0);
  export_schema(out_format(type), type.name, flags, std::move(own), out);
}

// A finished table as a stream.
struct Held {
  std::vector<ArrowType> types{};
  std::vector<ArrowArray> batches{};
  std::size_t next = 0;
  Held() = default;
  ~Held() {
    for (ArrowArray& batch : batches) {
      if (batch.release != nullptr) batch.release(&batch);
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
};

int stream_schema(ArrowArrayStream* stream, ArrowSchema* out) try {
  auto own = std::make_unique<Exported>();
  const auto& types = static_cast<Held*>(stream->private_data)->types;
  own->schemas.resize(types.size());
  for (std::size_t c = 0; c < types.size(); ++c) export_column_schema(types[c], own->schemas[c]);
  export_schema("+s", "", 0, std::move(own), *out);
  return 0;
} catch (const std::exception&) {
  return ENOMEM;
}

int stream_next(ArrowArrayStream* stream, ArrowArray* out) {
  auto* held = static_cast<Held*>(stream->private_data);
  *out = {};
  if (held->next < held->batches.size()) std::swap(*out, held->batches[held->next++]);
  return 0;
}

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<Held*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

/// Rows of all columns.
struct ArrowSink::Rows final : RowSink::Part {
  std::vector<ArrowCells> columns{};
  std::int64_t rows = 0;
  /// Of dictionaries: cells whose text is not among the column's own levels, by row.
  std::vector<std::vector<std::pair<std::int64_t, std::string>>> unknown{};
};

ArrowSink::ArrowSink(std::vector<ArrowType> like) : like_(std::move(like)) {}
ArrowSink::~ArrowSink() = default;

void ArrowSink::begin(const std::vector<RowColumn>& columns) {
  for (const RowColumn& from : columns) {
    Column column;
    column.from = from;
    column.type = arrow_type(from);
    for (const ArrowType& like : like_) {
      if (like.name == from.name && fits(from, like)) column.type = like;
    }
    if (column.type.dictionary && from.levels) {
      for (const std::string& level : *from.levels) {
        column.codes.emplace(level, static_cast<std::int32_t>(column.levels.size()));
        column.levels.push_back(level);
      }
    }
    columns_.push_back(std::move(column));
  }
}

void ArrowSink::pack_codes(const Column& column, const RowCells& cells, std::int64_t rows,
                           ArrowCells& out) const {
  out.values.resize(static_cast<std::size_t>(rows) * sizeof(std::int32_t));
  std::memcpy(out.values.data(), cells.code, out.values.size());
  static_cast<void>(column);
}

std::unique_ptr<RowSink::Part> ArrowSink::pack(const RowChunk& chunk) const {
  auto part = std::make_unique<Rows>();
  part->rows = chunk.rows();
  part->columns.resize(columns_.size());
  part->unknown.resize(columns_.size());
  const auto rows = static_cast<std::size_t>(chunk.rows());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const Column& column = columns_[c];
    const RowCells& cells = chunk.cells(c);
    ArrowCells& out = part->columns[c];
    out.rows = chunk.rows();
    if (cells.missing != nullptr) {
      for (std::size_t r = 0; r < rows; ++r) flag_missing(cells, r, out);
    }
    if (column.type.dictionary && cells.code != nullptr && cells.levels == column.from.levels.get()) {
      pack_codes(column, cells, chunk.rows(), out);
    } else if (column.type.dictionary) {
      for (std::size_t r = 0; r < rows; ++r) {
        store(out, std::int32_t{0});
        if (!cells.is_missing(r))
          part->unknown[c].emplace_back(static_cast<std::int64_t>(r), cells.text_at(r));
      }
    } else if (column.from.storage == CellStorage::kText) {
      store_texts(cells, rows, out);
    } else if (column.from.storage == CellStorage::kReal) {
      if (column.type.format == "g") {
        out.values.resize(rows * sizeof(double));
        std::memcpy(out.values.data(), cells.real, out.values.size());
        continue;
      }
      for (std::size_t r = 0; r < rows; ++r) store_real(column.type, cells.real[r], out);
    } else if (!store_integers(column.type, cells.integer, rows, out)) {
      for (std::size_t r = 0; r < rows; ++r)
        store_integer(column.type, cells.is_missing(r) ? 0 : cells.integer[r], out);
    }
  }
  return part;
}

void ArrowSink::write(std::unique_ptr<Part> written) {
  auto& part = static_cast<Rows&>(*written);
  const bool full = batches_.empty() || batches_.back()->rows + part.rows > kBatchRows ||
                    std::any_of(batches_.back()->columns.begin(), batches_.back()->columns.end(),
                                [](const ArrowCells& c) { return c.values.size() > kBatchBytes; });
  if (full) {
    batches_.push_back(std::make_unique<Rows>());
    batches_.back()->columns.resize(columns_.size());
  }
  Rows& batch = *batches_.back();
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    ArrowCells& from = part.columns[c];
    for (const auto& cell : part.unknown[c]) {
      const auto known = column.codes.emplace(cell.second, static_cast<std::int32_t>(column.levels.size()));
      if (known.second) column.levels.push_back(cell.second);
      std::memcpy(from.values.data() + static_cast<std::size_t>(cell.first) * sizeof(std::int32_t),
                  &known.first->second, sizeof(std::int32_t));
    }
    ArrowCells& to = batch.columns[c];
    if (!from.missing.empty() || !to.missing.empty()) {
      to.missing.resize(static_cast<std::size_t>(to.rows));
      from.missing.resize(static_cast<std::size_t>(from.rows));
      to.missing.insert(to.missing.end(), from.missing.begin(), from.missing.end());
    }
    const auto before = static_cast<std::int64_t>(to.values.size());
    for (const std::int64_t end : from.offsets) to.offsets.push_back(before + end);
    to.values.insert(to.values.end(), from.values.begin(), from.values.end());
    to.rows += from.rows;
  }
  batch.rows += part.rows;
}

ArrowArrayStream ArrowSink::take() {
  auto held = std::make_unique<Held>();
  for (const Column& column : columns_) held->types.push_back(column.type);
  for (const auto& batch : batches_) {
    auto own = std::make_unique<Exported>();
    own->buffers.push_back(nullptr);
    own->arrays.resize(columns_.size());
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      export_cells(out_format(columns_[c].type), std::move(batch->columns[c]), own->arrays[c]);
      if (!columns_[c].type.dictionary) continue;
      ArrowCells words;
      for (const std::string& level : columns_[c].levels) store_text(level, words);
      words.rows = static_cast<std::int64_t>(columns_[c].levels.size());
      auto* inner = static_cast<Exported*>(own->arrays[c].private_data);
      export_cells("u", std::move(words), inner->dictionary);
      own->arrays[c].dictionary = &inner->dictionary;
    }
    finish_array(std::move(own), batch->rows, 0, held->batches.emplace_back());
  }
  columns_.clear();
  batches_.clear();
  ArrowArrayStream stream{};
  stream.get_schema = stream_schema;
  stream.get_next = stream_next;
  stream.get_last_error = [](ArrowArrayStream*) -> const char* { return "out of memory"; };
  stream.release = release_stream;
  stream.private_data = held.release();
  return stream;
}

}  // namespace ppan
