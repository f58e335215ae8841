// Parquet and JSON lines as a sink, by DuckDB: a COPY on a thread of its own reads from a table function that
// hands it the rows as they come, so that no more than a few chunks are held, and row groups, compression and
// encodings are the engine's.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ppan/core/error.h"
#include "ppan/core/file.h"
#include "ppan/core/temporary.h"
#include "ppan/open/backends.h"
#include "ppan/open/duckdb_library.h"

namespace ppan {
namespace {

// Rows that wait for the engine: more than a usual row group, so that others go on while one is packed.
constexpr std::size_t kMostWaitingBytes = std::size_t{1} << 24;
constexpr std::int64_t kGroupCells = 1 << 23;  // of a row group, at most
constexpr std::size_t kMostEnumerated = 4096;  // levels, all of which every row group lists
constexpr mode_t kFileMode = 0666;

class ChunkPart final : public RowSink::Part {
 public:
  void take(const RowChunk& rows) {
    copy_rows(rows, chunk);
    bytes = 0;
    for (std::size_t c = 0; c < chunk.columns(); ++c) {
      const CellBuffer& own = chunk.buffer(c);
      bytes += own.bytes.size() + sizeof(TextCell) * own.text.size() +
               sizeof(std::int32_t) * own.code.size() + sizeof(std::int64_t) * own.integer.size() +
               sizeof(double) * own.real.size() + own.missing.size();
    }
  }
  RowChunk chunk;
  std::size_t bytes = 0;
};

// How a column is handed over: as the type that the file is to have.
struct HandedType {
  duckdb_type type = DUCKDB_TYPE_VARCHAR;
  int width = 0;  // of a decimal
};

// DECIMAL(9,2) -> 9; 0 where the words are others.
int declared_width(const RowColumn& column) {
  constexpr std::string_view kWords = "DECIMAL(";
  int width = 0;
  if (!std::string_view(column.sql_type).starts_with(kWords)) return 0;
  std::from_chars(column.sql_type.data() + kWords.size(), column.sql_type.data() + column.sql_type.size(),
                  width);
  return width;
}

// As which it is handed over: the widest that 64 bits hold where that is not known or not enough.
int decimal_width(const RowColumn& column) {
  constexpr int kWidest = 18;
  const int width = declared_width(column);
  return width >= std::max(1, column.scale) && width <= kWidest ? width : kWidest;
}

// Whether cells are handed over as codes of levels, which the engine need not collect again from the texts.
// It takes the levels as C strings.
bool is_enumerated(const RowColumn& column) {
  if (!column.levels || column.levels->empty() || column.levels->size() > kMostEnumerated) return false;
  const std::set<std::string_view> different(column.levels->begin(), column.levels->end());
  return different.size() == column.levels->size() &&
         std::none_of(different.begin(), different.end(),
                      [](std::string_view level) { return level.find('\0') != std::string_view::npos; });
}

HandedType handed_type(const RowColumn& column) {
  if (column.storage == CellStorage::kText)
    return {is_enumerated(column) ? DUCKDB_TYPE_ENUM : DUCKDB_TYPE_VARCHAR};
  if (column.storage == CellStorage::kReal)
    return {column.sql_type == "REAL" ? DUCKDB_TYPE_FLOAT : DUCKDB_TYPE_DOUBLE};
  switch (column.meaning) {
    case CellMeaning::kBoolean:
      return {DUCKDB_TYPE_BOOLEAN};
    case CellMeaning::kDecimal:
      return {DUCKDB_TYPE_DECIMAL, decimal_width(column)};
    case CellMeaning::kDate:
      return {DUCKDB_TYPE_DATE};
    case CellMeaning::kTimestamp:
      return {DUCKDB_TYPE_TIMESTAMP};
    case CellMeaning::kInstant:
      return {DUCKDB_TYPE_TIMESTAMP_TZ};
    case CellMeaning::kPlain:
      break;
  }
  if (column.sql_type == "TINYINT") return {DUCKDB_TYPE_TINYINT};
  if (column.sql_type == "SMALLINT") return {DUCKDB_TYPE_SMALLINT};
  if (column.sql_type == "INTEGER") return {DUCKDB_TYPE_INTEGER};
  return {DUCKDB_TYPE_BIGINT};
}

// Types that come as wider ones (duckdb_rows.cc): the engine casts them back.
bool is_cast(const RowColumn& column) {
  const std::string_view type = column.sql_type;
  if (type.starts_with("DECIMAL("))
    return column.storage == CellStorage::kReal || column.meaning != CellMeaning::kDecimal ||
           decimal_width(column) != declared_width(column);
  return type.starts_with("U") || type == "HUGEINT" || type.starts_with("TIMESTAMP_");
}

// Bytes of an integer in the engine's vectors.
int bytes_of(const HandedType& handed) {
  switch (handed.type) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_TINYINT:
      return 1;
    case DUCKDB_TYPE_SMALLINT:
      return 2;
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_DATE:
      return 4;
    case DUCKDB_TYPE_DECIMAL:
      return handed.width <= 4 ? 2 : handed.width <= 9 ? 4 : 8;
    default:
      return 8;
  }
}

// The greatest magnitude that a decimal holds; other types end where their bytes do.
std::int64_t most_of(const HandedType& handed) {
  std::int64_t most = 1;
  for (int i = 0; i < handed.width; ++i) most *= 10;
  return handed.type == DUCKDB_TYPE_DECIMAL ? most - 1 : std::numeric_limits<std::int64_t>::max();
}

duckdb_logical_type create_type(const DuckdbLibrary& duckdb, const RowColumn& column,
                                const HandedType& handed) {
  if (handed.type == DUCKDB_TYPE_DECIMAL)
    return duckdb.create_decimal_type(static_cast<std::uint8_t>(handed.width),
                                      static_cast<std::uint8_t>(column.scale));
  if (handed.type != DUCKDB_TYPE_ENUM) return duckdb.create_logical_type(handed.type);
  std::vector<const char*> levels;
  for (const std::string& level : *column.levels) levels.push_back(level.c_str());
  return duckdb.create_enum_type(levels.data(), levels.size());
}

// A text that stands in a vector itself: up to 12 bytes, which must be ASCII here, since nobody looks at them
// again.
std::optional<duckdb_string_t> inlined(std::string_view text) {
  duckdb_string_t out{};
  if (text.size() > sizeof out.value.inlined.inlined ||
      std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return std::nullopt;
  out.value.inlined.length = static_cast<std::uint32_t>(text.size());
  std::copy(text.begin(), text.end(), out.value.inlined.inlined);
  return out;
}

/// A column on its way to the engine.
struct HandedColumn {
  explicit HandedColumn(const RowColumn& from)
      : column(from), handed(handed_type(from)), bytes(bytes_of(handed)), most(most_of(handed)) {}
  RowColumn column;
  HandedType handed;
  int bytes;
  std::int64_t most;
};

/// Rows that wait for the engine.
class Queue {
 public:
  explicit Queue(const DuckdbLibrary& duckdb) : duckdb_(&duckdb) {}

  /// One that the engine has taken the rows from, if there is any: its memory is used again.
  std::unique_ptr<ChunkPart> spare() {
    const std::scoped_lock lock(mutex_);
    if (spares_.empty()) return std::make_unique<ChunkPart>();
    std::unique_ptr<ChunkPart> part = std::move(spares_.back());
    spares_.pop_back();
    return part;
  }
  /// False when the engine has ended already.
  bool push(std::unique_ptr<ChunkPart> part) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ended_ || waiting_.empty() || waiting_bytes_ < kMostWaitingBytes; });
    if (ended_) return false;
    waiting_bytes_ += part->bytes;
    waiting_.push_back(std::move(part));
    changed_.notify_all();
    return true;
  }
  void close(bool whole) {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
    abandoned_ = !whole;
    changed_.notify_all();
  }
  void end(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    ended_ = true;
    if (!failure_) failure_ = std::move(failure);
    changed_.notify_all();
  }
  /// Rows that cannot be handed over: this is what went wrong, whatever the engine makes of it.
  void refuse(std::exception_ptr failure) {
    const std::scoped_lock lock(mutex_);
    failure_ = std::move(failure);
  }
  [[nodiscard]] std::exception_ptr failure() {
    const std::scoped_lock lock(mutex_);
    return failure_;
  }

  /// The engine asks for the next rows; none: there are no more.
  void give(duckdb_function_info info, duckdb_data_chunk output) {
    const auto most = static_cast<std::size_t>(duckdb_->vector_size());
    if (part_ == nullptr || used_ == static_cast<std::size_t>(part_->chunk.rows())) {
      std::unique_lock lock(mutex_);
      if (part_ != nullptr) spares_.push_back(std::move(part_));
      changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (abandoned_) {
        duckdb_->function_set_error(info, "the rows ended before their time");
        return;
      }
      if (waiting_.empty()) {
        duckdb_->data_chunk_set_size(output, 0);
        return;
      }
      part_ = std::move(waiting_.front());
      waiting_.pop_front();
      waiting_bytes_ -= part_->bytes;
      changed_.notify_all();
      used_ = 0;
    }
    const RowChunk& chunk = part_->chunk;
    const std::size_t rows = std::min(most, static_cast<std::size_t>(chunk.rows()) - used_);
    for (std::size_t c = 0; c < columns.size(); ++c)
      fill(columns[c], chunk.cells(c), rows, duckdb_->data_chunk_get_vector(output, c));
    duckdb_->data_chunk_set_size(output, rows);
    used_ += rows;
  }

  std::vector<HandedColumn> columns;

 private:
  void fill(const HandedColumn& column, const RowCells& cells, std::size_t rows, duckdb_vector vector) {
    if (cells.missing != nullptr) {
      duckdb_->vector_ensure_validity_writable(vector);
      std::uint64_t* const validity = duckdb_->vector_get_validity(vector);
      for (std::size_t r = 0; r < rows; ++r) {
        if (cells.missing[used_ + r] != 0) validity[r / 64] &= ~(std::uint64_t{1} << (r % 64));
      }
    }
    void* const data = duckdb_->vector_get_data(vector);
    if (column.handed.type == DUCKDB_TYPE_ENUM) {
      fill_codes(column, cells, rows, data);
    } else if (column.column.storage == CellStorage::kText) {
      fill_texts(cells, rows, vector, static_cast<duckdb_string_t*>(data));
    } else if (column.column.storage == CellStorage::kInteger) {
      fill_integers(column, cells, rows, data);
    } else if (column.handed.type == DUCKDB_TYPE_FLOAT) {
      std::transform(cells.real + used_, cells.real + used_ + rows, static_cast<float*>(data),
                     [](double x) { return static_cast<float>(x); });
    } else {
      std::copy_n(cells.real + used_, rows, static_cast<double*>(data));
    }
  }

  void fill_codes(const HandedColumn& column, const RowCells& cells, std::size_t rows, void* data) const {
    const auto narrow = [&]<typename To>(To* to) {
      std::transform(cells.code + used_, cells.code + used_ + rows, to,
                     [](std::int32_t code) { return static_cast<To>(code); });
    };
    if (column.column.levels->size() <= std::numeric_limits<std::uint8_t>::max()) {
      narrow(static_cast<std::uint8_t*>(data));
    } else {
      narrow(static_cast<std::uint16_t*>(data));
    }
  }

  void fill_texts(const RowCells& cells, std::size_t rows, duckdb_vector vector, duckdb_string_t* data) {
    for (std::size_t r = 0; r < rows; ++r) {
      if (cells.is_missing(used_ + r)) continue;
      const std::string_view text = cells.text_at(used_ + r);
      if (const auto own = inlined(text)) {
        data[r] = *own;
      } else {
        duckdb_->vector_assign_string_element_len(vector, r, text.data(), text.size());
      }
    }
  }

  void fill_integers(const HandedColumn& column, const RowCells& cells, std::size_t rows, void* data) {
    const std::int64_t* const from = cells.integer + used_;
    const auto narrow = [&]<typename To>(To* to) {
      std::int64_t outside = 0;
      for (std::size_t r = 0; r < rows; ++r) {
        to[r] = static_cast<To>(from[r]);
        const bool fits = to[r] == from[r] && from[r] <= column.most && from[r] >= -column.most;
        outside |= fits || cells.is_missing(used_ + r) ? 0 : 1;
      }
      if (outside != 0)
        throw Error(ErrorCode::kBadInput, fmt::format("a released value of column \"{}\" does not fit in {}",
                                                      column.column.name, column.column.sql_type));
    };
    switch (column.bytes) {
      case 1:
        narrow(static_cast<std::int8_t*>(data));
        break;
      case 2:
        narrow(static_cast<std::int16_t*>(data));
        break;
      case 4:
        narrow(static_cast<std::int32_t*>(data));
        break;
      default:
        narrow(static_cast<std::int64_t*>(data));
    }
  }

  const DuckdbLibrary* duckdb_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<ChunkPart>> waiting_;
  std::size_t waiting_bytes_ = 0;
  std::vector<std::unique_ptr<ChunkPart>> spares_;
  bool closed_ = false;
  bool abandoned_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  // Of the engine's thread.
  std::unique_ptr<ChunkPart> part_;
  std::size_t used_ = 0;
};

void bind_rows(duckdb_bind_info info) {
  const DuckdbLibrary& duckdb = duckdb_library();
  const auto& queue = *static_cast<const Queue*>(duckdb.bind_get_extra_info(info));
  for (const HandedColumn& handed : queue.columns) {
    duckdb_logical_type type = create_type(duckdb, handed.column, handed.handed);
    duckdb.bind_add_result_column(info, handed.column.name.c_str(), type);
    duckdb.destroy_logical_type(&type);
  }
}

void init_rows(duckdb_init_info info) {
  duckdb_library().init_set_max_threads(info, 1);  // in order
}

void give_rows(duckdb_function_info info, duckdb_data_chunk output) {
  auto& queue = *static_cast<Queue*>(duckdb_library().function_get_extra_info(info));
  try {
    queue.give(info, output);
  } catch (const std::exception& error) {
    queue.refuse(std::current_exception());
    duckdb_library().function_set_error(info, error.what());
  }
}

class DuckdbSink final : public RowSink {
 public:
  DuckdbSink(const Address& address, const CreateOptions& options)
      : name_(address.shown),
        json_(address.kind == AddressKind::kJson),
        packed_(address.place.ends_with(".gz")),
        duckdb_(&duckdb_library()),
        session_(1),
        queue_(*duckdb_) {
    if (!json_) find_group_rows(options.input);
    try {
      target_ = follow_links(address.place);
      std::filesystem::path directory = target_.parent_path();
      if (directory.empty()) directory = ".";
      temporary_ = std::make_unique<Temporary>(directory, Temporary::Kind::kFile, kFileMode);
    } catch (const std::system_error& error) {
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, error.code().message()));
    }
  }
  DuckdbSink(const DuckdbSink&) = delete;
  DuckdbSink& operator=(const DuckdbSink&) = delete;
  ~DuckdbSink() override {
    queue_.close(false);
    if (engine_.joinable()) engine_.join();
  }

  void begin(const std::vector<RowColumn>& columns) override {
    for (const RowColumn& column : columns) queue_.columns.emplace_back(column);
    duckdb_table_function function = duckdb_->create_table_function();
    duckdb_->table_function_set_name(function, "ppan_rows");
    duckdb_->table_function_set_extra_info(function, &queue_, nullptr);
    duckdb_->table_function_set_bind(function, bind_rows);
    duckdb_->table_function_set_init(function, init_rows);
    duckdb_->table_function_set_function(function, give_rows);
    const bool done = duckdb_->register_table_function(session_.connection(), function) == DuckDBSuccess;
    duckdb_->destroy_table_function(&function);
    if (!done) throw Error(ErrorCode::kInternal, "DuckDB takes no function");
    std::string list;
    for (const RowColumn& column : columns) {
      const std::string name = duckdb_quoted(column.name, '"');
      list += fmt::format("{}{}", list.empty() ? "" : ", ", name);
      if (is_cast(column)) list += fmt::format("::{} as {}", column.sql_type, name);
    }
    const std::string sql = fmt::format(
        "copy (select {} from ppan_rows()) to {} ({}, use_tmp_file false)", list,
        duckdb_quoted(temporary_->path().string(), '\''),
        json_
            ? fmt::format("format json, compression {}", packed_ ? "gzip" : "none")
            : fmt::format("format parquet, compression zstd, row_group_size {}", group_rows(columns.size())));
    engine_ = std::thread([this, sql] {
      std::exception_ptr failure;
      try {
        session_.run(sql, name_);
      } catch (...) {
        failure = std::current_exception();
      }
      queue_.end(failure);
    });
  }

  [[nodiscard]] std::unique_ptr<Part> pack(const RowChunk& rows) const override {
    std::unique_ptr<ChunkPart> part = queue_.spare();
    part->take(rows);
    return part;
  }

  void write(std::unique_ptr<Part> part) override {
    std::unique_ptr<ChunkPart> own(static_cast<ChunkPart*>(part.release()));  // as pack() made it
    if (own->chunk.rows() == 0 || queue_.push(std::move(own))) return;
    if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
    throw Error(ErrorCode::kInternal, "DuckDB stopped before the end of the rows");
  }

  void finish() override {
    queue_.close(true);
    if (engine_.joinable()) engine_.join();
    if (const std::exception_ptr failure = queue_.failure()) std::rethrow_exception(failure);
    if (const int error = temporary_->replace(target_.filename().string()); error != 0)
      throw Error(ErrorCode::kIo, fmt::format("cannot write {}: {}", name_, std::strerror(error)));
  }

 private:
  // Row groups are those of the Parquet that is read.
  void find_group_rows(const std::string& input) {
    if (input.empty()) return;
    const Address address = parse_address(input);
    if (address.kind != AddressKind::kParquet) return;
    const auto found = session_.number(fmt::format(
        "select max(row_group_num_rows)::bigint from parquet_metadata({})", duckdb_files(address)));
    if (found && *found > 0) group_rows_ = *found;
  }
  // The engine holds a row group until it is written, so one of many columns has fewer rows.
  [[nodiscard]] std::int64_t group_rows(std::size_t columns) const {
    const auto vector = static_cast<std::int64_t>(duckdb_->vector_size());
    const std::int64_t most = kGroupCells / static_cast<std::int64_t>(std::max<std::size_t>(columns, 1));
    const std::int64_t rows = std::min(group_rows_, most);
    return std::max(vector, (rows + vector - 1) / vector * vector);
  }

  std::string name_;
  bool json_;
  bool packed_;
  const DuckdbLibrary* duckdb_;
  DuckdbSession session_;
  std::int64_t group_rows_ = 122'880;  // DuckDB's own
  mutable Queue queue_;                // whose spare parts pack() takes
  std::filesystem::path target_;
  std::unique_ptr<Temporary> temporary_;
  std::thread engine_;
};

}  // namespace

std::unique_ptr<RowSink> create_duckdb(const Address& address, const CreateOptions& options) {
  return std::make_unique<DuckdbSink>(address, options);
}

}  // namespace ppan
